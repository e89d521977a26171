/** Column chunks of required columns, made by hand: one value in every row, and plain pages. */
import { CompactWriter } from '../parquet/thrift/compact-writer.js';

/** Physical types of the format. */
export const int64Type = 2;
export const byteArrayType = 6;

const plain = 0;
const rle = 3;
const rleDictionary = 8;
const listOfIntegers = 5;
const listOfBinaries = 8;

export interface EncodedChunk {
  readonly bytes: Uint8Array;
  /** Position of the data page in `bytes`; the dictionary page is at 0. */
  readonly dataPageOffset: number;
}

/** A chunk with the same value, given in PLAIN encoding, in every row: a dictionary of one, and one run of its index. */
export function encodeConstantChunk(plainValue: Uint8Array, rowCount: number): EncodedChunk {
  const dictionaryPage = page(2, plainValue, (header) =>
    header.struct(7, () => {
      header.i32(1, 1);
      header.i32(2, plain);
    }),
  );
  const run = new CompactWriter();
  run.rawElement(Uint8Array.of(1)); // Bit width of the indexes.
  run.varint(rowCount * 2);
  run.rawElement(Uint8Array.of(0));
  const dataPage = page(0, run.bytes(), (header) => writeDataPage(header, rowCount, rleDictionary));
  return { bytes: Buffer.concat([dictionaryPage, dataPage]), dataPageOffset: dictionaryPage.length };
}

/** What stands in front of `valueCount` plain values in `bytes` bytes. */
export function plainPageHeader(bytes: number, valueCount: number): Uint8Array {
  return pageHeader(0, bytes, (header) => writeDataPage(header, valueCount, plain));
}

function writeDataPage(header: CompactWriter, valueCount: number, encoding: number): void {
  header.struct(5, () => {
    header.i32(1, valueCount);
    header.i32(2, encoding);
    header.i32(3, rle);
    header.i32(4, rle);
  });
}

function page(type: number, body: Uint8Array, writeRest: (header: CompactWriter) => void): Buffer {
  return Buffer.concat([pageHeader(type, body.length, writeRest), body]);
}

function pageHeader(type: number, bytes: number, writeRest: (header: CompactWriter) => void): Uint8Array {
  const header = new CompactWriter();
  header.structElement(() => {
    header.i32(1, type);
    header.i32(2, bytes);
    header.i32(3, bytes);
    writeRest(header);
  });
  return header.bytes();
}

export interface ChunkPlace {
  /** Of plain values there is none. */
  readonly dictionaryStart?: number;
  readonly dataPageStart: number;
  readonly bytes: number;
  readonly valueCount: number;
}

/** The ColumnChunk of an uncompressed column; `path` are the names that lead to it. */
export function writeChunk(
  writer: CompactWriter,
  type: number,
  path: readonly string[],
  place: ChunkPlace,
): void {
  const { dictionaryStart, dataPageStart, bytes, valueCount } = place;
  writer.structElement(() => {
    writer.i64(2, 0);
    writer.struct(3, () => {
      writer.i32(1, type);
      writer.list(2, listOfIntegers, 2);
      writer.integerElement(plain);
      writer.integerElement(dictionaryStart === undefined ? rle : rleDictionary);
      writer.list(3, listOfBinaries, path.length);
      for (const name of path) writer.binaryElement(Buffer.from(name));
      writer.i32(4, 0);
      writer.i64(5, valueCount);
      writer.i64(6, bytes);
      writer.i64(7, bytes);
      writer.i64(9, dataPageStart);
      if (dictionaryStart !== undefined) writer.i64(11, dictionaryStart);
    });
  });
}
