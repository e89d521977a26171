import { engineType } from '@svc/fragment-fn';
import type { IcebergType, NestedField } from '@svc/lake';
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  Field,
  Float32,
  Float64,
  Int32,
  Int64,
  List,
  Map_,
  Schema,
  Struct,
  Table,
  TimeMicrosecond,
  TimestampMicrosecond,
  TimestampNanosecond,
  Utf8,
} from 'apache-arrow';
import { ipcParts } from './ipc-parts.js';

/**
 * A table's columns as an encapsulated Arrow schema, with the metadata keys that Flight SQL clients read: what a
 * `SELECT *` of the table answers in a session of that time zone, known without asking an engine.
 */
export function tableArrowSchema(fields: readonly NestedField[], timeZone: string): Uint8Array {
  const schema = new Schema(
    fields.map(
      (field) =>
        new Field(field.name, arrowType(field.type, timeZone), !field.required, flightMetadata(field.type)),
    ),
  );
  return ipcParts(new Table(schema)).schema;
}

function flightMetadata(type: IcebergType): Map<string, string> {
  // Without parameters, which have keys of their own: tools look the name up in GetXdbcTypeInfo's list.
  const name = type.kind === 'decimal' ? 'DECIMAL' : engineType(type);
  const metadata = new Map([['ARROW:FLIGHT:SQL:TYPE_NAME', name]]);
  if (type.kind === 'decimal') {
    metadata.set('ARROW:FLIGHT:SQL:PRECISION', String(type.precision));
    metadata.set('ARROW:FLIGHT:SQL:SCALE', String(type.scale));
  }
  return metadata;
}

/** The same mapping as the engine's (docs/sql.md), by way of the engine type that each Iceberg type becomes. */
export function arrowType(type: IcebergType, timeZone: string): DataType {
  switch (type.kind) {
    case 'boolean':
      return new Bool();
    case 'int':
    case 'unknown':
      return new Int32();
    case 'long':
      return new Int64();
    case 'float':
      return new Float32();
    case 'double':
      return new Float64();
    case 'decimal':
      return new Decimal(type.scale, type.precision, 128);
    case 'date':
      return new DateDay();
    case 'time':
      return new TimeMicrosecond();
    case 'timestamp':
      return new TimestampMicrosecond();
    case 'timestamptz':
    case 'timestamptz_ns':
      return new TimestampMicrosecond(timeZone);
    case 'timestamp_ns':
      return new TimestampNanosecond();
    case 'string':
    case 'uuid':
      return new Utf8();
    case 'fixed':
    case 'binary':
    case 'unsupported':
      return new Binary();
    case 'struct':
      return new Struct(
        type.fields.map((field) => new Field(field.name, arrowType(field.type, timeZone), true)),
      );
    case 'list':
      return new List(new Field('l', arrowType(type.element, timeZone), true));
    case 'map': {
      const entries = new Struct<{ key: DataType; value: DataType }>([
        new Field('key', arrowType(type.key, timeZone), false),
        new Field('value', arrowType(type.value, timeZone), true),
      ]);
      return new Map_(new Field('entries', entries, false));
    }
  }
}
