import { type ColumnChunk, encodedChunkFields, readColumnChunk } from '../column-chunk.js';
import type { ParquetFooter } from '../footer.js';
import type { ParquetNode } from '../schema.js';
import { CompactReader, wireType } from '../thrift/compact-reader.js';
import { CompactWriter } from '../thrift/compact-writer.js';
import { withTrailer } from '../thrift/footer-trailer.js';
import type { FixedChunk } from './fixed-chunk.js';

export interface FooterChanges {
  /** By column number: columns that are of this fixed length now. */
  readonly fixedLengths: ReadonlyMap<number, number>;
  /** Column numbers. */
  readonly withoutBloom: ReadonlySet<number>;
  /** Of the columns with a fixed length. */
  readonly fixedChunk: (rowGroup: number, column: number) => FixedChunk | undefined;
  /** Where now is what was at this byte, which does not lie within a chunk of a fixed length. */
  readonly moved: (offset: number) => number;
}

/** `Type` of parquet.thrift. */
const fixedLengthByteArray = 7;

/**
 * A file's footer after the changes, with its length and magic bytes. All else is taken over field by field, known or
 * not; page indexes stay behind, they would point to where pages were.
 */
export function encodeChangedFooter(footer: ParquetFooter, changes: FooterChanges): Uint8Array {
  const { bytes, location } = footer;
  const writer = new CompactWriter();
  const reader = new CompactReader(bytes, location);
  writer.structElement(() => {
    reader.fields((id, type) => {
      const start = reader.position;
      if (id === 4) writeRowGroups(writer, reader, footer, changes);
      else {
        reader.skip(type);
        if (id === 2) writeSchema(writer, footer, changes);
        else writer.raw(id, type, bytes.subarray(start, reader.position));
      }
      return true;
    });
  });
  return withTrailer(writer.bytes());
}

function writeSchema(writer: CompactWriter, footer: ParquetFooter, { fixedLengths }: FooterChanges): void {
  const { root, elements } = footer.schema;
  const columns = columnsOfElements(root);
  writer.list(2, wireType.struct, elements.length);
  for (const [index, element] of elements.entries()) {
    const length = fixedLengths.get(columns[index] ?? -1);
    if (length === undefined) writer.rawElement(element);
    else writeFixedElement(writer, new CompactReader(element, footer.location), element, length);
  }
}

/** The column number of each element, or `undefined` of a group's: elements come in the order of the tree. */
function columnsOfElements(node: ParquetNode): readonly (number | undefined)[] {
  return node.kind === 'leaf' ? [node.column] : [undefined, ...node.children.flatMap(columnsOfElements)];
}

function writeFixedElement(
  writer: CompactWriter,
  reader: CompactReader,
  element: Uint8Array,
  length: number,
): void {
  writer.structElement(() => {
    writer.i32(1, fixedLengthByteArray);
    writer.i32(2, length);
    reader.fields((id, type) => {
      const start = reader.position;
      reader.skip(type);
      if (id > 2) writer.raw(id, type, element.subarray(start, reader.position));
      return true;
    });
  });
}

function writeRowGroups(
  writer: CompactWriter,
  reader: CompactReader,
  footer: ParquetFooter,
  changes: FooterChanges,
): void {
  const { count } = reader.list();
  writer.list(4, wireType.struct, count);
  for (let rowGroup = 0; rowGroup < count; rowGroup++)
    writer.structElement(() => writeRowGroup(writer, reader, rowGroup, { footer, changes }));
}

function writeRowGroup(
  writer: CompactWriter,
  reader: CompactReader,
  rowGroup: number,
  context: ChunkContext,
): void {
  const { footer, changes } = context;
  let grown = { uncompressed: 0, compressed: 0 };
  reader.fields((id, type) => {
    const start = reader.position;
    switch (id) {
      case 1:
        reader.skip(type);
        grown = writeChunks(writer, rowGroup, context);
        break;
      case 2:
        writer.i64(2, reader.integer() + grown.uncompressed);
        break;
      case 5:
        writer.i64(5, changes.moved(reader.integer()));
        break;
      case 6:
        writer.i64(6, reader.integer() + grown.compressed);
        break;
      default:
        reader.skip(type);
        writer.raw(id, type, footer.bytes.subarray(start, reader.position));
    }
    return true;
  });
}

interface ChunkContext {
  readonly footer: ParquetFooter;
  readonly changes: FooterChanges;
}

/** Answers by how much the row group is larger than it was. */
function writeChunks(
  writer: CompactWriter,
  rowGroup: number,
  context: ChunkContext,
): { readonly uncompressed: number; readonly compressed: number } {
  const { footer, changes } = context;
  const { leaves } = footer.schema;
  let [uncompressed, compressed] = [0, 0];
  writer.list(1, wireType.struct, leaves.length);
  for (const { column } of leaves) {
    const original = readColumnChunk(footer, rowGroup, column);
    const fixed = changes.fixedChunk(rowGroup, column);
    if (fixed !== undefined) {
      uncompressed += fixed.uncompressedBytes - original.uncompressedBytes;
      compressed += fixed.compressedBytes - (original.end - original.start);
    }
    writeChunk(writer, { rowGroup, column, original, fixed }, context);
  }
  return { uncompressed, compressed };
}

interface ChunkToWrite {
  readonly rowGroup: number;
  readonly column: number;
  readonly original: ColumnChunk;
  readonly fixed: FixedChunk | undefined;
}

function writeChunk(writer: CompactWriter, chunk: ChunkToWrite, { footer, changes }: ChunkContext): void {
  const { rowGroup, column } = chunk;
  const { bytes, location } = footer;
  const encoded = encodedChunkFields(footer, rowGroup, column);
  const numbers = changedNumbers(chunk, changes);
  const writeMetadata = () => {
    for (const { id, type, start, end } of encoded.metadata) {
      const number = numbers.get(id);
      if (number !== undefined && type === wireType.i32) writer.i32(id, number);
      else if (number !== undefined) writer.i64(id, number);
      else if (!numbers.has(id)) writer.raw(id, type, bytes.subarray(start, end));
    }
  };
  writer.structElement(() => {
    for (const { id, type, start, end } of encoded.chunk) {
      if (id === 2) writer.i64(2, changes.moved(new CompactReader(bytes, location, start).integer()));
      else if (id === 3) writer.struct(3, writeMetadata);
      else if (id < 4 || id > 7) writer.raw(id, type, bytes.subarray(start, end));
    }
  });
}

/** Fields of ColumnMetaData by their ids: their numbers now, or `undefined` of what is left out. */
function changedNumbers(
  { column, original, fixed }: ChunkToWrite,
  { moved, withoutBloom }: FooterChanges,
): ReadonlyMap<number, number | undefined> {
  const start = moved(original.start);
  const numbers = new Map<number, number | undefined>([
    [9, fixed === undefined ? moved(original.dataPageStart) : start + fixed.dataPageOffset],
    // An index page, which nobody writes.
    [10, undefined],
    // Without a dictionary it may be there too, as 0.
    [11, original.dictionaryPageStart === undefined ? undefined : start],
  ]);
  const { bloomFilterStart } = original;
  if (bloomFilterStart !== undefined) numbers.set(14, moved(bloomFilterStart));
  if (withoutBloom.has(column)) numbers.set(14, undefined).set(15, undefined);
  if (fixed === undefined) return numbers;
  return (
    numbers
      .set(1, fixedLengthByteArray)
      .set(4, fixed.codec)
      .set(6, fixed.uncompressedBytes)
      .set(7, fixed.compressedBytes)
      // How many bytes values of any length take.
      .set(16, undefined)
  );
}
