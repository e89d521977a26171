import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonNumber } from '../iceberg/spec/lossless-json.js';
import { parseNameMapping } from '../iceberg/spec/name-mapping.js';
import { lastUpdatedField, rowIdField } from '../iceberg/spec/row-lineage.js';
import type { IcebergType, NestedField, PrimitiveTypeName } from '../iceberg/spec/types.js';
import { storeWith } from '../parquet/fakes/memory-store.js';
import { readFooter } from '../parquet/read-footer.js';
import { type ColumnMapping, type MappingRequest, mapColumns, matchFile } from './column-mapping.js';
import type { NameMapping } from './field-matching.js';

const field = (id: number, name: string, type: IcebergType | PrimitiveTypeName): NestedField => ({
  id,
  name,
  required: false,
  type: typeof type === 'string' ? { kind: type } : type,
});

interface Change extends Partial<MappingRequest> {
  readonly nameMapping?: NameMapping;
}

async function map(
  file: string,
  fields: readonly NestedField[],
  change: Change = {},
): Promise<ColumnMapping> {
  const store = storeWith(file);
  const { schema } = await readFooter(store, await store.head(file));
  const wanted = new Set(fields.map(({ id }) => id));
  const request = { fields, wanted, partitionValues: new Map(), ...change };
  return mapColumns(request, matchFile(schema, change.nameMapping), file);
}

const mappingOf = (...names: readonly (readonly [number, string])[]): NameMapping =>
  parseNameMapping(JSON.stringify(names.map(([id, name]) => ({ 'field-id': id, names: [name] }))), 't');

test('columns are found by field id, whatever they are called and in whatever order', async () => {
  const day = field(4, 'when', 'date');
  const id = field(1, 'number', 'long');
  const { sources, columnNames } = await map('rows.parquet', [day, id]);
  assert.deepEqual(sources, [
    { kind: 'column', name: 'day', isExactType: true, type: day.type },
    { kind: 'column', name: 'id', isExactType: true, type: id.type },
  ]);
  assert.deepEqual(columnNames, ['day', 'id']);
});

test('columns added since are NULL or their initial default; columns not wanted are NULL and not read', async () => {
  const added = { ...field(20, 'added', 'long'), initialDefault: jsonNumber(2n ** 60n) };
  const fields = [field(21, 'id', 'string'), added, field(1, 'id2', 'long')];
  const { sources, columnNames } = await map('rows.parquet', fields, { wanted: new Set([20, 21]) });
  assert.deepEqual(sources, [
    { kind: 'constant', value: null, type: { kind: 'string' } },
    { kind: 'constant', value: '1152921504606846976', type: { kind: 'long' } },
    { kind: 'constant', value: null, type: { kind: 'long' } },
  ]);
  assert.deepEqual(columnNames, []);
});

test('row ids and sequence numbers are inherited, unless the file has them', async () => {
  const stored = await map('rows.parquet', [rowIdField, lastUpdatedField], {
    nameMapping: mappingOf([rowIdField.id, 'none']),
  });
  assert.deepEqual(stored.sources, [
    { kind: 'row-id', stored: undefined, type: rowIdField.type },
    { kind: 'sequence-number', stored: undefined, type: rowIdField.type },
  ]);
  const { sources, columnNames } = await map('types.parquet', [rowIdField], {
    nameMapping: mappingOf([rowIdField.id, 'i']),
  });
  const column = { kind: 'column', name: 'i', isExactType: false, type: rowIdField.type };
  assert.deepEqual(sources, [{ kind: 'row-id', stored: column, type: rowIdField.type }]);
  assert.deepEqual(columnNames, ['i']);
});

test('promoted columns are cast', async () => {
  const decimal: IcebergType = { kind: 'decimal', precision: 18, scale: 2 };
  const { sources } = await map('rows.parquet', [field(3, 'price', decimal)]);
  assert.deepEqual(sources, [{ kind: 'column', name: 'price', isExactType: false, type: decimal }]);
  const wide = await map('types.parquet', [field(1, 'i', 'long'), field(2, 'f', 'double')], {
    nameMapping: mappingOf([1, 'i'], [2, 'f']),
  });
  assert.deepEqual(
    wide.sources.map((source) => source.kind === 'column' && source.isExactType),
    [false, false],
  );
});

test('a struct with the same fields is read as it is; another one is made field by field', async () => {
  const same: IcebergType = { kind: 'struct', fields: [field(6, 'city', 'string'), field(7, 'zip', 'int')] };
  const changed: IcebergType = {
    kind: 'struct',
    fields: [field(7, 'code', 'long'), field(30, 'country', 'string'), field(6, 'city', 'string')],
  };
  const [asIs] = (await map('rows.parquet', [field(5, 'place', same)])).sources;
  assert.deepEqual(asIs, { kind: 'column', name: 'place', isExactType: true, type: same });
  const [made] = (await map('rows.parquet', [field(5, 'place', changed)])).sources;
  assert.deepEqual(made, {
    kind: 'struct',
    name: 'place',
    type: changed,
    fields: [
      { name: 'code', source: { kind: 'column', name: 'zip', isExactType: false, type: { kind: 'long' } } },
      { name: 'country', source: { kind: 'constant', value: null, type: { kind: 'string' } } },
      { name: 'city', source: { kind: 'column', name: 'city', isExactType: true, type: { kind: 'string' } } },
    ],
  });
  const fewer: IcebergType = { kind: 'struct', fields: [field(6, 'city', 'string')] };
  assert.equal((await map('rows.parquet', [field(5, 'place', fewer)])).sources[0]?.kind, 'struct');
});

