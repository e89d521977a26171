import assert from 'node:assert/strict';
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, test } from 'node:test';
import { QueryError } from '@svc/base';
import { parquetReadObjects } from 'hyparquet';
import { type MemoryStore, storeWith, testFile } from '../parquet/fakes/memory-store.js';
import { createFooterCache } from '../parquet/footer-cache.js';
import type { FileScan, TableScan } from '../scan/table-scan.js';
import { createFileStore } from '../storage/file-store.js';
import { type StagedTable, type StageOptions, stageScan } from './stage-scan.js';
import { openStagingCache, type StagingCacheOptions } from './staging-cache.js';

const location = 'rows.parquet';
const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

interface Stage {
  readonly store: MemoryStore;
  readonly cacheFolder: string;
  readonly options: StageOptions;
  /** Stages row groups and columns of rows.parquet. */
  run(
    rowGroups: readonly number[] | undefined,
    columns: readonly string[],
    change?: Partial<StageOptions>,
  ): Promise<StagedTable>;
}

async function makeStage(cache: Partial<StagingCacheOptions> = {}): Promise<Stage> {
  const root = await mkdtemp(join(tmpdir(), 'staging-'));
  folders.push(root);
  const cacheFolder = join(root, 'cache');
  const directory = join(root, 'lease');
  await mkdir(directory);
  const store = storeWith(location);
  const options: StageOptions = {
    store,
    directory,
    footers: createFooterCache({ maxBytes: 1 << 20 }),
    cache: await openStagingCache({ folder: cacheFolder, maxBytes: 1 << 20, ...cache }),
  };
  const { sizeBytes, version } = await store.head(location);
  return {
    store,
    cacheFolder,
    options,
    run: (rowGroups, columnNames, change) =>
      stageScan(
        scanOf({ location, sizeBytes, version, recordCount: 400, rowGroups, columnNames, selectedBytes: 0 }),
        { ...options, ...change },
      ),
  };
}

function scanOf(file: FileScan): TableScan {
  const counts = {
    manifestsTotal: 0,
    manifestsRead: 0,
    filesTotal: 1,
    filesPlanned: 1,
    filesPruned: 0,
    rowGroupsTotal: 8,
    rowGroupsPlanned: 8,
    rowGroupsPrunedByStatistics: 0,
    rowGroupsPrunedByBloom: 0,
    bytesTotal: 0,
    bytesPlanned: 0,
    rowsPlanned: 0,
  };
  return {
    tableName: 't',
    tableUuid: 'u',
    snapshotId: 1n,
    columns: [],
    groups: [{ sources: [], files: [file] }],
    counts,
  };
}

async function rowsOf(path: string | undefined): Promise<Record<string, unknown>[]> {
  const bytes = await readFile(path ?? assert.fail('nothing was staged'));
  return parquetReadObjects({ file: Uint8Array.from(bytes).buffer });
}

const originalRows = () => rowsOf(new URL('../../testdata/parquet/rows.parquet', import.meta.url).pathname);
const onlyPath = (staged: StagedTable) => staged.groups[0]?.paths[0];
const pick = (row: Record<string, unknown> | undefined, names: readonly string[]) =>
  names.map((name) => row?.[name]);

test('a compact file has the chosen rows and columns, and each row’s original position', async () => {
  const { run } = await makeStage();
  const columns = ['id', 'name', 'place', 'price', 'tags'];
  const staged = await run([1, 4, 7], columns);
  const [rows, original] = [await rowsOf(onlyPath(staged)), await originalRows()];
  assert.equal(rows.length, 150);
  for (const [index, row] of rows.entries()) {
    const position = index + Number(pick(row, ['__row_delta'])[0]);
    assert.deepEqual(pick(row, columns), pick(original[position], columns));
  }
  assert.deepEqual(Object.keys(rows[0] ?? {}).sort(), ['__row_delta', ...columns].sort());
  assert.deepEqual(
    [staged.groups[0]?.hasRowDelta, staged.groups[0]?.rowCount, staged.filesInPlace],
    [true, 150, 0],
  );
});

