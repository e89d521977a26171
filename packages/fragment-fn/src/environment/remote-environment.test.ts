import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { createMetrics, QueryError } from '@svc/base';
import type { EngineLease } from '@svc/engine';
import {
  createConnections,
  createFooterCache,
  type GrantedS3,
  type NestedField,
  type ObjectStore,
  openGranted,
  openStagingCache,
  planParquetFile,
  type StagingCache,
  StorageTraffic,
  type TableScan,
} from '@svc/lake';
import type { FragmentTable } from '../request.js';
import { runSplits } from '../splits/run-splits.js';
import type { FragmentTask, SplitRequest } from '../splits/split-task.js';
import { arrowStream } from '../test-support/arrow-stream.js';
import { type ObjectServer, startObjectServer } from '../test-support/object-server.js';
import { openTestPool, type TestPool } from '../test-support/test-pool.js';
import { emptyScan, noCounts, plainRequest } from '../test-support/test-task.js';
import { remoteTask } from '../wire/remote-task.js';
import { decodeTask, encodeTask, type RemoteTask } from '../wire/task-codec.js';
import { type EnvironmentParts, openRemoteEnvironment } from './remote-environment.js';

const never = new AbortController().signal;
const columns: readonly NestedField[] = ['i', 'x'].map((name, index) => ({
  id: index + 1,
  name,
  required: false,
  type: { kind: 'long' },
}));
const filesPerTable = 3;
const rowsPerFile = 1000;

let engine: TestPool;
let server: ObjectServer;
let folder: string;
let cache: StagingCache;
let inputDirectory: string;

before(async () => {
  engine = await openTestPool();
});
after(() => engine[Symbol.asyncDispose]());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-remote-'));
  cache = await openStagingCache({ folder, maxBytes: 2 ** 28 });
  server = await startObjectServer();
  const lease = await engine.pool.lease({ owner: 'writer', lane: 'query' });
  inputDirectory = lease.inputDirectory;
  await writeFiles(lease);
  await lease.release();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function writeFiles(lease: EngineLease): Promise<void> {
  for (let file = 0; file < filesPerTable; file += 1) {
    const path = join(lease.outputDirectory, `${file}.parquet`);
    const sql = `SELECT range + ${file * rowsPerFile} AS i, i * 2 AS x FROM range(${rowsPerFile})`;
    await lease.execute([`COPY (${sql}) TO '${path}' (FORMAT parquet)`]);
    server.objects.set(`/lake/orders/${file}.parquet`, await readFile(path));
  }
}

function grantOf(user: string, expiresInMs?: number): GrantedS3 {
  const prefix = {
    prefix: 's3://lake/orders',
    endpoint: server.url,
    region: undefined,
    pathStyle: true,
    accessKeyId: user,
    secretAccessKey: `secret of ${user}`,
    sessionToken: undefined,
    expiresAtMs: expiresInMs === undefined ? undefined : Date.now() + expiresInMs,
  };
  return { kind: 's3', scope: `scope of ${user}`, prefixes: [prefix] };
}

/** What the coordinator has: a store that opens the files, and may be granted. */
function storeOf(user: string): ObjectStore {
  return { ...openGranted(grantOf(user), {}), grant: async () => grantOf(user) };
}

async function splitScans(store: ObjectStore): Promise<readonly TableScan[]> {
  const footers = createFooterCache({ maxBytes: 2 ** 20 });
  const scans: TableScan[] = [];
  for (let file = 0; file < filesPerTable; file += 1) {
    const info = await store.head(`s3://lake/orders/${file}.parquet`);
    const planned = await planParquetFile(info, { columns: undefined, filters: [] }, { store, footers });
    const sources = columns.map(
      ({ name, type }) => ({ kind: 'column', name, isExactType: true, type }) as const,
    );
    scans.push({ ...emptyScan, columns, groups: [{ sources, files: [planned] }], counts: noCounts });
  }
  return scans;
}

const name = { catalog: 'svc_stages', schema: 'main' };

