import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScanFilter, ScanRequest } from '@svc/sql';
import { type MemoryStore, testFile } from '../parquet/fakes/memory-store.js';
import { createFooterCache } from '../parquet/footer-cache.js';
import { loadDeltaTable } from './load-delta-table.js';
import { planDeltaScan } from './plan-delta-scan.js';
import { added, field, goldenStore, metadata, protocol, root, storeOf } from './testing/delta-log.js';

const literal = (type: string, value: bigint | string) => ({ type, value });

function compare(
  column: string,
  operator: '=' | '<' | '>' | '>=',
  value: bigint | string,
  type = typeof value === 'string' ? 'VARCHAR' : 'BIGINT',
): ScanFilter {
  return { kind: 'compare', column: [column], operator, literal: literal(type, value) };
}

async function plan(
  store: MemoryStore,
  filters: readonly ScanFilter[] = [],
  more: Partial<ScanRequest> = {},
) {
  const table = await loadDeltaTable(store, root);
  store.forgetCounts();
  const footers = createFooterCache({ maxBytes: 1 << 20 });
  return await planDeltaScan(table, { columns: undefined, filters, ...more }, { tableName: 't', footers });
}

async function plannedPaths(
  store: MemoryStore,
  ...filters: readonly ScanFilter[]
): Promise<readonly string[]> {
  const { groups } = await plan(store, filters);
  return groups.flatMap(({ files }) => files.map(({ location }) => location.slice(root.length + 1))).sort();
}

/** Files of one column `id`, whose real content is that of rows.parquet: what is pruned is not opened. */
function numbered(statistics: Readonly<Record<string, string | undefined>>): MemoryStore {
  const names = Object.keys(statistics);
  const store = storeOf([
    [protocol, metadata(), ...names.map((name) => added(name, { stats: statistics[name] }))],
  ]);
  for (const name of names) store.put(`${root}/${name}`, testFile('rows.parquet'));
  return store;
}

const between = (low: number | bigint, high: number | bigint, nulls = 0) =>
  `{"numRecords":400,"minValues":{"id":${low}},"maxValues":{"id":${high}},"nullCount":{"id":${nulls}}}`;

test('files that statistics refute are neither opened nor planned', async () => {
  const store = numbered({ low: between(0, 99), high: between(100, 399), silent: undefined });
  assert.deepEqual(await plannedPaths(store, compare('id', '=', 250n)), ['high', 'silent']);
  assert.equal(store.headCount, 2);
  const { counts } = await plan(store, [compare('id', '=', 250n)]);
  assert.deepEqual([counts.filesTotal, counts.filesPlanned, counts.filesPruned], [3, 2, 1]);
});

test('statistics of 64-bit numbers are compared to the last digit', async () => {
  const [low, high] = [9007199254740993n, 9007199254740995n];
  const store = numbered({ a: between(low, high) });
  for (const value of [low - 1n, high + 1n]) {
    await plan(store, [compare('id', '=', value)]);
    assert.equal(store.headCount, 0);
  }
  await plan(store, [compare('id', '=', low)]);
  assert.equal(store.headCount, 1);
});

test('row groups of files that remain are pruned by their footers', async () => {
  const { groups, counts } = await plan(numbered({ silent: undefined }), [compare('id', '>=', 350n)]);
  assert.deepEqual(groups[0]?.files[0]?.rowGroups, [7]);
  assert.deepEqual([counts.rowGroupsTotal, counts.rowGroupsPlanned], [8, 1]);
});

test('partition values prune, and stand in for columns whatever is in the file', async () => {
  const store = goldenStore('partitioned');
  assert.equal((await plannedPaths(store, compare('l', '=', 2n ** 63n - 1n))).length, 1);
  assert.equal((await plannedPaths(store, compare('t', '=', "it's"))).length, 1);
  assert.equal((await plannedPaths(store, { kind: 'is-null', column: ['day'] })).length, 1);
  assert.equal((await plannedPaths(store, { kind: 'is-not-null', column: ['i'] })).length, 2);
  assert.equal((await plannedPaths(store, compare('i', '>', 100n))).length, 0);
  const withId = storeOf([
    [
      protocol,
      metadata([field('id', 'long'), field('day', 'date')], { partitionColumns: ['id'] }),
      added('f', { partitionValues: { id: '7' } }),
    ],
  ]);
  withId.put(`${root}/f`, testFile('rows.parquet'));
  const [id, day] = (await plan(withId)).groups[0]?.sources ?? [];
  assert.deepEqual(id, { kind: 'constant', value: '7', type: { kind: 'long' } });
  assert.equal(day?.kind, 'column');
});