test('only the chosen chunks are fetched, and nothing the second time', async () => {
  const { run, store } = await makeStage();
  await run([2], ['name']);
  const footerBytes = store.ranges[0];
  assert.ok(footerBytes);
  const first = await run([2], ['price']);
  assert.ok(first.bytesFetched < 1000);
  store.forgetCounts();
  const again = await run([2], ['price']);
  assert.deepEqual([again.bytesFetched, store.ranges.length, store.headCount], [0, 0, 0]);
  assert.equal(onlyPath(again), onlyPath(first));
});

test('an entry with more row groups and columns serves a smaller scan', async () => {
  const { run, store, cacheFolder } = await makeStage();
  const whole = await run([0, 1, 2, 3], ['id', 'name']);
  store.forgetCounts();
  assert.equal(onlyPath(await run([2], ['name'])), onlyPath(whole));
  assert.equal(store.ranges.length, 0);
  assert.equal((await readdir(cacheFolder)).length, 1);
});

test('an overlapping scan fetches what is missing, and the union takes the place of the old entry', async () => {
  const { run, store, cacheFolder } = await makeStage();
  await run([0, 1, 2, 3], ['name', 'price']);
  store.forgetCounts();
  const union = await run([0, 1, 2, 3], ['price', 'day']);
  const [rows, original] = [await rowsOf(onlyPath(union)), await originalRows()];
  assert.deepEqual(
    rows.map((row) => pick(row, ['name', 'price', 'day'])),
    original.slice(0, 200).map((row) => pick(row, ['name', 'price', 'day'])),
  );
  assert.equal((await readdir(cacheFolder)).length, 1);
  assert.equal(store.bytesRead, union.bytesFetched);
  assert.ok(union.bytesFetched < 4 * 400, 'no more than the four chunks of day');
});

test('a far wider union is not made for a small scan', async () => {
  const { run, cacheFolder } = await makeStage();
  await run([0, 1, 2, 3, 4, 5, 6, 7], ['id']);
  const small = await run([3], ['tags']);
  assert.equal(small.groups[0]?.rowCount, 50);
  assert.equal((await readdir(cacheFolder)).length, 2);
});

test('a large entry is not written again for a small addition, which takes what it can from there', async () => {
  const { run, store, cacheFolder } = await makeStage();
  await run([0, 1, 2, 3, 4, 5, 6, 7], ['id', 'name', 'tags']);
  store.forgetCounts();
  const small = await run([2], ['id', 'day']);
  assert.equal((await readdir(cacheFolder)).length, 2);
  assert.equal(small.groups[0]?.rowCount, 50);
  assert.equal(small.bytesFetched, store.bytesRead);
  assert.ok(small.bytesFetched < 500, 'the chunk of day only');
});

test('a scan of no column has the rows only', async () => {
  const { run } = await makeStage();
  const staged = await run([0, 5], []);
  const rows = await rowsOf(onlyPath(staged));
  assert.deepEqual([rows.length, rows[0], rows[99]], [100, { __row_delta: 0n }, { __row_delta: 200n }]);
});

test('row groups without rows are passed over', async () => {
  const { options } = await makeStage();
  const store = storeWith('gaps.parquet');
  const info = await store.head('gaps.parquet');
  const file = { ...info, recordCount: 9, columnNames: ['id'], selectedBytes: 0 };
  const positions = async (rowGroups: readonly number[] | undefined) => {
    const rows = await rowsOf(
      onlyPath(await stageScan(scanOf({ ...file, rowGroups }), { ...options, store })),
    );
    return rows.map((row, index) => [
      ...pick(row, ['id']),
      BigInt(index) + BigInt(String(pick(row, ['__row_delta'])[0])),
    ]);
  };
  assert.deepEqual(
    await positions([2, 3, 4]),
    [4n, 5n, 6n, 7n, 8n].map((id) => [id, id]),
  );
  assert.equal((await positions(undefined)).length, 9);
});