async function taskOf(user: string, changes: Partial<SplitRequest> = {}): Promise<FragmentTask> {
  const store = storeOf(user);
  const scans = await splitScans(store);
  const request = plainRequest({
    owner: user,
    sql: 'SELECT i, x FROM s0 WHERE i % 2 = 0',
    tables: [{ kind: 'scan', ...name, table: 's0', scan: { ...emptyScan, columns } }],
    splitTable: 0,
    splits: scans.map((scan, id) => ({ id, scan })),
    ...changes,
  });
  server.requests.length = 0;
  return { request, stores: [store] };
}

function partsOf(changes: Partial<EnvironmentParts> = {}): EnvironmentParts {
  return {
    pool: engine.pool,
    staging: cache,
    footers: createFooterCache({ maxBytes: 2 ** 20 }),
    connections: createConnections(),
    traffic: new StorageTraffic(),
    metrics: createMetrics(),
    allowLocalFiles: false,
    ...changes,
  };
}

/** A host empties its folder before anybody gets it again. */
async function assertNothingIsLeft(): Promise<void> {
  const lease = await engine.pool.lease({ owner: 'checks', lane: 'query' });
  const folders = [inputDirectory, lease.inputDirectory].filter((each) => existsSync(each));
  const left = await Promise.all(folders.map((each) => readdir(each)));
  const catalogs = await lease.queryText('SELECT count(*)::VARCHAR FROM duckdb_tables()', []);
  await lease.release();
  assert.deepEqual([left.flat(), catalogs], [[], '0']);
}

async function sent(task: FragmentTask): Promise<RemoteTask> {
  return decodeTask(encodeTask(await remoteTask(task, never)));
}

async function run(task: RemoteTask, parts = partsOf(), signal = never) {
  return await runSplits(task.request, openRemoteEnvironment(task, parts), { signal });
}

async function rowCounts(task: RemoteTask, parts = partsOf()): Promise<readonly bigint[]> {
  const counts: bigint[] = [];
  for await (const event of (await run(task, parts)).events)
    if (event.kind === 'end') counts.push(event.rowCount);
    else event.message.release();
  return counts;
}

