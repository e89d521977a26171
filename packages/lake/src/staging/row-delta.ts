import { CompactWriter } from '../parquet/thrift/compact-writer.js';

/** The column that compact files have besides the table's: original position = `file_row_number` + `__row_delta`. */
export const rowDeltaName = '__row_delta';

const int64 = 2;
const plain = 0;
const rle = 3;
const rleDictionary = 8;

export interface EncodedChunk {
  readonly bytes: Uint8Array;
  /** Position of the data page in `bytes`; the dictionary page is at 0. */
  readonly dataPageOffset: number;
}

/** A required INT64 column chunk with the same value in every row: a dictionary of one, and one run of its index. */
export function encodeConstantChunk(value: number, rowCount: number): EncodedChunk {
  const dictionary = Buffer.alloc(8);
  dictionary.writeBigInt64LE(BigInt(value));
  const dictionaryPage = page(2, dictionary, (header) =>
    header.struct(7, () => {
      header.i32(1, 1);
      header.i32(2, plain);
    }),
  );
  const run = new CompactWriter();
  run.rawElement(Uint8Array.of(1)); // Bit width of the indexes.
  run.varint(rowCount * 2);
  run.rawElement(Uint8Array.of(0));
  const dataPage = page(0, run.bytes(), (header) =>
    header.struct(5, () => {
      header.i32(1, rowCount);
      header.i32(2, rleDictionary);
      header.i32(3, rle);
      header.i32(4, rle);
    }),
  );
  return { bytes: Buffer.concat([dictionaryPage, dataPage]), dataPageOffset: dictionaryPage.length };
}

function page(type: number, body: Uint8Array, writeHeader: (header: CompactWriter) => void): Buffer {
  const header = new CompactWriter();
  header.structElement(() => {
    header.i32(1, type);
    header.i32(2, body.length);
    header.i32(3, body.length);
    writeHeader(header);
  });
  return Buffer.concat([header.bytes(), body]);
}

/** The column's SchemaElement. */
export function writeRowDeltaElement(writer: CompactWriter): void {
  writer.structElement(() => {
    writer.i32(1, int64);
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
  writer.structElement(() => {
    writer.i64(2, 0);
    writer.struct(3, () => {
      writer.i32(1, int64);
      writer.list(2, 5, 2);
      writer.integerElement(plain);
      writer.integerElement(rleDictionary);
      writer.list(3, 8, 1);
      writer.binaryElement(Buffer.from(rowDeltaName));
      writer.i32(4, 0);
      writer.i64(5, rowCount);
      writer.i64(6, chunk.bytes.length);
      writer.i64(7, chunk.bytes.length);
      writer.i64(9, start + chunk.dataPageOffset);
      writer.i64(11, start);
    });
  });
}
