import {
  type DataType,
  Field,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  vectorFromArray,
} from 'apache-arrow';

/** One parameter: its Arrow type and value. */
export type Parameter = readonly [type: DataType, value: unknown];

/** One row of parameters as an Arrow IPC stream, in the types of the client. */
export function parameterRow(parameters: readonly Parameter[]): Uint8Array {
  const fields = parameters.map(([type], index) => new Field(`p${index}`, type, true));
  const children = parameters.map(
    ([type, value]) => vectorFromArray([value], type).data[0] ?? makeData({ type }),
  );
  const data = makeData({ type: new Struct(fields), length: 1, nullCount: 0, children });
  return tableToIPC(new Table([new RecordBatch(new Schema(fields), data)]), 'stream');
}
