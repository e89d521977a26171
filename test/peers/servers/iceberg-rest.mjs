// Iceberg's own REST catalog fixture on a free port of this machine, over a database file and a MinIO that runs already. It
// gives out credentials for one table at a time (PeerRestServer.java).
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../../scripts/support/free-ports.mjs';
import { mavenJars, mustRun } from '../../../scripts/support/peer-environment.mjs';
import { host, isAnswering, startServer } from './server-process.mjs';

const here = path.join(import.meta.dirname, 'iceberg-rest');

/**
 * `storage` as `startMinio` answers it. Credentials live for 15 minutes, and are said to live for `announcedSeconds`. Answers
 * `{ url, stop(), compile(folder) }`: the last one makes programs of the Java sources in a folder, which run with the library
 * that the server has, and answers their class path.
 */
export async function startIcebergRest(folder, storage, { announcedSeconds = 900 } = {}) {
  const jars = await mavenJars('iceberg-rest', path.join(here, 'pom.xml'), path.join(here, 'jars.sha256'));
  const classes = path.join(folder, 'classes');
  mkdirSync(classes, { recursive: true });
  const classPath = `${classes}:${jars}/*`;
  const compile = async (sources) => {
    const programs = readdirSync(sources).filter((name) => name.endsWith('.java'));
    await mustRun('javac', [
      ...['-proc:none', '-nowarn', '--release', '17', '-cp', `${jars}/*`, '-d', classes],
      ...programs.map((name) => path.join(sources, name)),
    ]);
    return classPath;
  };
  await compile(here);
  const port = await freePort();
  const url = `http://${host}:${port}`;
  const { stop } = await startServer({
    name: 'the Iceberg REST catalog',
    command: 'java',
    args: [
      ...['-Xmx384m', '-XX:+UseSerialGC', '-XX:-UsePerfData', `-Djava.io.tmpdir=${folder}`],
      ...['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', classPath],
      'org.apache.iceberg.rest.PeerRestServer',
    ],
    cwd: folder,
    // The fixture's convention: CATALOG_X__Y_Z is the catalog's property x-y.z.
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      AWS_REGION: 'us-east-1',
      CATALOG_REST_PORT: String(port),
      CATALOG_VEND_STS__ENDPOINT: storage.endpoint,
      CATALOG_VEND_ANNOUNCED__SECONDS: String(announcedSeconds),
      CATALOG_INCLUDE__CREDENTIALS: 'false',
      CATALOG_CATALOG__IMPL: 'org.apache.iceberg.jdbc.JdbcCatalog',
      CATALOG_URI: `jdbc:sqlite:${path.join(folder, 'catalog.sqlite')}`,
      CATALOG_JDBC_USER: 'u',
      CATALOG_JDBC_PASSWORD: 'p',
      CATALOG_JDBC_SCHEMA__VERSION: 'V1',
      CATALOG_WAREHOUSE: `s3://${storage.bucket}/irc`,
      CATALOG_IO__IMPL: 'org.apache.iceberg.aws.s3.S3FileIO',
      CATALOG_S3_ENDPOINT: storage.endpoint,
      CATALOG_S3_PATH__STYLE__ACCESS: 'true',
      CATALOG_CLIENT_REGION: 'us-east-1',
      CATALOG_S3_ACCESS__KEY__ID: storage.accessKeyId,
      CATALOG_S3_SECRET__ACCESS__KEY: storage.secretAccessKey,
    },
    log: path.join(folder, 'iceberg-rest.log'),
    isReady: () => isAnswering(`${url}/v1/config`),
  });
  return { url, stop, compile };
}
