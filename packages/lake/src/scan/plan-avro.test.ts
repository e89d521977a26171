import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ScanRequest } from '@svc/sql';
import { parquetReadObjects } from 'hyparquet';
import { avroData, type Field, optional, recordOf, type Schema } from '../avro-files/testing/avro-data.js';
import { createMetadataFiles } from '../iceberg/cache/metadata-files.js';
import { nameMappingProperty } from '../iceberg/spec/name-mapping.js';
import { parsePrimitiveType } from '../iceberg/spec/type-text.js';
import type { IcebergType, NestedField } from '../iceberg/spec/types.js';
import { type FixtureTable, fixtureTable, plainFile } from '../iceberg/testing/table-fixture.js';
import { createFooterCache } from '../parquet/footer-cache.js';
import { stageScan } from '../staging/stage-scan.js';
import { openStagingCache } from '../staging/staging-cache.js';
import { planScan } from './plan-scan.js';
import type { ColumnSource, TableScan } from './table-scan.js';

const unpartitioned = { spec: { specId: 0, fields: [] }, types: [] };
const everything: ScanRequest = { columns: undefined, filters: [] };
const everyRow: ScanRequest = {
  columns: [],
  filters: [],
  use: { rows: { kind: 'extremes', columns: [] }, rejected: { kind: 'or', filters: [] } },
};

function typeOf(text: string): IcebergType {
  return parsePrimitiveType(text) ?? assert.fail(`${text} is no type`);
}

function fieldOf(id: number, name: string, type: IcebergType | string): NestedField {
  return { id, name, required: false, type: typeof type === 'string' ? typeOf(type) : type };
}

function tableOf(fields: readonly NestedField[], file: Uint8Array, rowCount = 1): FixtureTable {
  const { metrics } = plainFile('');
  const added = plainFile('mem/data.avro', {
    format: 'AVRO',
    metrics: { ...metrics, recordCount: rowCount },
  });
  const table = fixtureTable(fields, unpartitioned, [{ files: [added] }]);
  table.store.objects.set('mem/data.avro', file);
  return table;
}

function plan(table: FixtureTable, request: ScanRequest = everything): Promise<TableScan> {
  return planScan(table, { kind: 'current' }, request, {
    ...{ tableName: 'c.s.t', manifests: createMetadataFiles(1 << 20) },
    footers: createFooterCache({ maxBytes: 1 << 20 }),
  });
}

async function sourcesOf(
  fields: readonly NestedField[],
  written: readonly Field[],
): Promise<readonly ColumnSource[]> {
  const scan = await plan(tableOf(fields, avroData(recordOf(written), [])));
  return scan.groups[0]?.sources ?? [];
}

const long = (logicalType: string, more = {}): Schema => ({ type: 'long', logicalType, ...more });
const fixed = (size: number, more = {}): Schema => ({ type: 'fixed', name: `f${size}`, size, ...more });
const utc = { 'adjust-to-utc': true };
const decimal = { logicalType: 'decimal', precision: 9, scale: 2 };

/** What Iceberg writes (specification, Appendix A), and what other writers do for the same. */
const exactTypes: readonly (readonly [type: string, written: Schema])[] = [
  ['boolean', 'boolean'],
  ['int', 'int'],
  ['long', 'long'],
  ['float', 'float'],
  ['double', 'double'],
  ['decimal(9, 2)', fixed(4, decimal)],
  ['decimal(9, 2)', { type: 'bytes', ...decimal }],
  ['date', { type: 'int', logicalType: 'date' }],
  ['time', long('time-micros')],
  ['timestamp', long('timestamp-micros', { 'adjust-to-utc': false })],
  ['timestamp', long('local-timestamp-micros')],
  ['timestamptz', long('timestamp-micros', utc)],
  ['timestamp_ns', long('timestamp-nanos')],
  ['timestamptz_ns', long('timestamp-nanos', utc)],
  ['string', 'string'],
  ['string', { type: 'enum', name: 'e', symbols: ['a'] }],
  ['uuid', fixed(16, { logicalType: 'uuid' })],
  ['fixed[4]', fixed(4)],
  ['binary', 'bytes'],
];

