/** Avro data files for tests, from a schema and rows as plain values. */
import { writeAvroFile } from '../../iceberg/avro/container-writer.js';
import type { AvroEncoder } from '../../iceberg/avro/encoder.js';
import { parseJson } from '../../iceberg/spec/lossless-json.js';

export type Schema =
  | string
  | readonly Schema[]
  | {
      readonly type: Schema;
      readonly logicalType?: string;
      readonly items?: Schema;
      readonly values?: Schema;
      readonly symbols?: readonly string[];
      readonly size?: number;
      readonly name?: string;
      readonly fields?: readonly Field[];
      readonly precision?: number;
      readonly scale?: number;
      readonly 'adjust-to-utc'?: boolean;
    };

export interface Field {
  readonly name: string;
  readonly type: Schema;
  readonly 'field-id'?: number;
}

export const recordOf = (fields: readonly Field[]): Schema => ({ type: 'record', name: 'r', fields });
export const optional = (type: Schema): Schema => ['null', type];

/** Of a union the first branch that is not null takes what is not null. */
export function avroData(
  schema: Schema,
  rows: Iterable<unknown>,
  codec: 'null' | 'deflate' = 'deflate',
): Uint8Array {
  return writeAvroFile({
    schema: parseJson(JSON.stringify(schema), 'test'),
    metadata: {},
    codec,
    sync: Buffer.alloc(16, 7),
    records: rows,
    write: (encoder, row) => writeValue(encoder, schema, row),
  });
}

function writeValue(encoder: AvroEncoder, schema: Schema, value: unknown): void {
  if (Array.isArray(schema)) {
    const branches: readonly Schema[] = schema;
    const index = branches.findIndex((branch) => (branch === 'null') === (value === null));
    encoder.integer(index);
    writeValue(encoder, branches[index] ?? 'null', value);
    return;
  }
  if (typeof schema === 'string' || Array.isArray(schema) || !('type' in schema)) {
    writePrimitive(encoder, String(schema), value);
    return;
  }
  switch (schema.type) {
    case 'record':
      for (const { name, type } of schema.fields ?? [])
        writeValue(encoder, type, (value as Record<string, unknown>)[name]);
      break;
    case 'array':
      encoder.list(value as Iterable<unknown>, (item) => writeValue(encoder, schema.items ?? 'null', item));
      break;
    case 'map':
      encoder.list(Object.entries(value as object), ([key, item]) => {
        encoder.text(key);
        writeValue(encoder, schema.values ?? 'null', item);
      });
      break;
    case 'fixed':
      encoder.raw(value as Uint8Array);
      break;
    case 'enum':
      encoder.integer((schema.symbols ?? []).indexOf(String(value)));
      break;
    default:
      writeValue(encoder, schema.type, value);
  }
}

function writePrimitive(encoder: AvroEncoder, type: string, value: unknown): void {
  switch (type) {
    case 'null':
      break;
    case 'boolean':
      encoder.boolean(value as boolean);
      break;
    case 'int':
    case 'long':
      encoder.integer(value as number | bigint);
      break;
    case 'float':
      encoder.float(value as number);
      break;
    case 'double':
      encoder.double(value as number);
      break;
    case 'bytes':
      encoder.byteString(value as Uint8Array);
      break;
    default:
      encoder.text(String(value));
  }
}
