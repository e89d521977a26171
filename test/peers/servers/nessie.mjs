// Nessie on a free port of this machine, its versions in memory: a REST catalog whose users sign in, with branches.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { javaFrom } from '../../../scripts/support/find-java.mjs';
import { freeNeighbours } from '../../../scripts/support/free-ports.mjs';
import { nessieJar } from '../../../scripts/support/peer-environment.mjs';
import { host, isAnswering, startServer } from './server-process.mjs';

const minJavaVersion = 21;
const readyTimeoutMs = 180_000;

/**
 * `storage` as `startMinio` answers it; `issuer` is the OpenID provider whose access tokens it takes. Answers `{ url, stop() }`: the
 * REST catalog is at `/iceberg`, that of a branch at `/iceberg/{branch}`, and Nessie's own API at `/api/v2`. It gives out
 * credentials for one table at a time.
 */
export async function startNessie(folder, { storage, issuer }) {
  const java = javaFrom(minJavaVersion);
  const jar = await nessieJar();
  mkdirSync(folder, { recursive: true });
  const [port, managementPort] = await freeNeighbours(2);
  const url = `http://${host}:${port}`;
  const s3 = 'nessie.catalog.service.s3.default-options';
  const settings = {
    'quarkus.http.host': host,
    'quarkus.http.port': port,
    'quarkus.management.host': host,
    'quarkus.management.port': managementPort,
    'quarkus.otel.sdk.disabled': true,
    'quarkus.oidc.auth-server-url': issuer,
    'quarkus.oidc.client-id': 'nessie',
    'nessie.server.authentication.enabled': true,
    'nessie.version.store.type': 'IN_MEMORY',
    'nessie.catalog.default-warehouse': 'warehouse',
    'nessie.catalog.warehouses.warehouse.location': `s3://${storage.bucket}/nessie`,
    [`${s3}.region`]: 'us-east-1',
    [`${s3}.endpoint`]: storage.endpoint,
    [`${s3}.path-style-access`]: true,
    [`${s3}.access-key`]: 'urn:nessie-secret:quarkus:storage',
    'storage.name': storage.accessKeyId,
    'storage.secret': storage.secretAccessKey,
    [`${s3}.sts-endpoint`]: storage.endpoint,
    [`${s3}.client-iam.enabled`]: true,
    [`${s3}.client-iam.assume-role`]: 'arn:aws:iam::123456789012:role/peer',
    [`${s3}.client-iam.session-duration`]: 'PT1H',
  };
  const { kill } = await startServer({
    name: 'Nessie',
    command: java,
    args: [
      ...[
        '-Xmx512m',
        '-XX:+UseSerialGC',
        '-XX:TieredStopAtLevel=1',
        '-XX:-UsePerfData',
        `-Djava.io.tmpdir=${folder}`,
      ],
      ...Object.entries(settings).map(([key, value]) => `-D${key}=${value}`),
      ...['-jar', jar],
    ],
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    log: path.join(folder, 'nessie.log'),
    isReady: () => isAnswering(`http://${host}:${managementPort}/q/health/ready`),
    readyTimeoutMs,
  });
  // It keeps nothing: nothing is lost by ending it at once.
  return { url, stop: kill };
}
