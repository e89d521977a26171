import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { parquetReadObjects } from 'hyparquet';
import { storeWith } from '../parquet/fakes/memory-store.js';
import { createFooterCache } from '../parquet/footer-cache.js';
import type { TableScan } from '../scan/table-scan.js';
import { selectionBytes } from './compact-layout.js';
import { bytesToFetch, type ScanToStage, splitScans } from './split-scan.js';
import { stageScan } from './stage-scan.js';
import { openStagingCache } from './staging-cache.js';

const location = 'rows.parquet';
const columnNames = ['id', 'name', 'tags'];
const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Staging space of `maxBytes`, and scans of as many row groups of rows.parquet. */
async function withSpace(maxBytes: number) {
  const root = await mkdtemp(join(tmpdir(), 'split-'));
  folders.push(root);
  const store = storeWith(location);
  const footers = createFooterCache({ maxBytes: 1 << 20 });
  const cache = await openStagingCache({ folder: join(root, 'cache'), maxBytes });
  const info = await store.head(location);
  const footer = await footers.get(store, info);
  const bytesOf = (rowGroups: readonly number[]) =>
    selectionBytes(footer, { rowGroups, columns: columnNames });
  const scan = (rowGroups: readonly number[]): ScanToStage => ({
    store,
    scan: {
      counts: { bytesPlanned: bytesOf(rowGroups), rowGroupsPlanned: rowGroups.length },
      groups: [
        {
          sources: [],
          files: [{ ...info, recordCount: 400, rowGroups, columnNames, selectedBytes: bytesOf(rowGroups) }],
        },
      ],
    } as unknown as TableScan,
  });
  const stage = async (part: TableScan, name: string) => {
    const directory = join(root, name);
    await mkdir(directory);
    const { groups } = await stageScan(part, { store, footers, cache, directory });
    const paths = groups.flatMap((group) => group.paths);
    const rows = await Promise.all(paths.map(rowsOf));
    return { directory, ids: rows.flat().map(({ id }) => Number(id)) };
  };
  return {
    cache,
    scan,
    stage,
    bytesOf,
    split: (scans: ScanToStage[]) => splitScans(scans, { cache, footers }),
    missing: (scan: ScanToStage) => bytesToFetch(scan, { cache, footers }),
  };
}

async function rowsOf(path: string): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: Uint8Array.from(await readFile(path)).buffer });
}

const all = [0, 1, 2, 3, 4, 5, 6, 7];

test('what is to be fetched of a file is what no entry of it has', async () => {
  const { scan, stage, bytesOf, missing } = await withSpace(60_000);
  const before = await missing(scan(all));
  assert.ok(before >= bytesOf(all));
  await stage(scan([2, 3]).scan, 'some');
  assert.equal(await missing(scan([2])), 0);
  assert.equal(await missing(scan(all)), before - bytesOf([2, 3]));
  await stage(scan(all).scan, 'all');
  assert.equal(await missing(scan(all)), 0);
});

test('what fits is not divided, and what is in the cache already needs no space', async () => {
  const { scan, split, stage } = await withSpace(60_000);
  const scans = [scan(all), scan([1])];
  assert.deepEqual(await split(scans), [undefined, undefined]);
  await stage(scan(all).scan, 'first');
  assert.deepEqual(await split(scans), [undefined, undefined]);
});

test('the parts of a file have each of its row groups once, whatever entries of it are there', async () => {
  const { bytesOf, scan, split, stage, cache } = await withSpace(20_000);
  await rm((await stage(scan([2, 3]).scan, 'earlier')).directory, { recursive: true });
  const large = { ...scan(all), scan: enlarged(scan(all).scan) };
  const [parts = []] = await split([large]);
  assert.ok(parts.length > 1, `${parts.length} parts`);
  assert.equal(
    parts.reduce((sum, part) => sum + part.counts.bytesPlanned, 0),
    bytesOf(all),
  );
  const ids: number[] = [];
  for (const [index, part] of parts.entries()) {
    const staged = await stage(part, `part-${index}`);
    ids.push(...staged.ids);
    await rm(staged.directory, { recursive: true });
    assert.ok(cache.stats().bytes <= 20_000);
  }
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(ids.length, (await stage(scan(all).scan, 'whole')).ids.length);
});

test('of several scans the largest is read in parts, and the others as they are', async () => {
  const { scan, split } = await withSpace(24_000);
  const [small, large] = await split([scan([0]), { ...scan(all), scan: enlarged(scan(all).scan) }]);
  assert.equal(small, undefined);
  assert.ok(large !== undefined && large.length > 1);
});

test('deletes apply to the files of every part, and leave room for themselves', async () => {
  const { scan, split } = await withSpace(30_000);
  const large = enlarged(scan(all).scan);
  const deletes = [{ set: 0, sources: [] }];
  const withDeletes = (selectedBytes: number): ScanToStage => ({
    ...scan(all),
    scan: {
      ...large,
      groups: large.groups.map((group) => ({ ...group, deletes })),
      deletes: [
        {
          ...{ kind: 'positions', isScoped: false, keys: [] },
          groups: scan([0]).scan.groups.map((group) => ({
            ...group,
            files: group.files.map((file) => ({ ...file, selectedBytes })),
          })),
        },
      ],
    },
  });
  const [parts = []] = await split([withDeletes(100)]);
  assert.ok(parts.length > 1, `${parts.length} parts`);
  for (const part of parts) {
    assert.equal(part.deletes?.length, 1);
    for (const group of part.groups) assert.deepEqual(group.deletes, deletes);
  }
  const [smaller = []] = await split([withDeletes(5000)]);
  assert.ok(smaller.length > parts.length, `${smaller.length} parts`);
});

test('a row group that fits into no part is refused by name, with what it needs and what there is', async () => {
  const { scan, split } = await withSpace(9000);
  await assert.rejects(split([{ ...scan(all), scan: enlarged(scan(all).scan) }]), {
    code: 'DISK_FULL',
    message: /Row group 0 of rows\.parquet needs \d+ bytes .* of 9000 bytes \(cache\.disk_bytes\)/,
  });
});

/** As if its file were much larger than the fixture is. */
function enlarged(scan: TableScan): TableScan {
  const groups = scan.groups.map((group) => ({
    ...group,
    files: group.files.map((file) => ({ ...file, selectedBytes: 1_000_000 })),
  }));
  return { ...scan, groups };
}