test('callers at the same time make one fetch', async () => {
  const { run, store } = await makeStage();
  await run([0], ['id']);
  store.forgetCounts();
  const staged = await Promise.all(Array.from({ length: 8 }, () => run([4, 5], ['name', 'tags'])));
  assert.equal(staged.filter((each) => each.bytesFetched > 0).length, 1);
  assert.equal(new Set(staged.map(onlyPath)).size, 1);
});

test('a cancelled fetch leaves nothing behind, and the next caller makes it', async () => {
  const { run, store, cacheFolder, options } = await makeStage();
  await options.footers.get(store, await store.head(location));
  const abort = new AbortController();
  let reads = 0;
  store.beforeRead = async () => {
    reads += 1;
    if (reads === 1) abort.abort(new QueryError('CANCELLED', 'The user has cancelled.'));
  };
  const cancelled = run([1], ['tags'], { signal: abort.signal });
  const other = run([1], ['tags']);
  await assert.rejects(cancelled, { code: 'CANCELLED' });
  assert.equal((await other).groups[0]?.rowCount, 50);
  assert.deepEqual(
    (await readdir(cacheFolder)).filter((name) => !name.endsWith('.parquet')),
    [],
  );
});

test('a local file that is needed whole is linked, not copied', async () => {
  const { run, cacheFolder, options } = await makeStage();
  const store = createFileStore();
  const path = join(options.directory, '..', 'original.parquet');
  await writeFile(path, testFile(location));
  const { sizeBytes, version } = await store.head(path);
  const file = {
    location: path,
    sizeBytes,
    version,
    recordCount: 400,
    columnNames: ['id'],
    selectedBytes: 0,
  };
  const staged = await stageScan(scanOf({ ...file, rowGroups: undefined }), { ...options, store });
  assert.deepEqual([staged.filesInPlace, staged.bytesFetched, staged.groups[0]?.hasRowDelta], [1, 0, false]);
  assert.equal((await stat(onlyPath(staged) ?? '')).ino, (await stat(path)).ino);
  assert.deepEqual(await stageScan(scanOf({ ...file, rowGroups: undefined }), { ...options, store }), staged);
  assert.deepEqual(await readdir(cacheFolder), []);
  await assert.rejects(run(undefined, ['id'], { store: createFileStore() }), { code: 'DATA_FILE_MISSING' });
});

test('a local file that changed since planning is refused', async () => {
  const { options } = await makeStage();
  const path = join(options.directory, '..', 'original.parquet');
  await writeFile(path, testFile(location));
  const file = {
    location: path,
    sizeBytes: 1,
    version: 'older',
    recordCount: 400,
    rowGroups: undefined,
    columnNames: ['id'],
    selectedBytes: 0,
  };
  await assert.rejects(stageScan(scanOf(file), { ...options, store: createFileStore() }), {
    code: 'STORAGE_ERROR',
  });
  assert.deepEqual(await readdir(options.directory), []);
});

test('the least recently used entry goes, but never one that a query holds', async () => {
  let now = 1_000_000;
  const { run, options, cacheFolder } = await makeStage({ maxBytes: 2600, now: () => now });
  const names: string[] = [];
  for (const [rowGroup, column] of [
    [0, 'id'],
    [1, 'day'],
    [2, 'price'],
  ] as const) {
    now += 1000;
    names.push(basename(onlyPath(await run([rowGroup], [column])) ?? ''));
  }
  const [oldest, second, third] = names;
  assert.equal((await readdir(cacheFolder)).length, 3);
  for (const name of [second, third]) await rm(join(options.directory, name ?? ''));
  now += 1000;
  await run([5], ['name']);
  const after = new Set(await readdir(cacheFolder));
  assert.deepEqual(
    names.map((name) => after.has(name)),
    [true, false, true],
    `${oldest} is held`,
  );
  assert.ok(options.cache.stats().bytes <= 2600);
});

test('when queries hold all of the space, the next one is told so', async () => {
  const { run, cacheFolder } = await makeStage({ maxBytes: 2000 });
  await run([0], ['id']);
  await assert.rejects(run([1, 2, 3, 4], ['name', 'tags']), {
    code: 'DISK_FULL',
    message: /rows\.parquet needs \d+ bytes/,
  });
  assert.equal((await readdir(cacheFolder)).length, 1);
});

