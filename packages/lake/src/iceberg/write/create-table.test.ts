import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldIdsOf } from '../spec/field-ids.js';
import type { ColumnType } from './column-definition.js';
import { newTable, type TableDefinition } from './create-table.js';

const place = { tableUuid: 'u', location: '/w/t' };
const int: ColumnType = { kind: 'int' };
const text: ColumnType = { kind: 'string' };

function define(definition: Partial<TableDefinition>) {
  return newTable({ columns: [{ name: 'a', type: int }], ...definition }, place);
}

test('gives field ids level by level', () => {
  const point: ColumnType = {
    kind: 'struct',
    fields: [
      { name: 'x', type: int },
      { name: 'y', type: int },
    ],
  };
  const { schema, lastColumnId } = define({
    columns: [
      { name: 'l', type: { kind: 'list', element: point, elementRequired: true } },
      { name: 'm', type: { kind: 'map', key: text, value: { kind: 'list', element: text } } },
      { name: 's', type: point, required: true, doc: 'a point' },
    ],
  });
  assert.deepEqual(fieldIdsOf(schema.fields), [1, 4, 5, 6, 2, 7, 8, 9, 3, 10, 11]);
  assert.equal(lastColumnId, 11);
  assert.deepEqual([schema.fields[2]?.required, schema.fields[2]?.doc], [true, 'a point']);
});

test('names partition fields after column and transform, and apart from columns', () => {
  const { partitionSpec } = define({
    columns: [
      { name: 'at', type: { kind: 'timestamp' } },
      { name: 'at_month', type: int },
      { name: 's', type: { kind: 'struct', fields: [{ name: 'Key', type: text }] } },
    ],
    partitions: [
      { column: ['AT'], transform: 'month' },
      { column: ['s', 'key'], transform: 'truncate[2]' },
      { column: ['at_month'], transform: 'identity' },
      { column: ['at'], transform: 'void', name: 'gone' },
    ],
  });
  assert.deepEqual(
    partitionSpec.fields.map((field) => [field.fieldId, field.sourceIds[0], field.name]),
    [
      [1000, 1, 'at_month_2'],
      [1001, 4, 's.Key_trunc'],
      [1002, 2, 'at_month'],
      [1003, 1, 'gone'],
    ],
  );
});

test('takes the format version from the property of that name', () => {
  const table = define({ properties: { 'format-version': '1', other: 'x' } });
  assert.deepEqual([table.formatVersion, table.properties], [1, { other: 'x' }]);
});

const wrong: readonly (readonly [string, Partial<TableDefinition>, RegExp])[] = [
  ['no columns', { columns: [] }, /at least one column/],
  ['an empty name', { columns: [{ name: '', type: int }] }, /has no name/],
  ['a name twice', { columns: [column('a', int), column('A', int)] }, /"a" and "A" differ only in case/],
  ['a NUL in a name', { columns: [column('a\0', int)] }, /NUL character/],
  ['a lone surrogate', { columns: [column('a\ud800', int)] }, /broken Unicode/],
  [
    'a path that means two columns',
    { columns: [column('a.b', int), column('a', { kind: 'struct', fields: [column('b', int)] })] },
    /"a.b" means two columns/,
  ],
  ['an empty struct', { columns: [column('s', { kind: 'struct', fields: [] })] }, /without fields/],
  [
    'a later type',
    { columns: [column('n', { kind: 'timestamp_ns' })] },
    /"n" has the type timestamp_ns.*version 3/,
  ],
  [
    'a wrong decimal',
    { columns: [column('d', { kind: 'decimal', precision: 39, scale: 2 })] },
    /"d".*38 digits/,
  ],
  ['a wrong fixed', { columns: [column('f', { kind: 'fixed', length: 0 })] }, /"f" has the type fixed\[0\]/],
  [
    'an unknown column',
    { partitions: [{ column: ['b'], transform: 'identity' }] },
    /by column "b": there is none/,
  ],
  ['an unknown transform', { partitions: [by('a', 'hash[3]')] }, /"hash\[3\]": there are identity/],
  ['zero buckets', { partitions: [by('a', 'bucket[0]')] }, /"bucket\[0\]"/],
  [
    'a type the transform does not take',
    { partitions: [by('a', 'hour')] },
    /"a" of type int.*by hour.*timestamps/,
  ],
  ['a pair twice', { partitions: [by('a', 'bucket[3]'), by('a', 'bucket[3]')] }, /twice by bucket\[3\]/],
  ['a taken field name', { partitions: [{ ...by('a', 'bucket[3]'), name: 'A' }] }, /name of another/],
  ['format 3', { formatVersion: 3 }, /versions 1 and 2/],
  ['a reserved property', { properties: { uuid: 'x' } }, /"uuid" cannot be set/],
  [
    'a property of another type',
    { properties: { 'commit.retry.num-retries': 'many' } },
    /"many".*whole number/,
  ],
  [
    'a metrics mode that is none',
    { properties: { 'write.metadata.metrics.default': 'most' } },
    /"most".*truncate/,
  ],
];

for (const [what, definition, message] of wrong)
  test(`refuses ${what}`, () => {
    assert.throws(() => define(definition), message);
  });

test('refuses types nested without end', () => {
  let type: ColumnType = int;
  for (let depth = 0; depth < 60; depth++) type = { kind: 'list', element: type };
  assert.throws(() => define({ columns: [column('deep', type)] }), /nested deeper than 50/);
});

test('takes odd names: dots, quotes, emoji, a thousand characters', () => {
  const names = ['a.b', '"quoted"', 'smile 😀', 'x'.repeat(1000), 'ünïcode'];
  const { schema } = define({ columns: names.map((name) => column(name, int)) });
  assert.deepEqual(
    schema.fields.map((field) => field.name),
    names,
  );
});

function column(name: string, type: ColumnType) {
  return { name, type };
}

function by(name: string, transform: string) {
  return { column: [name], transform };
}