test('values of every type are read as they stand', async () => {
  for (const [type, written] of exactTypes) {
    const [source] = await sourcesOf(
      [fieldOf(1, 'a', type)],
      [{ name: 'b', type: optional(written), 'field-id': 1 }],
    );
    assert.deepEqual(source, { kind: 'column', name: 'b', isExactType: true, type: typeOf(type) }, type);
  }
});

test('promoted types are cast, and times that do not say their zone are in UTC', async () => {
  const promoted: readonly (readonly [string, Schema, string | undefined])[] = [
    ['long', 'int', undefined],
    ['double', 'float', undefined],
    ['decimal(20, 2)', fixed(4, decimal), undefined],
    ['timestamp', { type: 'int', logicalType: 'date' }, undefined],
    ['timestamptz', long('timestamp-micros'), 'at-utc'],
    ['timestamp', long('timestamp-micros', utc), 'at-utc'],
  ];
  for (const [type, written, conversion] of promoted) {
    const [source] = await sourcesOf([fieldOf(1, 'a', type)], [{ name: 'a', type: written, 'field-id': 1 }]);
    assert.deepEqual(
      source,
      {
        kind: 'column',
        name: 'a',
        isExactType: false,
        ...(conversion && { conversion }),
        type: typeOf(type),
      },
      type,
    );
  }
});

test('a type that is no promotion, or several types in one, is an error that names the column and the file', async () => {
  const errors: readonly (readonly [Schema, string, RegExp])[] = [
    [
      'string',
      'DATA_CORRUPT',
      /Column a is int in the table, but BYTE_ARRAY .* in the data file mem\/data\.avro/,
    ],
    [
      ['null', 'int', 'string'],
      'UNSUPPORTED_TABLE_FEATURE',
      /Column a of the data file mem\/data\.avro .* cannot be read/,
    ],
  ];
  for (const [type, code, message] of errors)
    await assert.rejects(sourcesOf([fieldOf(1, 'a', 'int')], [{ name: 'a', type, 'field-id': 1 }]), {
      code,
      message,
    });
});

test('fields are found by their ids at every level, and by the name mapping where there are none', async () => {
  const inner = (id: number, name: string): Field => ({
    name,
    type: optional('int'),
    ...(id > 0 && { 'field-id': id }),
  });
  const written = (hasIds: boolean): readonly Field[] => [
    {
      ...{
        name: 'old',
        type: optional({ type: 'record', name: 's', fields: [inner(hasIds ? 10 : 0, 'x'), inner(0, 'y')] }),
      },
      ...(hasIds && { 'field-id': 1 }),
    },
  ];
  const type: IcebergType = {
    kind: 'struct',
    fields: [fieldOf(11, 'late', 'int'), fieldOf(10, 'a', 'long')],
  };
  const fields = [fieldOf(1, 's', type), fieldOf(2, 'new', 'string')];
  const expected: readonly ColumnSource[] = [
    {
      ...{ kind: 'struct', name: 'old', type },
      fields: [
        { name: 'late', source: { kind: 'constant', value: null, type: typeOf('int') } },
        { name: 'a', source: { kind: 'column', name: 'x', isExactType: false, type: typeOf('long') } },
      ],
    },
    { kind: 'constant', value: null, type: typeOf('string') },
  ];
  assert.deepEqual(await sourcesOf(fields, written(true)), expected);
  await assert.rejects(sourcesOf(fields, written(false)), {
    code: 'UNSUPPORTED_TABLE_FEATURE',
    message: /mem\/data\.avro has no field ids/,
  });
  const table = tableOf(fields, avroData(recordOf(written(false)), []));
  const mapping = [{ 'field-id': 1, names: ['old'], fields: [{ 'field-id': 10, names: ['x'] }] }];
  const properties = new Map([[nameMappingProperty, JSON.stringify(mapping)]]);
  const mapped = await plan({ ...table, metadata: { ...table.metadata, properties } });
  assert.deepEqual(mapped.groups[0]?.sources, expected);
});

