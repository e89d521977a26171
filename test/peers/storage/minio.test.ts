/** The S3 store against MinIO, which checks signatures, session tokens and policies. Run by `npm run test:peers -- s3`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createMetrics } from '@svc/base';
import {
  createMetadataFiles,
  createS3Store,
  type LoadedTable,
  type ObjectStore,
  planScan,
  type S3Credentials,
  type S3StoreOptions,
  stageScan,
} from '@svc/lake';
import { runSvc } from '../../cli/support/svc.js';
import { withEngine } from '../../lake/engine-scope.js';

const run = promisify(execFile);
const { SVC_TEST_S3 = '{}' } = process.env;
const server: {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly bucket: string;
  readonly python: string;
  readonly peersFolder: string;
} = JSON.parse(SVC_TEST_S3);
const root: S3Credentials = server;
const bucket = `s3://${server.bucket}`;
const MiB = 1024 * 1024;

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-s3-'));
});
after(() => rm(folder, { recursive: true, force: true }));

function storeOf(credentials: S3Credentials, options: Partial<S3StoreOptions> = {}): ObjectStore {
  const { endpoint } = server;
  return createS3Store({
    endpoint,
    access: { kind: 'provider', provide: async () => credentials },
    ...options,
  });
}

const store = storeOf(root);

test('objects of every name are written, found, listed, read and deleted', async () => {
  const names = ['plain', 'a b+c&d', '%41', 'x?y#z', 'ü€😀', 'quote"\'<>', 'a=b,c;d@e', '~tilde!*()'];
  for (const name of names) {
    const location = `${bucket}/names/${name}`;
    const info = await store.write(location, Buffer.from(name));
    assert.deepEqual(await store.head(location), info);
    assert.equal(Buffer.from(await store.read(location, { version: info.version })).toString(), name);
  }
  const listed = await store.list(`${bucket}/names`);
  assert.deepEqual(listed.map(({ name }) => name).sort(), [...names].sort());
  for (const name of names) await store.delete(`${bucket}/names/${name}`);
  assert.deepEqual(await store.list(`${bucket}/names`), []);
});

test('more names than fit on a page are listed', async () => {
  const names = Array.from({ length: 1100 }, (_, index) => `n${String(index).padStart(4, '0')}`);
  await Promise.all(names.map((name) => store.write(`${bucket}/many/${name}`, Buffer.alloc(1))));
  const listed = await store.list(`${bucket}/many/`);
  assert.deepEqual(
    listed.map(({ name }) => name),
    names,
  );
});

test('of many writers that want the object to be absent exactly one succeeds', async () => {
  const writes = Array.from({ length: 10 }, (_, index) =>
    store.write(`${bucket}/commit/v1`, Buffer.from(`${index}`), { ifAbsent: true }),
  );
  const results = await Promise.allSettled(writes);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const result of results)
    if (result.status === 'rejected') assert.equal(result.reason.code, 'COMMIT_CONFLICT');
});

test('a large file is moved in in parts, read back by ranges, and not moved over', async () => {
  const bytes = Buffer.alloc(50 * MiB + 7, 'large file ');
  const [file, location] = [join(folder, 'large'), `${bucket}/large`];
  await writeFile(file, bytes);
  await store.moveIn(location, file);
  await assert.rejects(stat(file), { code: 'ENOENT' });
  const { sizeBytes, version } = await store.head(location);
  assert.equal(sizeBytes, bytes.length);
  const [read] = await store.readRanges(location, [{ start: 5, end: bytes.length }], { version });
  assert.ok(bytes.subarray(5).equals(Buffer.from(read ?? [])));
  await writeFile(file, bytes);
  await assert.rejects(store.moveIn(location, file), { code: 'COMMIT_CONFLICT' });
});

test('an object that is replaced is not read as if it were the same', async () => {
  const { location, version } = await store.write(`${bucket}/replaced`, Buffer.alloc(100, 1));
  await store.write(location, Buffer.alloc(100, 2));
  await assert.rejects(store.readRanges(location, [{ start: 0, end: 9 }], { version }), {
    code: 'STORAGE_ERROR',
  });
});

test('what is wrong with credentials is told apart from what is missing', async () => {
  const location = `${bucket}/secret`;
  await store.write(location, Buffer.alloc(1));
  const failures: readonly [Partial<S3Credentials>, RegExp][] = [
    [{ accessKeyId: 'nobody' }, /access key is not known/],
    [{ secretAccessKey: 'wrong-secret' }, /secret key does not fit/],
    [{ sessionToken: 'made-up' }, /session token is not valid/],
  ];
  for (const [change, message] of failures)
    for (const call of ['head', 'read', 'list'] as const)
      await assert.rejects(storeOf({ ...root, ...change })[call](location), {
        code: 'STORAGE_ACCESS_DENIED',
        message,
      });
  const anonymous = createS3Store({ endpoint: server.endpoint, access: { kind: 'anonymous' } });
  await assert.rejects(anonymous.head(location), { code: 'STORAGE_ACCESS_DENIED' });
  await assert.rejects(store.head(`${bucket}/none`), { code: 'DATA_FILE_MISSING' });
  await assert.rejects(store.read('s3://no-such-bucket/none'), {
    code: 'DATA_FILE_MISSING',
    message: /bucket/,
  });
});

test('a session for one prefix reads there and nowhere else', async () => {
  for (const place of ['mine', 'other']) await store.write(`${bucket}/${place}/a`, Buffer.from(place));
  const session = storeOf(await sessionFor('mine'));
  assert.equal(Buffer.from(await session.read(`${bucket}/mine/a`)).toString(), 'mine');
  for (const denied of [
    () => session.read(`${bucket}/other/a`),
    () => session.write(`${bucket}/mine/b`, Buffer.alloc(1)),
    () => session.delete(`${bucket}/mine/a`),
  ])
    await assert.rejects(denied(), { code: 'STORAGE_ACCESS_DENIED', message: /AccessDenied/ });
});

test('a table that pyiceberg wrote is pruned, staged and read equal, with credentials that change on the way', async () => {
  const script = join(server.peersFolder, 'storage', 'write_s3_table.py');
  const { stdout } = await run(server.python, [script, folder, JSON.stringify(server)]);
  const written = JSON.parse(stdout);
  let given = 0;
  const provide = async (): Promise<S3Credentials> => {
    given += 1;
    return { ...(await sessionFor('warehouse')), expiresAt: new Date() };
  };
  const metrics = createMetrics();
  const vended = storeOf(root, { access: { kind: 'provider', provide }, metrics });
  await withEngine(async (scope) => {
    const manifests = createMetadataFiles(1 << 24);
    const table: LoadedTable = {
      identifier: { namespace: ['s'], name: 't' },
      metadata: await manifests.tableMetadata(vended, written.metadataLocation),
      metadataLocation: written.metadataLocation,
      store: vended,
    };
    const { low, high } = written;
    const filters = [compare('>=', low), compare('<', high)];
    const scan = await planScan(
      table,
      { kind: 'current' },
      { columns: [['id'], ['name']], filters },
      { tableName: 's3.s.t', manifests, footers: scope.footers },
    );
    assert.deepEqual(
      [
        scan.counts.filesTotal,
        scan.counts.filesPlanned,
        scan.counts.rowGroupsTotal,
        scan.counts.rowGroupsPlanned,
      ],
      [4, 1, 5, 1],
    );
    // Credentials are used for a second, however soon they end.
    await delay(1100);
    const before = await counted(metrics);
    const staged = await stageScan(scan, { ...scope, store: vended, directory: scope.lease.inputDirectory });
    const after = await counted(metrics);
    assert.equal(
      after.requests - before.requests,
      1,
      'the neighbouring chunks of both columns by one request',
    );
    assert.equal(after.bytes - before.bytes, staged.bytesFetched);
    assert.ok(staged.bytesFetched <= 1.1 * scan.counts.bytesPlanned, 'hardly more than the chunks');
    const [path] = staged.groups.flatMap(({ paths }) => paths);
    const answer = await scope.text(
      `SELECT (count(*), sum(id), sum(length(name)))::VARCHAR FROM read_parquet('${path}') WHERE id >= ${low} AND id < ${high}`,
    );
    assert.equal(answer, `(${written.count}, ${written.ids}, ${written.characters})`);
  });
  assert.ok(given >= 2, `credentials were asked for ${given} times`);
});

const compare = (operator: '>=' | '<', value: number) =>
  ({
    kind: 'compare',
    column: ['id'],
    operator,
    literal: { type: 'BIGINT', value: BigInt(value) },
  }) as const;

async function counted(metrics: ReturnType<typeof createMetrics>) {
  const text = await metrics.text();
  const sum = (pattern: RegExp) =>
    [...text.matchAll(pattern)].reduce((total, match) => total + Number(match[1]), 0);
  return {
    requests: sum(/^svc_s3_requests_total\{operation="GetObject".*\} (\d+)$/gm),
    bytes: sum(/^svc_s3_bytes_read_total (\d+)$/gm),
  };
}

/** Credentials of STS that may only read below a prefix. */
async function sessionFor(prefix: string): Promise<S3Credentials> {
  const statement = (Action: string, Resource: string) => ({
    Effect: 'Allow',
    Action: [Action],
    Resource: [`arn:aws:s3:::${server.bucket}${Resource}`],
  });
  const policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [statement('s3:GetObject', `/${prefix}/*`)],
  });
  const form = { Action: 'AssumeRole', Version: '2011-06-15', DurationSeconds: '900', Policy: policy };
  const { stdout } = await run('curl', [
    ...['--silent', '--fail', '--noproxy', '*', '--aws-sigv4', 'aws:amz:us-east-1:sts'],
    ...['--user', `${server.accessKeyId}:${server.secretAccessKey}`],
    ...Object.entries(form).flatMap(([name, value]) => ['--data-urlencode', `${name}=${value}`]),
    server.endpoint,
  ]);
  const value = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(stdout)?.[1] ?? '';
  return {
    accessKeyId: value('AccessKeyId'),
    secretAccessKey: value('SecretAccessKey'),
    sessionToken: value('SessionToken'),
  };
}

