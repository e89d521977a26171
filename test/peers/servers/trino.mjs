// Trino on a free port of this machine, whose only catalog `lake`, as the service calls its own, is an Iceberg REST catalog.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { javaFrom } from '../../../scripts/support/find-java.mjs';
import { freePort } from '../../../scripts/support/free-ports.mjs';
import { trinoFolder } from '../../../scripts/support/peer-environment.mjs';
import { host, startServer } from './server-process.mjs';

const minJavaVersion = 24;
const readyTimeoutMs = 180_000;

/**
 * `storage` as `startMinio` answers it. Answers `{ query(sql), stop() }`: a statement's rows, or its error. It has a heap of
 * 1 GB and keeps two cores busy while it writes: stop it as soon as its tables are written.
 */
export async function startTrino(folder, { catalogUrl, storage }) {
  const java = javaFrom(minJavaVersion);
  const installation = await trinoFolder();
  const port = await freePort();
  const url = `http://${host}:${port}`;
  const catalogs = path.join(folder, 'catalog');
  mkdirSync(catalogs, { recursive: true });
  const config = writeProperties(path.join(folder, 'config.properties'), {
    coordinator: true,
    'node-scheduler.include-coordinator': true,
    'http-server.http.port': port,
    'discovery.uri': url,
    'catalog.management': 'static',
  });
  const levels = writeProperties(path.join(folder, 'log.properties'), { 'io.trino': 'WARN' });
  writeProperties(path.join(catalogs, 'lake.properties'), {
    'connector.name': 'iceberg',
    'iceberg.catalog.type': 'rest',
    'iceberg.rest-catalog.uri': catalogUrl,
    'iceberg.rest-catalog.vended-credentials-enabled': true,
    'fs.native-s3.enabled': true,
    's3.endpoint': storage.endpoint,
    's3.region': 'us-east-1',
    's3.path-style-access': true,
  });
  const query = (sql) => answerOf(url, sql);
  const { kill } = await startServer({
    name: 'Trino',
    command: java,
    args: [
      ...[
        '-Xmx1g',
        '-XX:+UseSerialGC',
        '-XX:TieredStopAtLevel=1',
        '-XX:-UsePerfData',
        '-XX:+ExitOnOutOfMemoryError',
      ],
      ...['-Djdk.attach.allowAttachSelf=true', '-Dfile.encoding=UTF-8', `-Djava.io.tmpdir=${folder}`],
      ...['--add-modules=jdk.incubator.vector', '--enable-native-access=ALL-UNNAMED'],
      ...[`-Dconfig=${config}`, `-Dcatalog.config-dir=${catalogs}`, `-Dlog.levels-file=${levels}`],
      ...[
        `-Dplugin.dir=${path.join(installation, 'plugin')}`,
        `-Dnode.data-dir=${path.join(folder, 'data')}`,
      ],
      ...['-Dnode.environment=test', '-Dnode.id=node1'],
      ...[`-Dnode.internal-address=${host}`, `-Dnode.bind-ip=${host}`],
      ...['-cp', `${path.join(installation, 'lib')}/*`, 'io.trino.server.TrinoServer'],
    ],
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    log: path.join(folder, 'trino.log'),
    // It says that it has started seconds before it has a node for a statement.
    isReady: () => query('SELECT count(*) FROM TABLE(sequence(1, 2))').then(Boolean, () => false),
    readyTimeoutMs,
  });
  // Its tables are in the catalog: nothing is lost by ending it at once.
  return { query, stop: kill };
}

function writeProperties(file, properties) {
  const lines = Object.entries(properties).map(([key, value]) => `${key}=${value}\n`);
  writeFileSync(file, lines.join(''));
  return file;
}

/** By its statement protocol: each answer names where the next one is. */
async function answerOf(url, sql) {
  const rows = [];
  let answer = await jsonOf(`${url}/v1/statement`, {
    method: 'POST',
    headers: { 'x-trino-user': 'peer', 'x-trino-catalog': 'lake' },
    body: sql,
  });
  for (;;) {
    if (answer.error !== undefined) throw new Error(`${answer.error.message}, of: ${sql}`);
    rows.push(...(answer.data ?? []));
    if (answer.nextUri === undefined) return rows;
    answer = await jsonOf(answer.nextUri, {});
  }
}

async function jsonOf(url, options) {
  const response = await fetch(url, options);
  const text = await response.text();
  if (!response.ok) throw new Error(`Trino answers ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}