test('a partition value that is none of its type is damage, and named', async () => {
  const partitioned = metadata([field('id', 'long')], { partitionColumns: ['id'] });
  const store = storeOf([[protocol, partitioned, added('f', { partitionValues: { id: 'seven' } })]]);
  await assert.rejects(plan(store), {
    code: 'DATA_CORRUPT',
    message: /00000\.json, line 3: the file f has the partition value "seven".*column id/,
  });
});

test('columns are found by physical name or by id, as the mapping says', async () => {
  for (const name of ['mapped-name', 'mapped-id']) {
    const store = goldenStore(name);
    const { groups, columns } = await plan(store);
    assert.deepEqual(
      columns.map((column) => column.name),
      ['Renamed Id', 'place, new', 'part', 'later'],
    );
    assert.deepEqual(
      groups[0]?.sources.map((source) =>
        'name' in source ? source.name : 'value' in source && source.value,
      ),
      ['p-id', 'p-place', 'one', null],
    );
    assert.deepEqual(await plannedPaths(store, compare('renamed id', '>=', 4n)), ['f4.parquet'], name);
  }
});

test('a file without ids is refused in the mapping by id', async () => {
  const store = goldenStore('mapped-id');
  store.put(`${root}/f0.parquet`, testFile('types.parquet'));
  await assert.rejects(plan(store), { code: 'DATA_CORRUPT', message: /f0\.parquet has no field ids/ });
});

test('bounds from before a type was widened do not prune', async () => {
  const exact = {
    kind: 'compare',
    column: ['f'],
    operator: '=',
    literal: { type: 'DOUBLE', value: Math.fround(0.1) },
  } as const;
  assert.deepEqual(await plannedPaths(goldenStore('widened'), exact), ['old.parquet']);
});

test('files of which all rows were deleted are not opened', async () => {
  const planned = await plannedPaths(goldenStore('vectors'));
  assert.deepEqual(planned, ['a.parquet', 'b.parquet', 'c.parquet', 'e.parquet']);
});

test('a column of a type that is not read is refused where it is wanted only', async () => {
  const store = storeOf([[protocol, metadata([field('id', 'long'), field('v', 'variant')]), added('f')]]);
  store.put(`${root}/f`, testFile('rows.parquet'));
  await assert.rejects(plan(store), {
    code: 'UNSUPPORTED_TABLE_FEATURE',
    message: /Column v of table t.*variant/,
  });
  const { groups } = await plan(store, [], { columns: [['id']] });
  assert.deepEqual(groups[0]?.files[0]?.columnNames, ['id']);
});

test('files that are missing, elsewhere or outside are named', async () => {
  const withFile = (path: string) => storeOf([[protocol, metadata(), added(path)]]);
  await assert.rejects(plan(withFile('gone')), { code: 'DATA_FILE_MISSING', message: /table\/gone/ });
  await assert.rejects(plan(withFile('../x')), { code: 'DATA_CORRUPT', message: /line 3 names the file/ });
  await assert.rejects(plan(withFile('s3://other/x')), { code: 'UNSUPPORTED_TABLE_FEATURE' });
});

test('deletion vectors that cannot be are damage, and named', async () => {
  const vector = {
    storageType: 'u',
    pathOrInlineDv: 'ab^-aqEH.-t@S}K{vb[*k^',
    offset: 4,
    sizeInBytes: 40,
    cardinality: 6,
  };
  const withVector = (more: object) => {
    const file = added('f', { deletionVector: { ...vector, ...more } });
    const store = storeOf([[protocol, metadata(), file]]);
    store.put(`${root}/f`, testFile('rows.parquet'));
    return store;
  };
  const { groups } = await plan(withVector({}));
  assert.deepEqual(groups[0]?.files[0]?.deletedRows, {
    rowCount: 6,
    bitmap: {
      kind: 'stored',
      location: `${root}/ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin`,
      start: 4,
      end: 52,
    },
  });
  const wrong = [
    { storageType: 'x' },
    { pathOrInlineDv: 'short' },
    { pathOrInlineDv: '~~~~~~~~~~~~~~~~~~~~' },
    { pathOrInlineDv: '../^-aqEH.-t@S}K{vb[*k^' },
    { offset: -1 },
    { sizeInBytes: 0 },
    { cardinality: -5 },
    { storageType: 'i', pathOrInlineDv: 'abc' },
    { storageType: 'i', pathOrInlineDv: 'abcde' },
  ];
  for (const more of wrong)
    await assert.rejects(plan(withVector(more)), { code: 'DATA_CORRUPT' }, JSON.stringify(more));
});
