// MinIO on a free port of this machine, with an empty bucket `lake`. It checks signatures, session tokens and policies.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../../scripts/support/free-ports.mjs';
import { minioProgram } from '../../../scripts/support/peer-environment.mjs';
import { host, isAnswering, startServer } from './server-process.mjs';

const accessKeyId = 'minio-root';
const secretAccessKey = 'minio-root-secret';

/** Answers where it listens and as whom, and `stop()`. Its data and its log lie in `folder`. */
export async function startMinio(folder) {
  const program = await minioProgram();
  mkdirSync(path.join(folder, 'data', 'lake'), { recursive: true });
  const address = `${host}:${await freePort()}`;
  const { stop } = await startServer({
    name: 'MinIO',
    command: program,
    args: [
      'server',
      '--certs-dir',
      path.join(folder, 'certs'),
      '--address',
      address,
      path.join(folder, 'data'),
    ],
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      MINIO_ROOT_USER: accessKeyId,
      MINIO_ROOT_PASSWORD: secretAccessKey,
      MINIO_REGION: 'us-east-1',
      MINIO_BROWSER: 'off',
      MINIO_UPDATE: 'off',
      MINIO_CI_CD: '1', // The disk of the system is good enough.
    },
    log: path.join(folder, 'minio.log'),
    isReady: () => isAnswering(`http://${address}/minio/health/live`),
  });
  return { endpoint: `http://${address}`, accessKeyId, secretAccessKey, bucket: 'lake', stop };
}