test('lists and maps are re-made only when something inside changed', async () => {
  const list = (element: PrimitiveTypeName): IcebergType => ({
    kind: 'list',
    elementId: 9,
    elementRequired: false,
    element: { kind: element },
  });
  assert.equal((await map('rows.parquet', [field(8, 'tags', list('string'))])).sources[0]?.kind, 'column');
  await assert.rejects(map('rows.parquet', [field(8, 'tags', list('long'))]), {
    code: 'DATA_CORRUPT',
    message: /tags\.element/,
  });
  const map2: IcebergType = {
    kind: 'map',
    keyId: 2,
    key: { kind: 'string' },
    valueId: 3,
    valueRequired: false,
    value: { kind: 'long' },
  };
  const { sources } = await map('types.parquet', [field(1, 'm', map2)], {
    nameMapping: mappingOf([1, 'map']),
  });
  assert.deepEqual(sources, [
    {
      kind: 'map',
      name: 'map',
      type: map2,
      key: { kind: 'column', name: 'key', isExactType: true, type: { kind: 'string' } },
      value: { kind: 'column', name: 'value', isExactType: false, type: { kind: 'long' } },
    },
  ]);
});

test('a file without ids is read by the name mapping, and refused without one', async () => {
  const fields = [field(7, 'renamed', 'string'), field(8, 'gone', 'int')];
  const { sources } = await map('types.parquet', fields, { nameMapping: mappingOf([7, 'text']) });
  assert.deepEqual(
    sources.map((source) => source.kind),
    ['column', 'constant'],
  );
  await assert.rejects(map('types.parquet', fields), {
    code: 'UNSUPPORTED_TABLE_FEATURE',
    message: /types\.parquet has no field ids.*schema\.name-mapping\.default/,
  });
});

test('ids of the file win over mapped names', async () => {
  const { sources } = await map('rows.parquet', [field(1, 'x', 'long')], {
    nameMapping: mappingOf([1, 'day']),
  });
  assert.equal(sources[0]?.kind === 'column' && sources[0].name, 'id');
});

test('a partition value stands in for a column that the file lacks, never for one that it has', async () => {
  const partitionValues = new Map([
    [1, jsonNumber(5)],
    [40, jsonNumber(6)],
  ]);
  const fields = [field(1, 'id', 'long'), field(40, 'part', 'int')];
  const { sources, leaves } = await map('rows.parquet', fields, { partitionValues });
  assert.equal(sources[0]?.kind, 'column');
  assert.deepEqual(sources[1], { kind: 'constant', value: '6', type: { kind: 'int' } });
  assert.equal(leaves.has(40), false);
});

test('filters find the physical columns, also in structs, and know columns that are all NULL', async () => {
  const place: IcebergType = { kind: 'struct', fields: [field(7, 'zip', 'int'), field(31, 'new', 'int')] };
  const missing: IcebergType = { kind: 'struct', fields: [field(33, 'inner', 'int')] };
  const { leaves } = await map(
    'rows.parquet',
    [field(5, 'place', place), field(32, 'missing', missing), field(8, 'tags', 'int')],
    {
      wanted: new Set([5]),
    },
  );
  assert.equal(leaves.get(7)?.name, 'zip');
  assert.deepEqual([leaves.get(31), leaves.get(33), leaves.has(8)], [null, null, false]);
});

test('a column of a type that the table’s cannot have been is refused by name', async () => {
  await assert.rejects(map('rows.parquet', [field(1, 'id', 'string')]), {
    code: 'DATA_CORRUPT',
    message: /Column id is string in the table, but INT64 in the data file rows\.parquet/,
  });
  await assert.rejects(map('rows.parquet', [field(5, 'place', 'int')]), {
    message: /a struct in the data file/,
  });
  assert.ok(await map('rows.parquet', [field(1, 'id', 'string')], { wanted: new Set() }));
});

test('times without a zone of their own are read in UTC, whatever the session’s zone', async () => {
  const names = ['ts_us', 'tz_us', 'ts_ns', 'ts_ms'] as const;
  const nameMapping = mappingOf(...names.map((name, index) => [index + 1, name] as const));
  const read = async (type: PrimitiveTypeName) => {
    const { sources } = await map(
      'types.parquet',
      names.map((name, index) => field(index + 1, name, type)),
      { nameMapping },
    );
    return sources.map(
      (source) => source.kind === 'column' && (source.isExactType || (source.conversion ?? 'cast')),
    );
  };
  assert.deepEqual(await read('timestamp'), [true, 'at-utc', 'cast', true]);
  assert.deepEqual(await read('timestamptz'), ['at-utc', true, 'at-utc', 'at-utc']);
  assert.deepEqual(await read('timestamp_ns'), ['cast', 'at-utc', true, 'cast']);
  const old = await map('int96.parquet', [field(1, 'ts', 'timestamptz')], {
    nameMapping: mappingOf([1, 'ts']),
  });
  assert.deepEqual(old.sources[0], {
    kind: 'column',
    name: 'ts',
    isExactType: false,
    conversion: 'at-utc',
    type: { kind: 'timestamptz' },
  });
});