test('a file of another format is refused where it is read only', async () => {
  const orc = plainFile('mem/data.orc', { format: 'ORC' });
  const table = fixtureTable([fieldOf(1, 'id', 'int')], unpartitioned, [{ files: [orc] }]);
  await assert.rejects(plan(table), {
    code: 'UNSUPPORTED_TABLE_FEATURE',
    message: 'The data file mem/data.orc of table c.s.t has the format ORC; Parquet and Avro are read.',
  });
  assert.equal((await plan(table, everyRow)).counted?.rowCount, 10);
});

test('rows of Avro files are counted by metadata', async () => {
  const table = tableOf([fieldOf(1, 'id', 'int')], Buffer.from('not looked at'), 3);
  assert.equal((await plan(table, everyRow)).counted?.rowCount, 3);
});

test('a file that is no Avro file is named', async () => {
  for (const file of ['', 'Obj', 'Obj\x01', 'PAR1 and more than four bytes'])
    await assert.rejects(plan(tableOf([fieldOf(1, 'id', 'int')], Buffer.from(file, 'latin1'))), {
      code: 'DATA_CORRUPT',
      message: /^mem\/data\.avro is not a valid Avro file: /,
    });
});

test('columns are staged once, are found again, and grow by what another query reads', async () => {
  const schema = recordOf(
    ['a', 'b', 'c'].map((name, index) => ({ name, type: 'int', 'field-id': index + 1 })),
  );
  const data = Array.from({ length: 100 }, (_unused, index) => ({ a: index, b: 100 - index, c: 7 }));
  const table = tableOf(
    ['a', 'b', 'c'].map((name, index) => fieldOf(index + 1, name, 'int')),
    avroData(schema, data),
    100,
  );
  const root = await mkdtemp(join(tmpdir(), 'plan-avro-'));
  try {
    await mkdir(join(root, 'lease'));
    const cache = await openStagingCache({ folder: join(root, 'cache'), maxBytes: 1 << 20 });
    const stage = async (columns: readonly string[]) => {
      const scan = await plan(table, { columns: columns.map((name) => [name]), filters: [] });
      const footers = createFooterCache({ maxBytes: 1 << 20 });
      const staged = await stageScan(scan, {
        store: table.store,
        cache,
        footers,
        directory: join(root, 'lease'),
      });
      const [path = ''] = staged.groups[0]?.paths ?? [];
      const rows = await parquetReadObjects({ file: Uint8Array.from(await readFile(path)).buffer });
      return { rows, isFetched: staged.bytesFetched > 0, hasRowDelta: staged.groups[0]?.hasRowDelta };
    };
    const chosen = (columns: readonly ('a' | 'b' | 'c')[]) =>
      data.map((row) => ({
        ...Object.fromEntries(columns.map((name) => [name, row[name]])),
        __row_delta: 0n,
      }));
    assert.deepEqual(await stage(['a']), { rows: chosen(['a']), isFetched: true, hasRowDelta: true });
    assert.equal((await stage(['a'])).isFetched, false);
    assert.deepEqual(await stage(['b']), { rows: chosen(['a', 'b']), isFetched: true, hasRowDelta: true });
    assert.equal((await stage(['b', 'a'])).isFetched, false);
    assert.equal(cache.stats().entries, 1);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

test('what does not fit into the staging space is an error that names the file, and leaves nothing', async () => {
  const schema = recordOf([{ name: 'a', type: 'string', 'field-id': 1 }]);
  const data = Array.from({ length: 500 }, () => ({ a: 'x'.repeat(1000) }));
  const table = tableOf([fieldOf(1, 'a', 'string')], avroData(schema, data), 500);
  const root = await mkdtemp(join(tmpdir(), 'plan-avro-'));
  try {
    const cache = await openStagingCache({ folder: join(root, 'cache'), maxBytes: 100_000 });
    const footers = createFooterCache({ maxBytes: 1 << 20 });
    await assert.rejects(
      stageScan(await plan(table), { store: table.store, cache, footers, directory: root }),
      { code: 'DISK_FULL', message: /^Staging mem\/data\.avro, beyond its first \d+ bytes, needs \d+ bytes/ },
    );
    assert.deepEqual([cache.stats().bytes, cache.unusedBytes()], [0, 100_000]);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
