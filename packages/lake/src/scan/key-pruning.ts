/** Whether keys could leave out row groups of a planned scan, before anybody looks for keys. */
import { findField } from '../iceberg/expressions/bind-filter.js';
import type { ColumnSummary } from '../iceberg/expressions/column-predicate.js';
import { isPrimitive } from '../iceberg/spec/type-text.js';
import { compareValues } from '../iceberg/spec/values.js';
import { summariseChunk } from '../parquet/chunk-summary.js';
import { readColumnChunk } from '../parquet/column-chunk.js';
import { rowGroupsWithRows } from '../parquet/footer.js';
import { mapConcurrently } from '../storage/map-concurrently.js';
import { leavesById, type NarrowScanOptions } from './narrow-scan.js';
import type { TableScan } from './table-scan.js';

/**
 * `ranges`: row groups differ in the values that the column has there. `bloom`: they do not, but have bloom filters, which
 * few keys can be looked for in.
 */
export type KeyPruning = 'ranges' | 'bloom';

/** Looked at: what holds for some files, evenly spread, holds for about all of them. */
const maxFiles = 32;
const maxRowGroups = 256;

/** Where more of the row groups' ranges overlap, a key lies in most of them. */
const maxOverlap = 0.5;

/** Undefined where keys of the column could hardly leave anything out. Throws what reading a footer throws. */
export async function keyPruning(
  scan: TableScan,
  column: string,
  options: NarrowScanOptions,
): Promise<KeyPruning | undefined> {
  const { signal, store, footers } = options;
  const field = findField([column], scan.columns);
  if (field === undefined || !isPrimitive(field.type)) return undefined;
  const { id, type } = field;
  const files = evenly(
    scan.groups.flatMap((group) => group.files.map((file) => ({ file, group }))),
    maxFiles,
  );
  const chunks = await mapConcurrently(
    files,
    { maxConcurrent: maxFiles, signal },
    async ({ file, group }) => {
      const footer = await footers.get(store, file, signal);
      const leaf = leavesById(scan, group, footer).get(id);
      if (leaf === undefined) return [];
      const isOrdered = footer.hasTypeDefinedOrder[leaf.column] === true;
      return (file.rowGroups ?? rowGroupsWithRows(footer)).map((rowGroup) => {
        const chunk = readColumnChunk(footer, rowGroup, leaf.column);
        return {
          summary: summariseChunk(type, leaf, chunk, isOrdered),
          hasBloom: chunk.bloomFilterStart !== undefined,
        };
      });
    },
  );
  const sample = evenly(chunks.flat(), maxRowGroups);
  if (overlap(sample.flatMap(({ summary }) => summary ?? [])) <= maxOverlap) return 'ranges';
  return sample.some(({ hasBloom }) => hasBloom) ? 'bloom' : undefined;
}

/** Which share of all pairs of ranges have something in common. */
function overlap(summaries: readonly ColumnSummary[]): number {
  const ranges = summaries.flatMap(({ lower, upper }) =>
    lower === undefined || upper === undefined ? [] : [{ lower, upper }],
  );
  let pairs = 0;
  for (const [index, one] of ranges.entries())
    for (const other of ranges.slice(index + 1))
      if (compareValues(one.lower, other.upper) <= 0 && compareValues(other.lower, one.upper) <= 0)
        pairs += 1;
  return ranges.length < 2 ? 1 : pairs / ((ranges.length * (ranges.length - 1)) / 2);
}

function evenly<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items;
  return Array.from(
    { length: count },
    (_none, index) => items[Math.floor((index * items.length) / count)],
  ).filter((item) => item !== undefined);
}
