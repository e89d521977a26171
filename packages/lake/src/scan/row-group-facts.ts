import { onlyNulls, summariseChunk } from '../parquet/chunk-summary.js';
import { type ColumnChunk, readColumnChunk } from '../parquet/column-chunk.js';
import type { ParquetFooter } from '../parquet/footer.js';
import { decodePlain } from '../parquet/plain-value.js';
import type { LeafOfField } from '../parquet/prune-row-groups.js';
import type { ParquetLeaf } from '../parquet/schema.js';
import { type BoundUse, type ColumnFacts, describeRows, type RowFacts, type TypedField } from './row-use.js';

/** What a footer says of the rows of a row group. */
export function describeRowGroup(
  use: BoundUse,
  footer: ParquetFooter,
  rowGroup: number,
  leafOf: LeafOfField,
): RowFacts {
  const rowCount = footer.rowCounts[rowGroup] ?? 0;
  return describeRows(use, rowCount, (field): ColumnFacts | undefined => {
    const leaf = leafOf(field.id);
    if (leaf === null) return { summary: onlyNulls, nullCount: rowCount, isExact: true };
    if (leaf === undefined) return undefined;
    const chunk = readColumnChunk(footer, rowGroup, leaf.column);
    const hasTypeDefinedOrder = footer.hasTypeDefinedOrder[leaf.column] === true;
    return {
      summary: summariseChunk(field.type, leaf, chunk, hasTypeDefinedOrder),
      nullCount: chunk.statistics.nullCount,
      isExact: areBoundsExact(field, leaf, chunk),
    };
  });
}

/** Whole numbers of a fixed width, which no writer cuts, that the table's type takes over as they are. */
function areBoundsExact({ type }: TypedField, leaf: ParquetLeaf, { statistics }: ColumnChunk): boolean {
  if (leaf.physical !== 'INT32' && leaf.physical !== 'INT64') return false;
  if (statistics.isMinExact === false || statistics.isMaxExact === false) return false;
  const bounds = [statistics.min ?? statistics.deprecatedMin, statistics.max ?? statistics.deprecatedMax];
  return bounds.every((bytes) => {
    const range = bytes && decodePlain(type, leaf, bytes);
    return range !== undefined && range.low === range.high;
  });
}
