import { isJsonObject, type JsonValue } from '../json/lossless.js';
import { quoteIdentifier } from '../text/literals.js';
import { PlanNotUnderstood, PlanReader } from './plan-reader.js';

/** Of up to 64 bits. */
export const integerTypeNames = [
  'TINYINT',
  'SMALLINT',
  'INTEGER',
  'BIGINT',
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'UBIGINT',
] as const;

/** A type of the engine. `id` is its name for plain types: BIGINT, TIMESTAMP WITH TIME ZONE, … */
export type LogicalType =
  | { readonly kind: 'plain'; readonly id: string }
  | { readonly kind: 'decimal'; readonly id: 'DECIMAL'; readonly width: number; readonly scale: number }
  | { readonly kind: 'list'; readonly id: 'LIST'; readonly child: LogicalType }
  | { readonly kind: 'array'; readonly id: 'ARRAY'; readonly child: LogicalType; readonly size: number }
  | { readonly kind: 'map'; readonly id: 'MAP'; readonly key: LogicalType; readonly value: LogicalType }
  | { readonly kind: 'struct'; readonly id: 'STRUCT'; readonly fields: readonly StructField[] }
  /** Types with details that nothing here needs: ENUM, UNION, AGGREGATE_STATE, … */
  | { readonly kind: 'other'; readonly id: string };

export interface StructField {
  readonly name: string;
  readonly type: LogicalType;
}

const detailReaders: Readonly<Record<string, (id: string, info: PlanReader) => LogicalType>> = {
  DECIMAL_TYPE_INFO: (_id, info) => ({
    kind: 'decimal',
    id: 'DECIMAL',
    width: info.count('width'),
    scale: info.count('scale'),
  }),
  LIST_TYPE_INFO: (id, info) => {
    const child = readLogicalType(info.value('child_type'));
    if (id !== 'MAP') return { kind: 'list', id: 'LIST', child };
    const [key, value] = child.kind === 'struct' ? child.fields : [];
    if (key === undefined || value === undefined) throw new PlanNotUnderstood('MAP without key and value');
    return { kind: 'map', id: 'MAP', key: key.type, value: value.type };
  },
  ARRAY_TYPE_INFO: (_id, info) => ({
    kind: 'array',
    id: 'ARRAY',
    child: readLogicalType(info.value('child_type')),
    size: info.count('size'),
  }),
  STRUCT_TYPE_INFO: (id, info) => {
    const fields = readFields(info);
    return id === 'STRUCT' ? { kind: 'struct', id: 'STRUCT', fields } : { kind: 'other', id };
  },
};

export function readLogicalType(value: JsonValue | undefined): LogicalType {
  const reader = new PlanReader(value, 'type');
  const id = reader.text('id');
  const details = reader.value('type_info');
  reader.end();
  if (details === undefined) return { kind: 'plain', id };
  const info = new PlanReader(details, `type ${id}`);
  const kind = info.text('type');
  info.ignore('alias', 'extension_info');
  const read = Object.hasOwn(detailReaders, kind) ? detailReaders[kind] : undefined;
  if (read === undefined) return { kind: 'other', id };
  const type = read(id, info);
  info.end();
  return type;
}

function readFields(info: PlanReader): readonly StructField[] {
  return info.list('child_types').map((entry) => {
    if (!isJsonObject(entry)) throw new PlanNotUnderstood('a struct field is no object');
    const field = new PlanReader(entry, 'struct field');
    const read = { name: field.text('first'), type: readLogicalType(field.value('second')) };
    field.end();
    return read;
  });
}

/** The type as the engine prints it: `DECIMAL(15,2)`, `STRUCT("a" INTEGER)`, `VARCHAR[]`. */
export function printLogicalType(type: LogicalType): string {
  switch (type.kind) {
    case 'plain':
    case 'other':
      return type.id;
    case 'decimal':
      return `DECIMAL(${type.width},${type.scale})`;
    case 'list':
      return `${printLogicalType(type.child)}[]`;
    case 'array':
      return `${printLogicalType(type.child)}[${type.size}]`;
    case 'map':
      return `MAP(${printLogicalType(type.key)}, ${printLogicalType(type.value)})`;
    case 'struct':
      return `STRUCT(${type.fields.map((field) => `${quoteIdentifier(field.name)} ${printLogicalType(field.type)}`).join(', ')})`;
  }
}
