/** What splits ask storage for, as a worker that knows nothing runs them: counted at the server. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createMetrics } from '@svc/base';
import {
  createConnections,
  createFooterCache,
  divideScan,
  type FileScan,
  type GrantedS3,
  type NestedField,
  type ObjectStore,
  openGranted,
  openStagingCache,
  planParquetFile,
  StorageTraffic,
  type TableScan,
} from '@svc/lake';
import { type EnvironmentParts, openRemoteEnvironment } from '../environment/remote-environment.js';
import { type ObjectRequest, type ObjectServer, startObjectServer } from '../test-support/object-server.js';
import { openTestPool, type TestPool } from '../test-support/test-pool.js';
import { emptyScan, noCounts, plainRequest } from '../test-support/test-task.js';
import { remoteTask } from '../wire/remote-task.js';
import { decodeTask, encodeTask } from '../wire/task-codec.js';
import { runSplits } from './run-splits.js';

const sql = 'SELECT sum(i) AS i, sum(x) AS x FROM s0';
/** Of the two columns; two row groups have more. */
const oneGroupBytes = 150_000;
const wholeTableBytes = 2 ** 30;
const never = new AbortController().signal;
const fileCount = 3;
const groupsPerFile = 4;
const groupRows = 8192;
/** Two neighbours are read; what lies between two row groups' is larger than what is fetched with them to spare a request. */
const columns: readonly NestedField[] = ['i', 'x'].map((name, index) => ({
  ...{ id: index + 1, name, required: false, type: { kind: 'long' } },
}));

let engine: TestPool;
let server: ObjectServer;
let folder: string;
let parts: EnvironmentParts;

