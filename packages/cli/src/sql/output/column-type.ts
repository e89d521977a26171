import { QueryError } from '@svc/base';
import { DataType, type Field, Precision, TimeUnit } from 'apache-arrow';
import { quoted } from '../shell/names.js';

/** The engine's type of a column of an answer. Throws NOT_SUPPORTED, with the column's name, for one it cannot store. */
export function columnType({ name, type }: Field): string {
  const written = sqlType(type);
  if (written !== undefined) return written;
  throw new QueryError(
    'NOT_SUPPORTED',
    `Column "${name}" has the type ${String(type)}, which Parquet does not have: cast it, to JSON for example.`,
  );
}

function sqlType(type: DataType): string | undefined {
  return scalarType(type) ?? nestedType(type);
}

const integers: Readonly<Record<number, string>> = {
  8: 'TINYINT',
  16: 'SMALLINT',
  32: 'INTEGER',
  64: 'BIGINT',
};

const timestamps: Readonly<Record<TimeUnit, string>> = {
  [TimeUnit.SECOND]: 'TIMESTAMP_S',
  [TimeUnit.MILLISECOND]: 'TIMESTAMP_MS',
  [TimeUnit.MICROSECOND]: 'TIMESTAMP',
  [TimeUnit.NANOSECOND]: 'TIMESTAMP_NS',
};

function scalarType(type: DataType): string | undefined {
  if (DataType.isBool(type)) return 'BOOLEAN';
  if (DataType.isInt(type)) return `${type.isSigned ? '' : 'U'}${integers[type.bitWidth]}`;
  if (DataType.isFloat(type)) return type.precision === Precision.DOUBLE ? 'DOUBLE' : 'FLOAT';
  if (DataType.isDecimal(type)) return `DECIMAL(${type.precision}, ${type.scale})`;
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return 'VARCHAR';
  if (DataType.isBinary(type) || DataType.isLargeBinary(type)) return 'BLOB';
  if (DataType.isDate(type)) return 'DATE';
  if (DataType.isTime(type)) return type.unit === TimeUnit.NANOSECOND ? 'TIME_NS' : 'TIME';
  if (DataType.isTimestamp(type)) return type.timezone ? 'TIMESTAMPTZ' : timestamps[type.unit];
  if (DataType.isInterval(type)) return 'INTERVAL';
  return undefined;
}

function nestedType(type: DataType): string | undefined {
  if (DataType.isDictionary(type)) return sqlType(type.dictionary);
  if (DataType.isMap(type)) return withParts('MAP', [type.keyType, type.valueType]);
  if (DataType.isList(type) || DataType.isLargeList(type)) return suffixed(type.children[0], '[]');
  if (DataType.isFixedSizeList(type)) return suffixed(type.children[0], `[${type.listSize}]`);
  if (!DataType.isStruct(type)) return undefined;
  const members = type.children.map((field) => suffixed(field, ''));
  if (members.includes(undefined)) return undefined;
  return `STRUCT(${type.children.map((field, index) => `${quoted(field.name)} ${members[index]}`).join(', ')})`;
}

function withParts(name: string, parts: readonly DataType[]): string | undefined {
  const types = parts.map(sqlType);
  return types.includes(undefined) ? undefined : `${name}(${types.join(', ')})`;
}

function suffixed(field: Field | undefined, suffix: string): string | undefined {
  const type = field && sqlType(field.type);
  return type === undefined ? undefined : `${type}${suffix}`;
}
