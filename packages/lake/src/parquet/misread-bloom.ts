import { readColumnChunk } from './column-chunk.js';
import { type ParquetFooter, rowGroupsWithRows } from './footer.js';
import type { ParquetLeaf } from './schema.js';

/**
 * Whether DuckDB finds too little by bloom filters of such a column. It hashes another text than the bytes of a BLOB, and
 * -0.0 unlike 0.0: rows that are equal to the value asked for would be missing.
 */
function isBloomMisread({ physical, logical }: ParquetLeaf): boolean {
  switch (physical) {
    case 'FLOAT':
    case 'DOUBLE':
      return true;
    case 'BYTE_ARRAY':
    case 'FIXED_LEN_BYTE_ARRAY':
      return logical === undefined;
    default:
      return false;
  }
}

/** Which of the columns have a bloom filter that is misread. */
export function columnsWithMisreadBloom(
  footer: ParquetFooter,
  columns: readonly number[],
): ReadonlySet<number> {
  const { leaves } = footer.schema;
  const rowGroups = rowGroupsWithRows(footer);
  const suspects = columns.filter((column) => {
    const leaf = leaves[column];
    return leaf !== undefined && isBloomMisread(leaf);
  });
  return new Set(
    suspects.filter((column) =>
      rowGroups.some((rowGroup) => readColumnChunk(footer, rowGroup, column).bloomFilterStart !== undefined),
    ),
  );
}