describe('a task on another machine', () => {
  it('reads the files that it was granted, with the credentials of its user', async () => {
    const task = await sent(await taskOf('ada'));
    assert.deepEqual(await rowCounts(task), [500n, 500n, 500n]);
    assert.deepEqual(new Set(server.requests.map(({ key }) => key)), new Set(['ada']));
  });

  it('answers what the statement answers on one machine', async () => {
    const task = await sent(await taskOf('ada'));
    const stream = await arrowStream(await run(task));
    const lease = await engine.pool.lease({ owner: 'checks', lane: 'query' });
    try {
      await lease.execute(['CREATE TABLE answer (i BIGINT, x BIGINT)']);
      await lease.ingest(
        { table: 'answer' },
        (async function* () {
          yield stream;
        })(),
      );
      const different =
        'SELECT count(*)::VARCHAR FROM ((FROM answer EXCEPT ALL SELECT range, range * 2 FROM range(3000) WHERE range % 2 = 0) UNION ALL (SELECT range, range * 2 FROM range(3000) WHERE range % 2 = 0 EXCEPT ALL FROM answer))';
      assert.equal(await lease.queryText(different, []), '0');
    } finally {
      await lease.release();
    }
  });

  it('leaves nothing to the next one, which has its own credentials', async () => {
    const [ada, bob] = [await sent(await taskOf('ada')), await sent(await taskOf('bob'))];
    server.requests.length = 0;
    const parts = partsOf();
    assert.deepEqual(await rowCounts(ada, parts), [500n, 500n, 500n]);
    await assertNothingIsLeft();
    assert.deepEqual(await rowCounts(ada, parts), [500n, 500n, 500n]);
    const ofAda = server.requests.length;
    assert.deepEqual(await rowCounts(bob, parts), [500n, 500n, 500n]);
    assert.deepEqual(new Set(server.requests.slice(ofAda).map(({ key }) => key)), new Set(['bob']));
    assert.ok(server.requests.length > ofAda);
    await assertNothingIsLeft();
    server.refused.add('bob');
    const other = {
      ...bob,
      grants: [grantOf('bob'), undefined].map((grant) => grant && { ...grant, scope: 'new' }),
    };
    await assert.rejects(rowCounts(other, parts), { code: 'STORAGE_ACCESS_DENIED' });
    await assertNothingIsLeft();
  });

  it('is refused files that it was not granted, also those that lie here for another user', async () => {
    const ada = await sent(await taskOf('ada'));
    const parts = partsOf();
    assert.deepEqual(await rowCounts(ada, parts), [500n, 500n, 500n]);
    server.requests.length = 0;
    const { scope, prefixes } = grantOf('ada');
    const elsewhere = prefixes.map((each) => ({ ...each, accessKeyId: 'bob', prefix: 's3://lake/returns' }));
    const bob = { ...ada, request: { ...ada.request, owner: 'bob' } };
    for (const grant of [
      { kind: 's3', scope, prefixes: elsewhere } as const,
      { kind: 's3', scope, prefixes: [] } as const,
    ])
      await assert.rejects(rowCounts({ ...bob, grants: [grant] }, parts), { code: 'STORAGE_ACCESS_DENIED' });
    assert.deepEqual(server.requests, []);
    await assertNothingIsLeft();
  });

  it('that is cancelled in the middle leaves nothing', async () => {
    const caller = new AbortController();
    const iterator = (await run(await sent(await taskOf('ada')), partsOf(), caller.signal)).events[
      Symbol.asyncIterator
    ]();
    const first = await iterator.next();
    if (first.value?.kind === 'message') first.value.message.release();
    caller.abort(new QueryError('CANCELLED', 'Enough.'));
    await assert.rejects(
      async () => {
        for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
          if (next.value.kind === 'message') next.value.message.release();
      },
      { code: 'CANCELLED' },
    );
    await assertNothingIsLeft();
    assert.deepEqual(await rowCounts(await sent(await taskOf('ada'))), [500n, 500n, 500n]);
  });

  it('whose second split fails has ended the first', async () => {
    const task = await sent(
      await taskOf('ada', { sql: "SELECT CASE WHEN i >= 1000 THEN error('no') ELSE i END FROM s0" }),
    );
    const ended: number[] = [];
    await assert.rejects(
      async () => {
        for await (const event of (await run(task)).events)
          if (event.kind === 'message') event.message.release();
          else ended.push(event.split);
      },
      (error) => error instanceof QueryError && error.category === 'user' && /no/.test(error.message),
    );
    assert.deepEqual(ended, [0]);
    await assertNothingIsLeft();
  });

  it('that computes without end ends when it is cancelled', async () => {
    const endless = 'SELECT count(*) FROM s0, range(1_000_000_000) a, range(1_000_000_000) b';
    const task = await sent(await taskOf('ada', { sql: endless }));
    const caller = new AbortController();
    const started = run(task, partsOf(), caller.signal).then(async ({ events }) => {
      for await (const event of events) if (event.kind === 'message') event.message.release();
    });
    setTimeout(() => caller.abort(), 300);
    await assert.rejects(started, { code: 'CANCELLED' });
    await assertNothingIsLeft();
  });

  it('takes over in parts what does not fit into its staging space', async () => {
    const task = await sent(await taskOf('ada'));
    const scans = task.request.splits.map(({ scan }) => scan);
    const [first] = scans;
    assert.ok(first);
    const groups = scans.flatMap((scan) => scan.groups);
    const again = groups.map((group) => ({
      ...group,
      files: group.files.map((file) => ({
        ...file,
        location: file.location.replace('orders/', 'orders/again-'),
      })),
    }));
    for (const [path, body] of [...server.objects])
      server.objects.set(path.replace('orders/', 'orders/again-'), body);
    const all = { ...first, groups: [...groups, ...again] };
    const bytes = groups.flatMap(({ files }) => files.map(({ selectedBytes }) => selectedBytes));
    const small = await mkdtemp(join(folder, 'small-'));
    const staging = await openStagingCache({ folder: small, maxBytes: (Math.max(...bytes) + 5000) * 3 });
    const splits = [
      { id: 7, scan: all },
      { id: 8, scan: first },
      { id: 9, scan: all },
    ];
    const view = { ...name, table: 'v', columns: ['i'], sql: 'SELECT i FROM svc_stages.main.s0' };
    const request = { ...task.request, splits, views: [view], sql: 'SELECT i FROM v WHERE i % 2 = 0' };
    let parts = 0;
    const environment = openRemoteEnvironment({ ...task, request }, partsOf({ staging }));
    const counted = {
      ...environment,
      split: async (...asked: Parameters<NonNullable<typeof environment.split>>) => {
        const answer = (await environment.split?.(...asked)) ?? [];
        parts += answer.reduce((sum, each) => sum + (each?.length ?? 0), 0);
        return answer;
      },
    };
    const counts: bigint[] = [];
    for await (const event of (await runSplits(request, counted, { signal: never })).events)
      if (event.kind === 'end') counts.push(event.rowCount);
      else event.message.release();
    assert.deepEqual(counts, [3000n, 500n, 3000n]);
    assert.ok(parts > 0, 'nothing was read in parts');
  });

  it('asks for newer credentials where it may, and says so where it may not', async () => {
    const task = await sent(await taskOf('ada'));
    const old = { ...task, grants: [{ ...grantOf('ada', -1000), scope: 'fresh' }] };
    await assert.rejects(rowCounts(old), {
      code: 'STORAGE_ACCESS_DENIED',
      message: /credentials of the fragment have expired/,
    });
    const asked: number[] = [];
    const renew = async (table: number) => {
      asked.push(table);
      return grantOf('ada2');
    };
    assert.deepEqual(await rowCounts(old, partsOf({ renew })), [500n, 500n, 500n]);
    assert.deepEqual(asked, [0]);
  });

  it('reads no files of this machine unless it is the one that granted them', async () => {
    const task = await taskOf('ada');
    const stores = [{ ...storeOf('ada'), grant: async () => ({ kind: 'files' }) as const }];
    const files = await sent({ ...task, stores });
    assert.throws(() => openRemoteEnvironment(files, partsOf()), { code: 'NOT_SUPPORTED' });
  });

  it('is not sent where a store cannot be granted', async () => {
    const task = await taskOf('ada');
    const { grant, ...store } = storeOf('ada');
    await assert.rejects(remoteTask({ ...task, stores: [store] }, never), { code: 'NOT_SUPPORTED' });
  });

  it('takes rows of an earlier stage from where they were left', async () => {
    const stream = await arrowStream(await run(await sent(await taskOf('ada'))));
    server.objects.set('/spool/q/0', stream);
    server.objects.set('/spool/q/1', stream);
    const sha256 = createHash('sha256').update(stream).digest('hex');
    const url = `${server.url}/spool/q/0?X-Amz-Signature=secret`;
    const input = (parts: Extract<FragmentTable, { kind: 'input' }>['rows']): FragmentTable => ({
      kind: 'input',
      ...name,
      table: 's1',
      columns: columns.map((column) => ({ name: column.name, type: 'BIGINT' })),
      rows: parts,
    });
    const bytes = stream.byteLength;
    const request = plainRequest({
      sql: 'SELECT i FROM s1',
      tables: [
        input({
          kind: 'parts',
          parts: [
            { url, bytes, sha256 },
            { url: `${server.url}/spool/q/1?X-Amz-Signature=secret`, bytes, sha256 },
          ],
        }),
      ],
    });
    const task = await sent({ request, stores: [storeOf('ada')] });
    assert.deepEqual(await rowCounts(task), [3000n]);
    server.objects.delete('/spool/q/0');
    await assert.rejects(rowCounts(task), (error) => {
      assert.ok(error instanceof QueryError && error.code === 'STORAGE_ERROR');
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
    server.objects.set('/spool/q/0', stream.subarray(0, stream.length - 100));
    await assert.rejects(rowCounts(task), { code: 'STORAGE_ERROR' });
  });
});
