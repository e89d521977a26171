/**
 * The Parquet columns that hold the records of an Avro data file: the same names, field ids and nesting, so that what
 * makes a table's columns of a Parquet file's makes them of these too.
 */
import type { AvroField, AvroLogical, AvroRecord, AvroType } from '../iceberg/avro/schema.js';

/** How a value is written into its column. */
export type LeafEncoding =
  | { readonly kind: 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' }
  | { readonly kind: 'fixed'; readonly size: number }
  | { readonly kind: 'symbol'; readonly symbols: readonly string[] }
  /** The number without its point, of `size` bytes or behind its length. */
  | { readonly kind: 'decimal'; readonly size: number | undefined };

export type LeafMeaning =
  | { readonly kind: 'string' | 'date' | 'uuid' }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | {
      readonly kind: 'time' | 'timestamp';
      readonly unit: 'millis' | 'micros' | 'nanos';
      readonly isAdjustedToUtc: boolean;
    };

export type ColumnShape =
  | { readonly kind: 'leaf'; readonly encoding: LeafEncoding; readonly meaning: LeafMeaning | undefined }
  /** `undefined` where a field has no values, or none that are read. */
  | {
      readonly kind: 'struct';
      readonly fields: readonly (AvroColumn | undefined)[];
      readonly record: AvroRecord;
    }
  | { readonly kind: 'list'; readonly element: AvroColumn }
  | {
      readonly kind: 'map';
      readonly key: AvroColumn;
      readonly value: AvroColumn;
      readonly record?: AvroRecord;
    }
  /** Values that no column of a table can have, such as one of several types. */
  | { readonly kind: 'unreadable' };

export interface AvroColumn {
  readonly name: string;
  readonly fieldId: number | undefined;
  /** The branches of the union that the value is written as. */
  readonly union: { readonly value: number; readonly null: number | undefined } | undefined;
  readonly shape: ColumnShape;
}

const unreadable: ColumnShape = { kind: 'unreadable' };

/** One for each field of the record; `undefined` for fields that are always null. */
export function columnsOfRecord({ fields }: AvroRecord): readonly (AvroColumn | undefined)[] {
  return fields.map(columnOfField);
}

function columnOfField({ name, fieldId, type }: AvroField): AvroColumn | undefined {
  return columnOf(name, fieldId, type);
}

function columnOf(name: string, fieldId: number | undefined, type: AvroType): AvroColumn | undefined {
  if (type.kind === 'null') return undefined;
  if (type.kind !== 'union') return { name, fieldId, union: undefined, shape: shapeOf(type) };
  const { branches } = type;
  const values = [...branches.keys()].filter((index) => branches[index]?.kind !== 'null');
  const nulls = [...branches.keys()].filter((index) => branches[index]?.kind === 'null');
  const [value] = values;
  if (value === undefined) return undefined;
  const branch = branches[value];
  const isReadable = values.length === 1 && nulls.length <= 1 && branch !== undefined;
  const shape = isReadable ? shapeOf(branch) : unreadable;
  return { name, fieldId, union: { value, null: nulls[0] }, shape };
}

function shapeOf(type: AvroType): ColumnShape {
  switch (type.kind) {
    case 'boolean':
    case 'float':
    case 'double':
      return leafOf({ kind: type.kind });
    case 'int':
    case 'long':
      return leafOf({ kind: type.kind }, integerMeaning(type.kind, type.logical));
    case 'string':
      return leafOf({ kind: 'bytes' }, { kind: 'string' });
    case 'enum':
      return leafOf({ kind: 'symbol', symbols: type.symbols }, { kind: 'string' });
    case 'bytes':
      return decimalShape(type.logical, undefined) ?? leafOf({ kind: 'bytes' });
    case 'fixed':
      if (type.size === 0) return unreadable;
      if (type.logical?.name === 'uuid' && type.size === 16)
        return leafOf({ kind: 'fixed', size: 16 }, { kind: 'uuid' });
      return decimalShape(type.logical, type.size) ?? leafOf({ kind: 'fixed', size: type.size });
    case 'record':
      return structShape(type);
    case 'array':
      return type.logical?.name === 'map' && type.items.kind === 'record'
        ? pairsShape(type.items)
        : listShape(columnOf('element', undefined, type.items));
    case 'map':
      return mapShape(
        { name: 'key', fieldId: undefined, union: undefined, shape: shapeOf({ kind: 'string' }) },
        columnOf('value', undefined, type.values),
      );
    case 'null':
    case 'union':
      return unreadable; // Unions do not stand in unions, and null is no value.
  }
}

function leafOf(encoding: LeafEncoding, meaning?: LeafMeaning): ColumnShape {
  return { kind: 'leaf', encoding, meaning };
}

/** A meaning that its type cannot have is to be ignored, says Avro's specification. */
function integerMeaning(kind: 'int' | 'long', logical: AvroLogical | undefined): LeafMeaning | undefined {
  if (logical === undefined) return undefined;
  const isAdjustedToUtc = logical.isAdjustedToUtc;
  switch (`${kind} ${logical.name}`) {
    case 'int date':
      return { kind: 'date' };
    case 'int time-millis':
      return { kind: 'time', unit: 'millis', isAdjustedToUtc: false };
    case 'long time-micros':
      return { kind: 'time', unit: 'micros', isAdjustedToUtc: false };
    case 'long timestamp-millis':
      return { kind: 'timestamp', unit: 'millis', isAdjustedToUtc };
    case 'long timestamp-micros':
      return { kind: 'timestamp', unit: 'micros', isAdjustedToUtc };
    case 'long timestamp-nanos':
      return { kind: 'timestamp', unit: 'nanos', isAdjustedToUtc };
    case 'long local-timestamp-millis':
      return { kind: 'timestamp', unit: 'millis', isAdjustedToUtc: false };
    case 'long local-timestamp-micros':
      return { kind: 'timestamp', unit: 'micros', isAdjustedToUtc: false };
    case 'long local-timestamp-nanos':
      return { kind: 'timestamp', unit: 'nanos', isAdjustedToUtc: false };
    default:
      return undefined;
  }
}

/** `undefined` when the bytes are no decimal. */
function decimalShape(logical: AvroLogical | undefined, size: number | undefined): ColumnShape | undefined {
  if (logical?.name !== 'decimal') return undefined;
  const { precision, scale } = logical;
  const isDecimal =
    [precision, scale].every(Number.isInteger) && scale >= 0 && precision >= Math.max(scale, 1);
  if (!isDecimal) return undefined;
  if (precision > 38) return unreadable;
  return leafOf({ kind: 'decimal', size }, { kind: 'decimal', precision, scale });
}

/** A struct without any field that is read could not be told from one that is null. */
function structShape(record: AvroRecord): ColumnShape {
  const fields = columnsOfRecord(record);
  return fields.some(isReadable) ? { kind: 'struct', fields, record } : unreadable;
}

function listShape(element: AvroColumn | undefined): ColumnShape {
  return isReadable(element) ? { kind: 'list', element } : unreadable;
}

function mapShape(
  key: AvroColumn | undefined,
  value: AvroColumn | undefined,
  record?: AvroRecord,
): ColumnShape {
  if (!isReadable(key) || !isReadable(value) || key.union?.null !== undefined) return unreadable;
  return { kind: 'map', key, value, ...(record && { record }) };
}

/** A map whose keys are not text is a list of pairs. */
function pairsShape(record: AvroRecord): ColumnShape {
  const named = (name: string): AvroColumn | undefined => {
    const found = record.fields.filter((field) => field.name === name);
    const [field] = found;
    return field !== undefined && found.length === 1 ? columnOfField(field) : undefined;
  };
  return mapShape(named('key'), named('value'), record);
}

export function isReadable(column: AvroColumn | undefined): column is AvroColumn {
  return column !== undefined && column.shape.kind !== 'unreadable';
}
