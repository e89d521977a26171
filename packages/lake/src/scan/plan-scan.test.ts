import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { RowUse, ScanFilter, ScanRequest } from '@svc/sql';
import type { LoadedTable } from '../catalogs/catalog.js';
import { createFileSystemCatalog } from '../catalogs/file-system/file-system-catalog.js';
import { registerParquetTable } from '../catalogs/file-system/register-parquet-table.js';
import { createMetadataFiles } from '../iceberg/cache/metadata-files.js';
import { createFooterCache } from '../parquet/footer-cache.js';
import { inspectParquet } from '../parquet/inspect-parquet.js';
import { createFileStore } from '../storage/file-store.js';
import type { ByteRange, ObjectStore } from '../storage/object-store.js';
import { planScan } from './plan-scan.js';
import type { TableScan } from './table-scan.js';

interface Planned {
  /** Ranges read of data files, by all plans so far. */
  readonly ranges: ByteRange[];
  readonly dataFile: string;
  plan(request: Partial<ScanRequest>): Promise<TableScan>;
}

async function withTable(name: string, body: (table: Planned) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'plan-scan-'));
  try {
    const local = createFileStore();
    const file = await inspectParquet(
      local,
      fileURLToPath(new URL(`../../testdata/parquet/${name}`, import.meta.url)),
    );
    const identifier = { namespace: ['s'], name: 't' };
    const { location } = await registerParquetTable({ root, identifier, file });
    const ranges: ByteRange[] = [];
    const store: ObjectStore = {
      ...local,
      readRanges: (where, wanted, options) => {
        if (where.endsWith('.parquet')) ranges.push(...wanted);
        return local.readRanges(where, wanted, options);
      },
    };
    const manifests = createMetadataFiles(1 << 20);
    const table: LoadedTable = await createFileSystemCatalog({ root, store, files: manifests }).loadTable(
      identifier,
    );
    const footers = createFooterCache({ maxBytes: 1 << 20 });
    const [dataFile] = await local.list(join(location, 'data'));
    await body({
      ranges,
      dataFile: join(location, 'data', dataFile?.name ?? ''),
      plan: (request) =>
        planScan(
          table,
          { kind: 'current' },
          { columns: undefined, filters: [], ...request },
          { tableName: 'c.s.t', manifests, footers },
        ),
    });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const idAtLeast = (value: bigint): ScanFilter => ({
  kind: 'compare',
  column: ['id'],
  operator: '>=',
  literal: { type: 'BIGINT', value },
});

const idBelow = (value: bigint): ScanFilter => ({
  kind: 'compare',
  column: ['id'],
  operator: '<',
  literal: { type: 'BIGINT', value },
});

test('a scan of everything needs the whole file and its footer only', () =>
  withTable('rows.parquet', async ({ plan, ranges }) => {
    const { groups, counts, columns } = await plan({});
    const file = groups[0]?.files[0];
    assert.equal(file?.rowGroups, undefined);
    assert.equal(file?.recordCount, 400);
    assert.deepEqual(
      groups[0]?.sources.map((source) => source.kind),
      columns.map(() => 'column'),
    );
    assert.deepEqual([counts.rowGroupsPlanned, counts.bytesPlanned], [8, file?.selectedBytes]);
    assert.equal(ranges.length, 1);
    await plan({});
    assert.equal(ranges.length, 1, 'the footer is kept');
  }));

test('a file is not read in place when the engine would be misled by a bloom filter of a column that is read', () =>
  withTable('fixed.parquet', async ({ plan }) => {
    const rowGroupsFor = async (column: string) =>
      (await plan({ columns: [[column]] })).groups[0]?.files[0]?.rowGroups;
    assert.deepEqual(await rowGroupsFor('few'), [0, 1, 2]);
    assert.deepEqual(await rowGroupsFor('list'), [0, 1, 2]);
    assert.deepEqual(await rowGroupsFor('ratio'), [0, 1, 2]);
    assert.equal(await rowGroupsFor('name'), undefined, 'text is read rightly');
    assert.equal(await rowGroupsFor('many'), undefined, 'it has no filter');
  }));

test('row groups and columns that are not needed are neither planned nor counted', () =>
  withTable('rows.parquet', async ({ plan }) => {
    const all = await plan({});
    const scan = await plan({ columns: [['ID'], ['place', 'city']], filters: [idAtLeast(350n)] });
    const file = scan.groups[0]?.files[0];
    assert.deepEqual([file?.rowGroups, file?.columnNames], [[7], ['id', 'place']]);
    assert.deepEqual(
      [scan.counts.rowGroupsTotal, scan.counts.rowGroupsPlanned, scan.counts.rowGroupsPrunedByStatistics],
      [8, 1, 7],
    );
    assert.ok(scan.counts.bytesPlanned * 8 < all.counts.bytesPlanned);
    assert.deepEqual(
      scan.groups[0]?.sources.map((source) => source.kind),
      ['column', 'constant', 'constant', 'constant', 'column', 'constant'],
    );
  }));

test('a file is left out when its row groups are, though its own bounds would keep it', () =>
  withTable('bloom.parquet', async ({ plan, ranges }) => {
    const filter: ScanFilter = {
      kind: 'compare',
      column: ['v'],
      operator: '=',
      literal: { type: 'VARCHAR', value: 'v1x' },
    };
    const { groups, counts } = await plan({ filters: [filter] });
    assert.deepEqual(groups, []);
    assert.deepEqual([counts.filesTotal, counts.filesPlanned, counts.filesPruned], [1, 0, 1]);
    assert.equal(counts.rowGroupsPrunedByBloom, 4);
    const readBefore = ranges.length;
    assert.equal((await plan({ filters: [filter] })).counts.rowGroupsPrunedByBloom, 4);
    assert.equal(ranges.length, readBefore, 'bloom filters are kept');
  }));

test('a query of no column plans the rows', () =>
  withTable('types.parquet', async ({ plan }) => {
    const { groups, counts } = await plan({ columns: [] });
    assert.deepEqual(
      [groups[0]?.files[0]?.columnNames, counts.bytesPlanned, counts.filesPlanned],
      [[], 0, 1],
    );
  }));

test('a count takes the manifest, and the footer where a filter cuts the file between row groups', () =>
  withTable('rows.parquet', async ({ plan, ranges }) => {
    const rows: RowUse = { kind: 'extremes', columns: [] };
    const all = await plan({ columns: [], use: { rows, rejected: { kind: 'or', filters: [] } } });
    assert.deepEqual([all.groups, all.counted?.rowCount, ranges.length], [[], 400, 0]);
    const filter = idAtLeast(350n);
    const some = await plan({ columns: [['id']], filters: [filter], use: { rows, rejected: idBelow(350n) } });
    assert.deepEqual([some.groups, some.counted?.rowCount, ranges.length], [[], 50, 1]);
    assert.deepEqual(some.counted?.low[0], { kind: 'constant', value: '350', type: { kind: 'long' } });
    const cut = await plan({
      columns: [['id']],
      filters: [idAtLeast(340n)],
      use: { rows, rejected: idBelow(340n) },
    });
    assert.deepEqual([cut.groups[0]?.files[0]?.rowGroups, cut.counted], [[6, 7], undefined]);
  }));

test('extremes take the footer, for types whose bounds are values', () =>
  withTable('rows.parquet', async ({ plan }) => {
    const rejected: ScanFilter = { kind: 'or', filters: [] };
    const extremes = (column: string) =>
      plan({ columns: [[column]], use: { rows: { kind: 'extremes', columns: [column] }, rejected } });
    const { groups, counted } = await extremes('id');
    assert.deepEqual([groups, counted?.rowCount], [[], 400]);
    const values = [counted?.low[0], counted?.high[0]].map(
      (source) => source?.kind === 'constant' && source.value,
    );
    assert.deepEqual(values, ['0', '399']);
    assert.equal((await extremes('name')).counted, undefined);
  }));

test('a damaged or missing data file is named', () =>
  withTable('rows.parquet', async ({ plan, dataFile }) => {
    await truncate(dataFile, 5000);
    const names = { message: new RegExp(dataFile.replaceAll('.', '\\.')) };
    await assert.rejects(plan({}), { code: 'DATA_CORRUPT', ...names });
    await appendFile(dataFile, Buffer.from('PAR1'));
    await assert.rejects(plan({}), { code: 'DATA_CORRUPT', ...names });
    await rm(dataFile);
    await assert.rejects(plan({}), { code: 'DATA_FILE_MISSING', ...names });
  }));