test('svc sql reads files, patterns and Delta tables of a bucket, and shows nobody its keys', async () => {
  const make = async (path: string, sql: string) => {
    const args = ['--format', 'parquet', '-o', path, '-c', sql];
    assert.equal((await runSvc(['sql', ...args], { cwd: folder, env })).stderr, '');
  };
  const env = {
    SVC_SAMPLES__ENABLED: 'false',
    SVC_STORAGE__S3_ENDPOINT: server.endpoint,
    SVC_STORAGE__S3_ACCESS_KEY: root.accessKeyId,
    SVC_STORAGE__S3_SECRET_KEY: root.secretAccessKey,
  };
  const csv = async (sql: string, more: Readonly<Record<string, string>> = {}) => {
    const args = ['--format', 'csv', '-c', sql];
    const { stdout, stderr } = await runSvc(['sql', ...args], { cwd: folder, env: { ...env, ...more } });
    return stdout === '' ? stderr : stdout.trimEnd().split('\r\n').slice(1).join(' ');
  };
  for (const year of [2023, 2024]) {
    await make(`${year}.parquet`, `SELECT range AS n, md5(range::VARCHAR) AS text FROM range(${year})`);
    const content = await readFile(join(folder, `${year}.parquet`));
    await store.write(`${bucket}/files/year=${year}/part.parquet`, content);
  }
  await store.write(`${bucket}/files/people.csv`, Buffer.from('id,name\n1,Ada\n2,Grace\n'));
  const delta = new URL('../../../../packages/lake/testdata/delta/grown', import.meta.url).pathname;
  for (const file of await readdir(delta, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name);
    await store.write(`${bucket}/delta/${path.slice(delta.length + 1)}`, await readFile(path));
  }

  assert.equal(
    await csv(`SELECT year, count(*), max(n) FROM '${bucket}/files/*/*.parquet' GROUP BY year ORDER BY year`),
    '2023,2023,2022 2024,2024,2023',
  );
  assert.equal(
    await csv(
      `SELECT any_value(filename) FROM read_parquet('${bucket}/files/**/*.parquet', filename = true) WHERE year = 2024`,
    ),
    `${bucket}/files/year=2024/part.parquet`,
  );
  assert.equal(await csv(`SELECT name FROM '${bucket}/files/people.csv' WHERE id = 2`), 'Grace');
  assert.equal(
    await csv(`SELECT count(*) FROM delta_scan('${bucket}/delta')`),
    await csv(`SELECT count(*) FROM delta_scan('${delta}')`),
  );
  assert.match(await csv(`FROM '${bucket}/files/*.json'`), /^svc: \[DATA_FILE_MISSING\]/);
  const refused = await csv(`FROM '${bucket}/files/people.csv'`, {
    SVC_STORAGE__S3_SECRET_KEY: 'not-the-secret',
  });
  assert.match(refused, /^svc: \[STORAGE_ACCESS_DENIED\] .*people\.csv/);
  assert.doesNotMatch(refused, /not-the-secret/);
});
