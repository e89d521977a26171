import type { CompactWriter } from '../parquet/thrift/compact-writer.js';
import { type EncodedChunk, encodeConstantChunk, int64Type, writeChunk } from './constant-chunk.js';

/** The column that compact files have besides the table's: original position = `file_row_number` + `__row_delta`. */
export const rowDeltaName = '__row_delta';

/** The column's chunk of a row group whose rows have all moved by `delta`. */
export function encodeRowDelta(delta: number, rowCount: number): EncodedChunk {
  const value = Buffer.alloc(8);
  value.writeBigInt64LE(BigInt(delta));
  return encodeConstantChunk(value, rowCount);
}

/** The column's SchemaElement. */
export function writeRowDeltaElement(writer: CompactWriter): void {
  writer.structElement(() => {
    writer.i32(1, int64Type);
    writer.i32(3, 0);
    writer.binary(4, Buffer.from(rowDeltaName));
  });
}

/** The column's ColumnChunk for a chunk that starts at `start` of the file. */
export function writeRowDeltaChunk(
  writer: CompactWriter,
  chunk: EncodedChunk,
  start: number,
  rowCount: number,
): void {
  writeChunk(writer, int64Type, [rowDeltaName], {
    dictionaryStart: start,
    dataPageStart: start + chunk.dataPageOffset,
    bytes: chunk.bytes.length,
    valueCount: rowCount,
  });
}
