/**
 * Parquet files that list deleted rows for the engine: the path of a staged file in every row, and a position in it.
 * Uncompressed pages are written as they come, so that only one is in memory.
 */
import type { FileHandle } from 'node:fs/promises';
import { deletionColumns } from '../deletes/deleted-rows.js';
import { CompactWriter } from '../parquet/thrift/compact-writer.js';
import { withTrailer } from '../parquet/thrift/footer-trailer.js';
import {
  byteArrayType,
  encodeConstantChunk,
  int64Type,
  plainPageHeader,
  writeChunk,
} from './constant-chunk.js';

const utf8 = 0;
const structType = 12;

/** Writes the file from pages of 64-bit positions; answers how many there are. */
export async function writePositionsFile(
  file: FileHandle,
  ofFile: string,
  pages: Iterable<Uint8Array>,
): Promise<number> {
  let end = 0;
  let count = 0;
  const append = async (bytes: Uint8Array): Promise<void> => {
    await file.writeFile(bytes);
    end += bytes.length;
  };
  await append(Buffer.from('PAR1'));
  const start = end;
  for (const page of pages) {
    await append(plainPageHeader(page.length, page.length / 8));
    await append(page);
    count += page.length / 8;
  }
  const positionBytes = end - start;
  const path = Buffer.from(ofFile);
  const plainPath = Buffer.alloc(4 + path.length);
  plainPath.writeUInt32LE(path.length);
  path.copy(plainPath, 4);
  const constant = encodeConstantChunk(plainPath, count);
  const constantStart = end;
  await append(constant.bytes);
  await append(
    encodeFooter(count, (writer) => {
      writeChunk(writer, int64Type, [deletionColumns.position], {
        dataPageStart: start,
        bytes: positionBytes,
        valueCount: count,
      });
      writeChunk(writer, byteArrayType, [deletionColumns.file], {
        dictionaryStart: constantStart,
        dataPageStart: constantStart + constant.dataPageOffset,
        bytes: constant.bytes.length,
        valueCount: count,
      });
      return positionBytes + constant.bytes.length;
    }),
  );
  return count;
}

function encodeFooter(rowCount: number, writeChunks: (writer: CompactWriter) => number): Uint8Array {
  const writer = new CompactWriter();
  writer.structElement(() => {
    writer.i32(1, 1);
    writer.list(2, structType, 3);
    writer.structElement(() => {
      writer.binary(4, Buffer.from('schema'));
      writer.i32(5, 2);
    });
    writeColumn(writer, int64Type, deletionColumns.position);
    writeColumn(writer, byteArrayType, deletionColumns.file);
    writer.i64(3, rowCount);
    writer.list(4, structType, rowCount === 0 ? 0 : 1);
    if (rowCount > 0)
      writer.structElement(() => {
        writer.list(1, structType, 2);
        writer.i64(2, writeChunks(writer));
        writer.i64(3, rowCount);
      });
  });
  return withTrailer(writer.bytes());
}

function writeColumn(writer: CompactWriter, type: number, name: string): void {
  writer.structElement(() => {
    writer.i32(1, type);
    writer.i32(3, 0);
    writer.binary(4, Buffer.from(name));
    if (type === byteArrayType) writer.i32(6, utf8);
  });
}