test('a full disk is reported, and nothing half-written is left', async () => {
  const openFile = (async (...parameters: Parameters<typeof open>) => {
    const file = await open(...parameters);
    file.writev = () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
    return file;
  }) as typeof open;
  const { run, cacheFolder, options } = await makeStage({ openFile });
  await assert.rejects(run([0], ['id']), { code: 'DISK_FULL' });
  assert.deepEqual([await readdir(cacheFolder), await readdir(options.directory)], [[], []]);
});

test('a new process finds the entries of the last one, and drops what is damaged or unfinished', async () => {
  const { run, cacheFolder, options, store } = await makeStage();
  const kept = await run([0], ['id']);
  const cut = await run([1], ['price']);
  const path = join(cacheFolder, basename(onlyPath(cut) ?? ''));
  await rm(onlyPath(cut) ?? '');
  await chmod(path, 0o600);
  await appendFile(path, 'x');
  await writeFile(join(cacheFolder, 'left-by-a-crash~999999999~x~y.tmp'), 'half');
  await utimes(join(cacheFolder, 'left-by-a-crash~999999999~x~y.tmp'), 1, 1);
  const cache = await openStagingCache({ folder: cacheFolder, maxBytes: 1 << 20 });
  assert.deepEqual(await readdir(cacheFolder), [basename(onlyPath(kept) ?? '')]);
  store.forgetCounts();
  assert.equal((await run([0], ['id'], { cache })).bytesFetched, 0);
  assert.ok((await run([1], ['price'], { cache })).bytesFetched > 0);
  assert.equal(options.cache.stats().entries, 2);
});

test('an entry whose bytes have changed is fetched again, even if its times were set back', async () => {
  const { run, cacheFolder } = await makeStage();
  const staged = await run([0], ['name']);
  const path = join(cacheFolder, basename(onlyPath(staged) ?? ''));
  await rm(onlyPath(staged) ?? '');
  const { mtime, atime } = await stat(path);
  const bytes = await readFile(path);
  bytes[bytes.length - 200] = (bytes[bytes.length - 200] ?? 0) ^ 1;
  await chmod(path, 0o600);
  await writeFile(path, bytes);
  assert.ok((await run([0], ['name'])).bytesFetched > 0, 'written through: the seal is broken');
  const repaired = await readFile(path);
  repaired[repaired.length - 200] = (repaired[repaired.length - 200] ?? 0) ^ 1;
  await chmod(path, 0o600);
  await writeFile(path, repaired);
  await utimes(path, atime, mtime);
  const fresh = await openStagingCache({ folder: cacheFolder, maxBytes: 1 << 20 });
  assert.ok(
    (await run([0], ['name'], { cache: fresh })).bytesFetched > 0,
    'the checksum is compared on first use',
  );
});

test('two caches on one folder use each other’s entries and survive each other’s removals', async () => {
  const { run, cacheFolder, options } = await makeStage();
  const other = await openStagingCache({ folder: cacheFolder, maxBytes: 1 << 20 });
  await run([0], ['id']);
  await other.refresh();
  assert.equal((await run([0], ['id'], { cache: other })).bytesFetched, 0);
  for (const name of await readdir(cacheFolder)) await rm(join(cacheFolder, name));
  assert.ok((await run([0], ['id'], { cache: other })).bytesFetched > 0);
  assert.equal((await run([0], ['id'], { cache: options.cache })).groups[0]?.rowCount, 50);
});

test('another version of a file has its own entries', async () => {
  const { run, store } = await makeStage();
  await run([0], ['id']);
  store.put(location, testFile(location), 'v2');
  await assert.rejects(run([1], ['id']), { code: 'STORAGE_ERROR' });
});

test('entries cannot be written to by whom they are linked for', async () => {
  const { run } = await makeStage();
  const { mode } = await stat(onlyPath(await run([0], ['id'])) ?? '');
  assert.equal(mode & 0o777, 0o444);
});
