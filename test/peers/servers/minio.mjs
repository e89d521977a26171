// MinIO on a free port of this machine, with an empty bucket `lake`. It checks signatures, session tokens and policies.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { minioProgram } from '../../../scripts/support/peer-environment.mjs';
import { endGroupWithUs, killGroup } from '../../../scripts/support/run-command.mjs';

const host = '127.0.0.1';
const accessKeyId = 'minio-root';
const secretAccessKey = 'minio-root-secret';
const readyTimeoutMs = 60_000;
const stopTimeoutMs = 10_000;
const pollMs = 50;

/** Answers where it listens and as whom, and `stop()`. Its data and its log lie in `folder`. */
export async function startMinio(folder) {
  const program = await minioProgram();
  mkdirSync(path.join(folder, 'data', 'lake'), { recursive: true });
  const address = `${host}:${await freePort()}`;
  const log = path.join(folder, 'minio.log');
  const output = openSync(log, 'w');
  const child = spawn(
    program,
    ['server', '--certs-dir', path.join(folder, 'certs'), '--address', address, path.join(folder, 'data')],
    {
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
      detached: true,
      stdio: ['ignore', output, output],
    },
  );
  closeSync(output);
  const forget = endGroupWithUs(child);
  const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  const stop = async () => {
    killGroup(child, 'SIGTERM');
    await Promise.race([ended, later(stopTimeoutMs)]);
    killGroup(child, 'SIGKILL');
    forget();
  };
  try {
    await ready(child, `http://${address}/minio/health/live`);
  } catch (error) {
    await stop();
    throw new Error(`${error.message}\n${readFileSync(log, 'utf8').slice(-2000)}`);
  }
  return { endpoint: `http://${address}`, accessKeyId, secretAccessKey, bucket: 'lake', stop };
}

async function ready(child, url) {
  const deadline = Date.now() + readyTimeoutMs;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('MinIO ended while starting.');
    const response = await fetch(url).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return;
    await later(pollMs);
  }
  throw new Error(`MinIO was not ready after ${readyTimeoutMs / 1000} s.`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, host, () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function later(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
