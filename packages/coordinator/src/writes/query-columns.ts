/** The columns of a table that a query makes: names and types of its result as Iceberg has them. */
import { QueryError } from '@svc/base';
import type { ColumnDefinition } from '@svc/lake';
import { DataType, type Field, Precision, RecordBatchReader, type Schema, TimeUnit } from 'apache-arrow';

type ColumnType = ColumnDefinition['type'];

/** Where the engine's own name of a type stands, for those that Arrow does not have. */
const typeNameKey = 'ARROW:FLIGHT:SQL:TYPE_NAME';
const extensionKey = 'ARROW:extension:name';

/**
 * Of an encapsulated Arrow schema. Integers of fewer bits become INTEGER, unsigned and 128-bit ones the next larger type,
 * enums text. Throws NOT_SUPPORTED naming a column that has to be cast, INVALID_ARGUMENT for one without a name.
 */
export function columnsOfQuery(schema: Uint8Array): readonly ColumnDefinition[] {
  const { fields } = RecordBatchReader.from(schema).open().schema;
  return fields.map((field) => ({ name: field.name, type: columnType(field, field.name) }));
}

/** Of rows that a client sends: as `columnsOfQuery`, and what the schema says is not nullable must not be NULL. */
export function columnsOfArrow({ fields }: Schema): readonly ColumnDefinition[] {
  return fields.map((field) => ({
    name: field.name,
    type: columnType(field, field.name),
    required: !field.nullable,
  }));
}

export function columnNames(schema: Uint8Array): readonly string[] {
  return RecordBatchReader.from(schema)
    .open()
    .schema.fields.map((field) => field.name);
}

function columnType(field: Field, path: string): ColumnType {
  const { type } = field;
  if (field.metadata.get(typeNameKey) === 'UUID' || field.metadata.get(extensionKey) === 'arrow.uuid')
    return { kind: 'uuid' };
  const found = scalarType(type) ?? nestedType(type, path);
  if (found !== undefined) return found;
  const name = field.metadata.get(typeNameKey) ?? String(type);
  throw new QueryError(
    'NOT_SUPPORTED',
    `Column ${JSON.stringify(path)} has the type ${name}, which no table of Iceberg can have: cast it.`,
  );
}

function scalarType(type: DataType): ColumnType | undefined {
  if (DataType.isBool(type)) return { kind: 'boolean' };
  if (DataType.isInt(type)) {
    if (type.bitWidth < 32 || (type.isSigned && type.bitWidth === 32)) return { kind: 'int' };
    if (type.isSigned || type.bitWidth === 32) return { kind: 'long' };
    return { kind: 'decimal', precision: 20, scale: 0 };
  }
  if (DataType.isFloat(type)) return { kind: type.precision === Precision.DOUBLE ? 'double' : 'float' };
  if (DataType.isDecimal(type)) return { kind: 'decimal', precision: type.precision, scale: type.scale };
  if (DataType.isDictionary(type)) return scalarType(type.dictionary);
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return { kind: 'string' };
  if (DataType.isBinary(type) || DataType.isLargeBinary(type) || DataType.isFixedSizeBinary(type))
    return { kind: 'binary' };
  if (DataType.isDate(type)) return { kind: 'date' };
  if (DataType.isTime(type)) return type.unit === TimeUnit.NANOSECOND ? undefined : { kind: 'time' };
  if (DataType.isTimestamp(type) && type.unit !== TimeUnit.NANOSECOND)
    return { kind: type.timezone ? 'timestamptz' : 'timestamp' };
  return undefined;
}

function nestedType(type: DataType, path: string): ColumnType | undefined {
  if (DataType.isList(type) || DataType.isLargeList(type) || DataType.isFixedSizeList(type))
    return { kind: 'list', element: childType(type.children[0], `${path}.element`) };
  if (DataType.isMap(type)) {
    const [key, value] = type.children[0]?.type.children ?? [];
    return { kind: 'map', key: childType(key, `${path}.key`), value: childType(value, `${path}.value`) };
  }
  if (!DataType.isStruct(type)) return undefined;
  return {
    kind: 'struct',
    fields: type.children.map((child) => ({
      name: child.name,
      type: columnType(child, `${path}.${child.name}`),
    })),
  };
}

function childType(field: Field | undefined, path: string): ColumnType {
  if (field === undefined) throw new QueryError('INTERNAL_ERROR', `The type of ${path} is not complete.`);
  return columnType(field, path);
}
