import { QueryError, throwIfAborted } from '@svc/base';
import type { Cell, MetadataFiles, MetadataTable, NestedField } from '@svc/lake';
import type { ScanRequest } from '@svc/sql';
import { Field, makeData, RecordBatch, Schema, Struct, Table, tableToIPC } from 'apache-arrow';
import { arrowType } from '../results/table-arrow-schema.js';
import { cellData } from './cell-data.js';

/** Rows that are converted at a time: milliseconds of work, so that others get their turn. */
const rowsPerBatch = 1024;

export interface MetadataRowsOptions {
  readonly name: string;
  readonly request: ScanRequest;
  readonly files: MetadataFiles;
  readonly signal: AbortSignal;
  /** All rows together, as Arrow. */
  readonly maxBytes: number;
}

/** The rows of a metadata table as an Arrow IPC stream; columns that are not read are NULL. Throws RESULT_TOO_LARGE. */
export async function metadataRows(
  table: MetadataTable,
  { name, request, files, signal, maxBytes }: MetadataRowsOptions,
): Promise<Uint8Array> {
  const isWanted = (column: string) =>
    request.columns === undefined || request.columns.some(([first]) => first === column);
  const schema = new Schema(
    table.fields.map((field) => new Field(field.name, arrowType(field.type, 'UTC'), true)),
  );
  const batches: RecordBatch[] = [];
  let bytes = 0;
  let rows: (readonly Cell[])[] = [];
  const convert = () => {
    for (let start = 0; start < rows.length; start += rowsPerBatch) {
      const batch = batchOf(schema, table.fields, rows.slice(start, start + rowsPerBatch));
      bytes += batch.data.byteLength;
      if (bytes > maxBytes)
        throw new QueryError(
          'RESULT_TOO_LARGE',
          `The rows of ${name} take more than ${maxBytes} bytes with the columns that the statement reads: read fewer columns.`,
        );
      batches.push(batch);
    }
    rows = [];
  };
  for await (const piece of table.rows(isWanted, { files, signal })) {
    throwIfAborted(signal);
    rows.push(...piece);
    if (rows.length >= rowsPerBatch) {
      convert();
      await new Promise(setImmediate);
    }
  }
  convert();
  return tableToIPC(new Table(schema, batches), 'stream');
}

function batchOf(
  schema: Schema,
  fields: readonly NestedField[],
  rows: readonly (readonly Cell[])[],
): RecordBatch {
  const children = fields.map(({ type }, index) =>
    cellData(
      type,
      rows.map((row) => row[index]),
    ),
  );
  const data = makeData({ type: new Struct(schema.fields), length: rows.length, nullCount: 0, children });
  return new RecordBatch(schema, data);
}
