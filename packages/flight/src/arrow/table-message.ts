/** Small Arrow tables for metadata answers, as the IPC messages that FlightData carries. */
import {
  type Data,
  type DataType,
  Field,
  makeBuilder,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  vectorFromArray,
} from 'apache-arrow';
import type { IpcMessage } from '../framing/flight-data.js';
import { encapsulateHeader, splitIpcStream } from './ipc-message.js';

/** One column of a metadata answer. The name, the type and whether it may be null are the Flight SQL format's. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: DataType;
  readonly nullable: boolean;
}

/** The Arrow schema of some columns. */
export function schemaOf(columns: readonly ColumnDefinition[]): Schema {
  return new Schema(columns.map(({ name, type, nullable }) => new Field(name, type, nullable)));
}

/** The schema as an encapsulated IPC message. */
export function encodeSchema(schema: Schema): Buffer {
  const [message] = messagesOf(schema, []);
  if (message === undefined) throw new Error('An Arrow stream begins with its schema.');
  return encapsulateHeader(message.header);
}

/** One batch of rows, its values in the order of the schema's fields. */
export function encodeRows(schema: Schema, rows: readonly (readonly unknown[])[]): IpcMessage[] {
  const children = schema.fields.map((field, index) =>
    columnData(
      field.type,
      rows.map((row) => row[index] ?? null),
    ),
  );
  return encodeColumns(schema, rows.length, children);
}

/** One batch from finished columns. The schema message is left out: it is sent on its own. */
export function encodeColumns(schema: Schema, rowCount: number, children: readonly Data[]): IpcMessage[] {
  const data = makeData({
    type: new Struct(schema.fields),
    length: rowCount,
    nullCount: 0,
    children: [...children],
  });
  return messagesOf(schema, [new RecordBatch(schema, data)]).slice(1);
}

/** One column from values; null where a value is missing. */
export function columnData<T extends DataType>(type: T, values: readonly unknown[]): Data<T> {
  if (values.length === 0) return makeBuilder({ type }).finish().flush(); // nested types need their children
  const [data] = vectorFromArray(values as unknown[], type).data;
  if (data === undefined) throw new Error('A vector of values has data.');
  return data as Data<T>;
}

function messagesOf(schema: Schema, batches: readonly RecordBatch[]): IpcMessage[] {
  const writer = new RecordBatchStreamWriter();
  writer.reset(undefined, schema);
  for (const batch of batches) writer.write(batch);
  return splitIpcStream(writer.finish().toUint8Array(true));
}
