import { quoteIdentifier } from '@svc/sql';
import { DataType, type Field, Precision, RecordBatchReader, TimeUnit } from 'apache-arrow';

export interface ArrowField {
  readonly name: string;
  /** SQL's name of what clients get: a type that Arrow does not have is the one that stands for it (docs/sql.md). */
  readonly type: string;
}

/** Names and types of an encapsulated Arrow schema. */
export function arrowFields(schema: Uint8Array): readonly ArrowField[] {
  const reader = RecordBatchReader.from(schema).open();
  return reader.schema.fields.map((field) => ({ name: field.name, type: sqlType(field.type) }));
}

function sqlType(type: DataType): string {
  return scalarType(type) ?? nestedType(type) ?? String(type);
}

function scalarType(type: DataType): string | undefined {
  if (DataType.isBool(type)) return 'BOOLEAN';
  if (DataType.isInt(type)) return integerTypes.get(type.isSigned ? type.bitWidth : -type.bitWidth);
  if (DataType.isFloat(type)) return type.precision === Precision.DOUBLE ? 'DOUBLE' : 'FLOAT';
  if (DataType.isDecimal(type)) return `DECIMAL(${type.precision},${type.scale})`;
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return 'VARCHAR';
  if (DataType.isBinary(type) || DataType.isLargeBinary(type)) return 'BLOB';
  if (DataType.isDate(type)) return 'DATE';
  if (DataType.isTime(type)) return type.unit === TimeUnit.NANOSECOND ? 'TIME_NS' : 'TIME';
  if (DataType.isTimestamp(type))
    return type.timezone ? 'TIMESTAMP WITH TIME ZONE' : timestampTypes[type.unit];
  if (DataType.isInterval(type)) return 'INTERVAL';
  return undefined;
}

/** By bit width, negative for unsigned ones. */
const integerTypes: ReadonlyMap<number, string> = new Map([
  [8, 'TINYINT'],
  [16, 'SMALLINT'],
  [32, 'INTEGER'],
  [64, 'BIGINT'],
  [-8, 'UTINYINT'],
  [-16, 'USMALLINT'],
  [-32, 'UINTEGER'],
  [-64, 'UBIGINT'],
]);

const timestampTypes: Readonly<Record<TimeUnit, string>> = {
  [TimeUnit.SECOND]: 'TIMESTAMP_S',
  [TimeUnit.MILLISECOND]: 'TIMESTAMP_MS',
  [TimeUnit.MICROSECOND]: 'TIMESTAMP',
  [TimeUnit.NANOSECOND]: 'TIMESTAMP_NS',
};

function nestedType(type: DataType): string | undefined {
  if (DataType.isDictionary(type)) return 'ENUM';
  if (DataType.isList(type)) return `${sqlType(type.valueType)}[]`;
  if (DataType.isFixedSizeList(type)) return `${sqlType(type.valueType)}[${type.listSize}]`;
  if (DataType.isMap(type)) return `MAP(${sqlType(type.keyType)}, ${sqlType(type.valueType)})`;
  if (DataType.isStruct(type)) return `STRUCT(${memberList(type.children)})`;
  if (DataType.isUnion(type)) return `UNION(${memberList(type.children)})`;
  return undefined;
}

function memberList(fields: readonly Field[]): string {
  return fields.map(({ name, type }) => `${quoteIdentifier(name)} ${sqlType(type)}`).join(', ');
}
