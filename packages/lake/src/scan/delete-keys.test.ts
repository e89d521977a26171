import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IcebergType, NestedField } from '../iceberg/spec/types.js';
import { queryError } from '../iceberg/testing/table-fixture.js';
import { deleteKeys } from './delete-keys.js';

const field = (id: number, name: string, type: IcebergType): NestedField => ({
  ...{ id, name, required: false, type },
});
const long: IcebergType = { kind: 'long' };
const int: IcebergType = { kind: 'int' };
const list: IcebergType = { kind: 'list', elementId: 9, elementRequired: false, element: int };
const schemaOf = (...fields: readonly NestedField[]) => ({ schemaId: 0, fields, identifierFieldIds: [] });
const inner = { kind: 'struct', fields: [field(6, 'x', int), field(7, 'y', int)] } as const;
const outer = { kind: 'struct', fields: [field(4, 'inner', inner), field(5, 'z', int)] } as const;
const now = schemaOf(field(1, 'new name', long), field(3, 's', outer), field(8, 'l', list));
const before = schemaOf(field(1, 'old', int), field(2, 'dropped', int));

test('columns have the name and type of the first schema that knows them', () => {
  const keys = deleteKeys([1, 2], [now, before], 'd');
  assert.deepEqual(
    keys.map(({ name, type }) => [name, type.kind]),
    [
      ['new name', 'long'],
      ['dropped', 'int'],
    ],
  );
});

test('a field in structs is reached by a struct of nothing else', () => {
  const [key] = deleteKeys([7], [now], 'd');
  const leaf = { kind: 'struct', fields: [field(7, 'y', int)] } as const;
  assert.deepEqual(key, field(3, 's', { kind: 'struct', fields: [field(4, 'inner', leaf)] }));
});

test('what is no column with plain values is refused, naming the delete file', () => {
  for (const id of [3, 8, 9, 77])
    assert.throws(
      () => deleteKeys([id], [now, before], 's3://t/d'),
      queryError('DATA_CORRUPT', new RegExp(`The delete file s3://t/d compares the field ${id}`)),
    );
});
