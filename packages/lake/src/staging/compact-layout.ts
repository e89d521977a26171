/**
 * The layout of a compact file: some row groups and columns of a Parquet file as a Parquet file of their own, with
 * the chunks' bytes taken over unchanged. Everything is known from the footer before a byte is fetched, and the data
 * comes in the order of the original, so that a compact file is written in one pass and its chunks can be found again
 * from the original's footer alone.
 */
import { QueryError } from '@svc/base';
import { chunkBytes, readColumnChunk } from '../parquet/column-chunk.js';
import type { ParquetFooter } from '../parquet/footer.js';
import { displayLocation } from '../storage/display-location.js';
import type { EncodedChunk } from './constant-chunk.js';
import { encodeRowDelta, rowDeltaName } from './row-delta.js';
import type { Selection } from './selection.js';

/** A chunk of the original and where it goes. */
export interface PlacedChunk {
  readonly rowGroup: number;
  readonly column: number;
  readonly sourceStart: number;
  readonly sourceEnd: number;
  readonly targetStart: number;
}

export interface PlacedRowGroup {
  readonly rowCount: number;
  /** In the order of the schema. */
  readonly chunks: readonly PlacedChunk[];
  readonly rowDelta: EncodedChunk;
  readonly rowDeltaStart: number;
}

export interface CompactLayout {
  readonly rowGroups: readonly PlacedRowGroup[];
  /** All chunks in the order in which they are written. */
  readonly chunks: readonly PlacedChunk[];
  /** Where the data ends and the `__row_delta` chunks begin. */
  readonly rowDeltaStart: number;
  readonly footerStart: number;
  readonly rowCount: number;
}

/** `dataStart` is where the first chunk goes. Throws UNSUPPORTED_TABLE_FEATURE for a file that has `__row_delta` itself. */
export function layOut(footer: ParquetFooter, selection: Selection, dataStart: number): CompactLayout {
  checkColumnNames(footer);
  const columns = selectedColumns(footer, selection);
  const placed: { rowGroup: number; chunks: PlacedChunk[]; delta: number }[] = [];
  const written: PlacedChunk[] = [];
  let target = dataStart;
  let rowsBefore = 0;
  let sourceRow = 0;
  let nextSelected = 0;
  for (let rowGroup = 0; rowGroup < footer.rowGroupCount; rowGroup++) {
    const rowCount = footer.rowCounts[rowGroup] ?? 0;
    const isSelected = selection.rowGroups[nextSelected] === rowGroup;
    if (isSelected) nextSelected += 1;
    if (isSelected && rowCount > 0) {
      const chunks = placeChunks(footer, rowGroup, columns, target);
      written.push(...chunks);
      target = chunks.reduce((sum, chunk) => sum + chunk.sourceEnd - chunk.sourceStart, target);
      placed.push({
        rowGroup,
        chunks: chunks.toSorted((a, b) => a.column - b.column),
        delta: sourceRow - rowsBefore,
      });
      rowsBefore += rowCount;
    }
    sourceRow += rowCount;
  }
  const rowDeltaStart = target;
  const rowGroups = placed.map(({ rowGroup, chunks, delta }) => {
    const rowCount = footer.rowCounts[rowGroup] ?? 0;
    const rowDelta = encodeRowDelta(delta, rowCount);
    const start = target;
    target += rowDelta.bytes.length;
    return { rowCount, chunks, rowDelta, rowDeltaStart: start };
  });
  return { rowGroups, chunks: written, rowDeltaStart, footerStart: target, rowCount: rowsBefore };
}

/** Column numbers of the selection, ascending. A name that the file lacks is DATA_CORRUPT: it was planned on this footer. */
export function selectedColumns(
  footer: ParquetFooter,
  selection: Pick<Selection, 'columns'>,
): readonly number[] {
  const columns: number[] = [];
  const missing = new Set(selection.columns);
  for (const child of footer.schema.root.children) {
    if (!missing.delete(child.name)) continue;
    if (child.kind === 'leaf') columns.push(child.column);
    else for (let column = child.firstColumn; column < child.endColumn; column++) columns.push(column);
  }
  for (const name of missing)
    throw new QueryError(
      'DATA_CORRUPT',
      `The Parquet file ${displayLocation(footer.location)} has no column ${name}.`,
    );
  return columns;
}

/** Bytes of the selected chunks. */
export function selectionBytes(footer: ParquetFooter, selection: Selection): number {
  const columns = selectedColumns(footer, selection);
  let sum = 0;
  for (const rowGroup of selection.rowGroups) {
    if (footer.rowCounts[rowGroup] === 0) continue;
    for (const column of columns) sum += chunkBytes(footer, rowGroup, column);
  }
  return sum;
}

function placeChunks(
  footer: ParquetFooter,
  rowGroup: number,
  columns: readonly number[],
  target: number,
): PlacedChunk[] {
  let targetStart = target;
  return columns
    .map((column) => ({ column, chunk: readColumnChunk(footer, rowGroup, column) }))
    .sort((a, b) => a.chunk.start - b.chunk.start)
    .map(({ column, chunk }) => {
      const placed = { rowGroup, column, sourceStart: chunk.start, sourceEnd: chunk.end, targetStart };
      targetStart += chunk.end - chunk.start;
      return placed;
    });
}

/** Throws UNSUPPORTED_TABLE_FEATURE for a file that has `__row_delta` itself. */
export function checkColumnNames(footer: ParquetFooter): void {
  if (footer.schema.root.children.some((child) => child.name.toLowerCase() === rowDeltaName))
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The file ${displayLocation(footer.location)} has a column named ${rowDeltaName}, which is reserved.`,
    );
}
