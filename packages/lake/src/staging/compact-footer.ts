import { encodedChunkFields, readColumnChunk } from '../parquet/column-chunk.js';
import type { ParquetFooter } from '../parquet/footer.js';
import type { ParquetNode } from '../parquet/schema.js';
import { CompactReader, wireType } from '../parquet/thrift/compact-reader.js';
import { CompactWriter } from '../parquet/thrift/compact-writer.js';
import { withTrailer } from '../parquet/thrift/footer-trailer.js';
import type { CompactLayout, PlacedChunk, PlacedRowGroup } from './compact-layout.js';
import { writeRowDeltaChunk, writeRowDeltaElement } from './row-delta.js';
import type { Selection } from './selection.js';

/**
 * The footer of a compact file with its length and magic bytes. Descriptions of chunks are taken over field by field,
 * known or not, except for positions; page indexes and bloom filters stay behind.
 */
export function encodeCompactFooter(
  footer: ParquetFooter,
  selection: Selection,
  layout: CompactLayout,
): Uint8Array {
  const writer = new CompactWriter();
  writer.structElement(() => {
    writer.i32(1, 1);
    const columns = writeSchema(writer, footer, selection);
    writer.i64(3, layout.rowCount);
    writer.list(4, wireType.struct, layout.rowGroups.length);
    for (const rowGroup of layout.rowGroups) writeRowGroup(writer, footer, rowGroup);
    writer.binary(6, Buffer.from(footer.createdBy));
    if (columns.every((column) => footer.hasTypeDefinedOrder[column] === true)) {
      writer.list(7, wireType.struct, columns.length + 1);
      for (let index = 0; index <= columns.length; index++)
        writer.structElement(() => writer.struct(1, () => undefined));
    }
  });
  return withTrailer(writer.bytes());
}

/** Whole top-level columns are kept, so only the root's child count changes. Answers the kept column numbers. */
function writeSchema(writer: CompactWriter, footer: ParquetFooter, selection: Selection): readonly number[] {
  const { root, elements } = footer.schema;
  const names = new Set(selection.columns);
  const kept: Uint8Array[] = [];
  const columns: number[] = [];
  let next = 1;
  let childCount = 1;
  for (const child of root.children) {
    const end = next + nodeCount(child);
    if (names.has(child.name)) {
      kept.push(...elements.slice(next, end));
      childCount += 1;
      const [first, last] =
        child.kind === 'leaf' ? [child.column, child.column + 1] : [child.firstColumn, child.endColumn];
      for (let column = first; column < last; column++) columns.push(column);
    }
    next = end;
  }
  writer.list(2, wireType.struct, kept.length + 2);
  writeRoot(writer, elements[0] ?? new Uint8Array(), childCount, footer.location);
  for (const element of kept) writer.rawElement(element);
  writeRowDeltaElement(writer);
  return columns;
}

function nodeCount(node: ParquetNode): number {
  return node.kind === 'leaf' ? 1 : node.children.reduce((sum, child) => sum + nodeCount(child), 1);
}

function writeRoot(writer: CompactWriter, element: Uint8Array, childCount: number, location: string): void {
  const reader = new CompactReader(element, location);
  writer.structElement(() => {
    reader.fields((id, type) => {
      const start = reader.position;
      reader.skip(type);
      if (id === 5) writer.i32(5, childCount);
      else writer.raw(id, type, element.subarray(start, reader.position));
      return true;
    });
  });
}

function writeRowGroup(writer: CompactWriter, footer: ParquetFooter, rowGroup: PlacedRowGroup): void {
  const { chunks, rowDelta, rowDeltaStart, rowCount } = rowGroup;
  let uncompressed = rowDelta.bytes.length;
  let compressed = rowDelta.bytes.length;
  writer.structElement(() => {
    writer.list(1, wireType.struct, chunks.length + 1);
    for (const chunk of chunks) {
      uncompressed += writeChunk(writer, footer, chunk);
      compressed += chunk.sourceEnd - chunk.sourceStart;
    }
    writeRowDeltaChunk(writer, rowDelta, rowDeltaStart, rowCount);
    writer.i64(2, uncompressed);
    writer.i64(3, rowCount);
    writer.i64(6, compressed);
  });
}

/** Answers the chunk's uncompressed size. */
function writeChunk(writer: CompactWriter, footer: ParquetFooter, placed: PlacedChunk): number {
  const { rowGroup, column, sourceStart, targetStart } = placed;
  const original = readColumnChunk(footer, rowGroup, column);
  const shift = targetStart - sourceStart;
  writer.structElement(() => {
    writer.i64(2, 0);
    writer.struct(3, () => {
      for (const field of encodedChunkFields(footer, rowGroup, column).metadata) {
        switch (field.id) {
          case 9:
            writer.i64(9, original.dataPageStart + shift);
            break;
          case 11:
            if (original.dictionaryPageStart !== undefined)
              writer.i64(11, original.dictionaryPageStart + shift);
            break;
          case 10: // The index page,
          case 14: // the bloom filter's position
          case 15: // and its length.
            break;
          default:
            writer.raw(field.id, field.type, footer.bytes.subarray(field.start, field.end));
        }
      }
    });
  });
  return original.uncompressedBytes;
}
