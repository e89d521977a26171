import type { ResultMessage } from '@svc/flight';
import { Field, makeData, RecordBatch, Schema, Struct, Table, Utf8, vectorFromArray } from 'apache-arrow';
import { ipcParts } from './ipc-parts.js';

/** A small result that the coordinator makes itself: one row set of text columns, complete in memory. */
export interface TextAnswer {
  readonly schema: Uint8Array;
  readonly messages: readonly Omit<ResultMessage, 'release'>[];
  readonly rowCount: number;
}

export interface TextColumn {
  readonly name: string;
  readonly isNullable: boolean;
}

/** Arrow IPC of rows of text. Lone surrogates become U+FFFD: UTF-8 has no place for them. */
export function textAnswer(
  columns: readonly TextColumn[],
  rows: readonly (readonly (string | null)[])[],
): TextAnswer {
  const schema = new Schema(columns.map((column) => new Field(column.name, new Utf8(), column.isNullable)));
  const children = columns.map((_column, index) => {
    const values = rows.map((row) => row[index]?.toWellFormed() ?? null);
    const [data] = vectorFromArray(values, new Utf8()).data;
    return data ?? makeData({ type: new Utf8(), length: 0 });
  });
  const data = makeData({ type: new Struct(schema.fields), length: rows.length, nullCount: 0, children });
  return { ...ipcParts(new Table([new RecordBatch(schema, data)])), rowCount: rows.length };
}

/** The encapsulated schema of a result or a parameter list without fields. */
export const emptySchema: Uint8Array = ipcParts(new Table(new Schema([]))).schema;
