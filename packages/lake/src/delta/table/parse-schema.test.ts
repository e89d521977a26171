import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printType } from '../../iceberg/spec/type-text.js';
import type { ColumnMappingMode } from './check-protocol.js';
import { parseDeltaSchema } from './parse-schema.js';

interface TestField {
  readonly name: string;
  readonly type: unknown;
  readonly nullable?: boolean;
  readonly metadata?: object;
}

function parse(fields: readonly TestField[], mode: ColumnMappingMode = 'none') {
  return parseDeltaSchema(JSON.stringify({ type: 'struct', fields }), mode, 'log');
}

const typeOf = (type: unknown) =>
  printType(parse([{ name: 'c', type }]).columns[0]?.type ?? { kind: 'unknown' });

test('types become those of the lake', () => {
  const names = [
    'byte',
    'short',
    'integer',
    'long',
    'string',
    'timestamp',
    'timestamp_ntz',
    'decimal(38,10)',
  ];
  assert.deepEqual([...names, 'varchar(5)', 'decimal'].map(typeOf), [
    'int',
    'int',
    'int',
    'long',
    'string',
    'timestamptz',
    'timestamp',
    'decimal(38, 10)',
    'string',
    'decimal(10, 0)',
  ]);
  for (const type of ['variant', 'interval day', 'decimal(39,2)', 'decimal(5,6)', { type: 'udt' }])
    assert.equal(parse([{ name: 'c', type }]).columns[0]?.type.kind, 'unsupported');
});

test('columns of no type are left out', () => {
  assert.deepEqual(
    parse([
      { name: 'a', type: 'void' },
      { name: 'b', type: 'long' },
    ]).columns.map(({ name }) => name),
    ['b'],
  );
});

test('ids are given out in order, or are those of the column mapping, all distinct', () => {
  const list = { type: 'array', elementType: 'long', containsNull: false };
  const plain = parse([
    { name: 'l', type: list, nullable: false },
    { name: 'b', type: 'long' },
  ]);
  assert.deepEqual(plain.columns, [
    {
      id: 1,
      name: 'l',
      required: true,
      type: { kind: 'list', elementId: 2, elementRequired: true, element: { kind: 'long' } },
    },
    { id: 3, name: 'b', required: false, type: { kind: 'long' } },
  ]);
  const mapping = (id: number, name: string) => ({
    'delta.columnMapping.id': id,
    'delta.columnMapping.physicalName': name,
  });
  const inner = { type: 'struct', fields: [{ name: 'x', type: 'long', metadata: mapping(9, 'p9') }] };
  const mapped = parse(
    [
      { name: 'l', type: list, metadata: mapping(1, 'p1') },
      { name: 's', type: inner, metadata: mapping(2, 'p2') },
    ],
    'name',
  );
  assert.deepEqual(mapped.columns[0]?.type, {
    kind: 'list',
    elementId: 10,
    elementRequired: true,
    element: { kind: 'long' },
  });
  assert.deepEqual(mapped.physicalPaths.get(9), ['p2', 'p9']);
  const corrupt = { code: 'DATA_CORRUPT' };
  const twice = [1, 1].map((id, index) => ({
    name: `c${index}`,
    type: 'long',
    metadata: mapping(id, `p${index}`),
  }));
  assert.throws(() => parse(twice, 'id'), { ...corrupt, message: /columnMapping\.id 1 of another field/ });
  assert.throws(() => parse([{ name: 'a', type: 'long' }], 'id'), { ...corrupt, message: /physicalName/ });
});

test('names that differ in case only are damage', () => {
  const fields = ['a', 'A'].map((name) => ({ name, type: 'long' }));
  assert.throws(() => parse(fields), { code: 'DATA_CORRUPT', message: /name A of another field/ });
});

test('changes of types that older files can be read under are taken, others refused by name', () => {
  const changed = (fromType: string, toType: string) =>
    parse([{ name: 'c', type: toType, metadata: { 'delta.typeChanges': [{ fromType, toType }] } }]);
  const taken: readonly (readonly [string, string])[] = [
    ['byte', 'long'],
    ['float', 'double'],
    ['date', 'timestamp_ntz'],
    ['decimal(5,2)', 'decimal(10,2)'],
  ];
  for (const [from, to] of taken) assert.deepEqual([...changed(from, to).changedTypes], [1]);
  const refused: readonly (readonly [string, string])[] = [
    ['integer', 'double'],
    ['long', 'decimal(20,0)'],
    ['decimal(5,2)', 'decimal(10,3)'],
    ['long', 'integer'],
  ];
  for (const [from, to] of refused)
    assert.throws(() => changed(from, to), {
      code: 'UNSUPPORTED_TABLE_FEATURE',
      message: /Column c was changed from/,
    });
});
