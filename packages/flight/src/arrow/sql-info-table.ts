import {
  Bool,
  DenseUnion,
  Field,
  Int32,
  Int64,
  List,
  Map_,
  makeData,
  type Schema,
  Struct,
  Uint32,
  Utf8,
} from 'apache-arrow';
import type { IpcMessage } from '../framing/flight-data.js';
import type { SqlInfoValue } from '../sql/sql-info.js';
import { columnData, encodeColumns, schemaOf } from './table-message.js';

const mapEntries = new Struct<{ key: Int32; value: List<Int32> }>([
  new Field('key', new Int32(), false),
  new Field('value', new List(new Field('$data$', new Int32(), true)), true),
]);

/** The children of the value union in the format's order, which is also their type id. */
const children = [
  new Field('string_value', new Utf8(), true),
  new Field('bool_value', new Bool(), true),
  new Field('bigint_value', new Int64(), true),
  new Field('int32_bitmask', new Int32(), true),
  new Field('string_list', new List(new Field('string_data', new Utf8(), true)), true),
  new Field('int32_to_int32_list_map', new Map_(new Field('entries', mapEntries, false)), true),
];

const typeIdByKind: Readonly<Record<SqlInfoValue['kind'], number>> = {
  string: 0,
  bool: 1,
  bigint: 2,
  int32: 3,
  'string-list': 4,
  'int32-lists': 5,
};

const unionType = new DenseUnion([0, 1, 2, 3, 4, 5], children);

/** `info_name: uint32 not null, value: dense_union<…>`, the schema of GetSqlInfo's answer. */
export const sqlInfoSchema: Schema = schemaOf([
  { name: 'info_name', type: new Uint32(), nullable: false },
  { name: 'value', type: unionType, nullable: false },
]);

/** One row per id asked for that exists (all when none is asked for), as one batch. */
export function encodeSqlInfo(
  values: ReadonlyMap<number, SqlInfoValue>,
  requested: readonly number[],
): IpcMessage[] {
  const ids =
    requested.length === 0 ? [...values.keys()] : [...new Set(requested)].filter((id) => values.has(id));
  const typeIds = new Int8Array(ids.length);
  const valueOffsets = new Int32Array(ids.length);
  const childValues: unknown[][] = children.map(() => []);
  ids.forEach((id, row) => {
    const value = values.get(id);
    if (value === undefined) return;
    const typeId = typeIdByKind[value.kind];
    const target = childValues[typeId] ?? [];
    typeIds[row] = typeId;
    valueOffsets[row] = target.length;
    target.push(value.value);
  });
  const union = makeData({
    type: unionType,
    length: ids.length,
    typeIds,
    valueOffsets,
    children: children.map((field, index) => columnData(field.type, childValues[index] ?? [])),
  });
  const names = makeData({
    type: new Uint32(),
    length: ids.length,
    nullCount: 0,
    data: Uint32Array.from(ids),
  });
  return encodeColumns(sqlInfoSchema, ids.length, [names, union]);
}