before(async () => {
  engine = await openTestPool();
  server = await startObjectServer();
  folder = await mkdtemp(join(tmpdir(), 'svc-requests-'));
  const lease = await engine.pool.lease({ owner: 'writer', lane: 'query' });
  for (let file = 0; file < fileCount; file += 1) {
    const path = join(lease.outputDirectory, `${file}.parquet`);
    // Nothing of it is worth a dictionary: a chunk is as large as its values.
    const rows = `SELECT (hash(range) >> 1)::BIGINT AS i, (hash(-range) >> 1)::BIGINT AS x,
      repeat(md5(range::VARCHAR), 8) AS pad FROM range(${groupsPerFile * groupRows})`;
    await lease.execute([
      `COPY (${rows}) TO '${path}' (FORMAT parquet, ROW_GROUP_SIZE ${groupRows}, COMPRESSION uncompressed)`,
    ]);
    server.objects.set(`/lake/orders/${file}.parquet`, await readFile(path));
  }
  await lease.release();
});
after(async () => {
  await engine[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(restart);

/** A worker that has nothing cached. */
async function restart(): Promise<void> {
  const staging = await openStagingCache({
    folder: await mkdtemp(join(folder, 'cache-')),
    maxBytes: 2 ** 28,
  });
  parts = {
    ...{ pool: engine.pool, staging, allowLocalFiles: false, metrics: createMetrics() },
    ...{ connections: createConnections(), traffic: new StorageTraffic() },
    footers: createFooterCache({ maxBytes: 2 ** 20 }),
  };
}

function storeOf(): ObjectStore {
  const prefix = {
    ...{ prefix: 's3://lake/orders', endpoint: server.url, region: undefined, pathStyle: true },
    ...{ accessKeyId: 'ada', secretAccessKey: 'secret', sessionToken: undefined, expiresAtMs: undefined },
  };
  const grant: GrantedS3 = { kind: 's3', scope: 'scope of ada', prefixes: [prefix] };
  return { ...openGranted(grant, {}), grant: async () => grant };
}

/** The table as a coordinator plans and divides it. */
async function splitsOf(store: ObjectStore, targetBytes: number): Promise<readonly TableScan[]> {
  const footers = createFooterCache({ maxBytes: 2 ** 20 });
  const files: FileScan[] = [];
  for (let file = 0; file < fileCount; file += 1) {
    const info = await store.head(`s3://lake/orders/${file}.parquet`);
    const wanted = { columns: columns.map(({ name }) => [name]), filters: [] };
    files.push(await planParquetFile(info, wanted, { store, footers }));
  }
  const sources = columns.map(
    ({ name, type }) => ({ kind: 'column', name, isExactType: true, type }) as const,
  );
  const scan: TableScan = { ...emptyScan, columns, groups: [{ sources, files }], counts: noCounts };
  return await divideScan(scan, { targetBytes, store, footers });
}

interface Seen {
  readonly splits: number;
  readonly ended: number;
  readonly plannedBytes: number;
  readonly fetchedBytes: number;
  readonly requests: readonly ObjectRequest[];
  /** Those behind all chunks of their file. */
  readonly footers: readonly ObjectRequest[];
  readonly chunks: readonly ObjectRequest[];
}

/** Ends the task after so many splits. */
async function run(targetBytes: number, atMost = Number.POSITIVE_INFINITY): Promise<Seen> {
  const store = storeOf();
  const scans = await splitsOf(store, targetBytes);
  server.requests.length = 0;
  const name = { catalog: 'svc_stages', schema: 'main', table: 's0' };
  const request = plainRequest({
    sql,
    tables: [{ kind: 'scan', ...name, scan: { ...emptyScan, columns } }],
    splitTable: 0,
    splits: scans.map((scan, id) => ({ id, scan })),
  });
  const task = decodeTask(encodeTask(await remoteTask({ request, stores: [store] }, never)));
  const started = await runSplits(task.request, openRemoteEnvironment(task, parts), { signal: never });
  let [ended, fetchedBytes] = [0, 0];
  for await (const event of started.events) {
    if (event.kind === 'message') event.message.release();
    else {
      ended += 1;
      fetchedBytes += event.statistics.bytesFetched;
      if (ended === atMost) break;
    }
  }
  const files = scans.flatMap(({ groups }) => groups.flatMap((group) => group.files));
  // On a machine that does much else a request may be late, and is then sent a second time.
  const requests = [
    ...new Map(server.requests.map((request) => [JSON.stringify(request), request])).values(),
  ];
  return {
    ...{ ended, fetchedBytes, splits: scans.length, requests },
    footers: requests.filter(isFooter),
    chunks: requests.filter((request) => !isFooter(request)),
    plannedBytes: files.reduce((sum, { selectedBytes }) => sum + selectedBytes, 0),
  };
}

function isFooter({ path, range }: ObjectRequest): boolean {
  return rangeOf(range).end === server.objects.get(path)?.byteLength;
}

function bytesOf(requests: readonly ObjectRequest[]): number {
  return requests.reduce((sum, { range }) => sum + rangeOf(range).end - rangeOf(range).start, 0);
}

function rangeOf(range: string | undefined) {
  const [, start, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  return { start: Number(start), end: Number(last) + 1 };
}

describe('what splits ask storage for', () => {
  it('is the footer of each file once, and the chunks of each split once: as many bytes as were planned', async () => {
    for (const [targetBytes, splits] of [
      [oneGroupBytes, fileCount * groupsPerFile],
      [2 * oneGroupBytes, (fileCount * groupsPerFile) / 2],
      [wholeTableBytes, 1],
    ] as const) {
      await restart();
      const seen = await run(targetBytes);
      assert.deepEqual([seen.splits, seen.ended], [splits, splits]);
      assert.deepEqual(new Set(seen.requests.map(({ method }) => method)), new Set(['GET']));
      assert.equal(seen.footers.length, fileCount);
      assert.equal(new Set(seen.footers.map(({ path }) => path)).size, fileCount);
      assert.equal(seen.chunks.length, fileCount * groupsPerFile);
      assert.equal(
        new Set(seen.chunks.map(({ path, range }) => `${path} ${range}`)).size,
        seen.chunks.length,
      );
      assert.equal(seen.fetchedBytes, seen.plannedBytes);
      assert.equal(bytesOf(seen.chunks), seen.plannedBytes);
    }
  });

  it('is nothing the second time, however the table is divided', async () => {
    await run(oneGroupBytes);
    for (const targetBytes of [oneGroupBytes, 2 * oneGroupBytes, wholeTableBytes]) {
      const seen = await run(targetBytes);
      assert.deepEqual([seen.requests, seen.fetchedBytes], [[], 0]);
    }
  });

  it('is of one split ahead at the most', async () => {
    const seen = await run(oneGroupBytes, 1);
    assert.equal(seen.ended, 1);
    assert.ok(seen.chunks.length >= 1 && seen.chunks.length <= 3, `${seen.chunks.length} chunks`);
  });
});
