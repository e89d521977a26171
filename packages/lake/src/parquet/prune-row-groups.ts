/**
 * Which row groups of a file may hold rows that a filter keeps. On any uncertainty a row group is kept: pruning never
 * changes what a query answers, only what it reads.
 */
import type { BoundFilter, ColumnFilter } from '../iceberg/expressions/bind-filter.js';
import { type ColumnSummary, predicateMightHold } from '../iceberg/expressions/column-predicate.js';
import { filterMightHold } from '../iceberg/expressions/evaluate-filter.js';
import type { ObjectStore } from '../storage/object-store.js';
import {
  type BloomFilter,
  type BloomFilterReader,
  type BloomQuestion,
  bloomMightContain,
  bytesOfAnswer,
  readBloomFilters,
  wantedHashes,
  wantedValues,
} from './bloom-filter.js';
import { onlyNulls, summariseChunk } from './chunk-summary.js';
import { readColumnChunk } from './column-chunk.js';
import { type ParquetFooter, rowGroupsWithRows } from './footer.js';
import type { ParquetLeaf } from './schema.js';

/** Bytes of bloom filters in memory at a time, about. */
const maxBatchBytes = 32 * 1024 * 1024;

/** Where a field's values are in the file: a column; `null` when all of them are NULL; `undefined` when unknown. */
export type LeafOfField = (fieldId: number) => ParquetLeaf | null | undefined;

export interface PruneOptions {
  readonly filter: BoundFilter;
  readonly leafOf: LeafOfField;
  readonly store: ObjectStore;
  /** Fetches bloom filters, or has them. */
  readonly bloomFilters?: BloomFilterReader;
  /** To look among these only, ascending. */
  readonly rowGroups?: readonly number[] | undefined;
  /** Bloom filters are left alone where a column is looked for more values. */
  readonly maxBloomValues?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface PrunedRowGroups {
  /** Ascending; row groups without rows are in neither list nor count. */
  readonly rowGroups: readonly number[];
  readonly prunedByStatistics: number;
  readonly prunedByBloom: number;
}

/** Bloom filters are only fetched for row groups that the statistics keep, and only for equalities. */
export async function pruneRowGroups(footer: ParquetFooter, options: PruneOptions): Promise<PrunedRowGroups> {
  const groups = options.rowGroups ?? rowGroupsWithRows(footer);
  if (options.filter.kind === 'always') return { rowGroups: groups, prunedByStatistics: 0, prunedByBloom: 0 };
  const kept = groups.filter((rowGroup) =>
    filterMightHold(options.filter, (column) => statisticsMightHold(footer, rowGroup, column, options)),
  );
  const rowGroups = await pruneByBloom(footer, kept, options);
  return {
    rowGroups,
    prunedByStatistics: groups.length - kept.length,
    prunedByBloom: kept.length - rowGroups.length,
  };
}

function statisticsMightHold(
  footer: ParquetFooter,
  rowGroup: number,
  column: ColumnFilter,
  options: PruneOptions,
): boolean {
  const summary = summaryOf(footer, rowGroup, column, options);
  return summary === undefined || predicateMightHold(column.predicate, summary);
}

function summaryOf(
  footer: ParquetFooter,
  rowGroup: number,
  { fieldId, type }: ColumnFilter,
  { leafOf }: PruneOptions,
): ColumnSummary | undefined {
  const leaf = leafOf(fieldId);
  if (leaf === null) return onlyNulls;
  if (leaf === undefined) return undefined;
  const chunk = readColumnChunk(footer, rowGroup, leaf.column);
  return summariseChunk(type, leaf, chunk, footer.hasTypeDefinedOrder[leaf.column] === true);
}

/** A filter to be asked: one column of one row group. */
interface Question extends BloomQuestion {
  readonly rowGroup: number;
  readonly leaf: ParquetLeaf;
}

/** Filters are fetched for some row groups at a time, so that what is in memory stays bounded. */
async function pruneByBloom(
  footer: ParquetFooter,
  rowGroups: readonly number[],
  options: PruneOptions,
): Promise<readonly number[]> {
  const leaves = wantedLeaves(options);
  if (leaves.size === 0) return rowGroups;
  const kept: number[] = [];
  let batch: Question[] = [];
  let batchBytes = 0;
  let first = 0;
  for (const [index, rowGroup] of rowGroups.entries()) {
    for (const [leaf, hashes] of leaves) {
      const chunk = readColumnChunk(footer, rowGroup, leaf.column);
      if (chunk.bloomFilterStart === undefined) continue;
      const question = { rowGroup, leaf, chunk, hashes };
      batch.push(question);
      batchBytes += bytesOfAnswer(question);
    }
    if (batchBytes < maxBatchBytes && index < rowGroups.length - 1) continue;
    const part = rowGroups.slice(first, index + 1);
    kept.push(...(batch.length === 0 ? part : await askBlooms(footer, part, batch, options)));
    first = index + 1;
    batch = [];
    batchBytes = 0;
  }
  return kept;
}

async function askBlooms(
  footer: ParquetFooter,
  rowGroups: readonly number[],
  questions: readonly Question[],
  options: PruneOptions,
): Promise<readonly number[]> {
  const read = options.bloomFilters ?? readBloomFilters;
  const answers = await read(options.store, footer, questions, options.signal);
  const blooms = new Map<string, BloomFilter>();
  for (const [index, { rowGroup, leaf }] of questions.entries()) {
    const bloom = answers[index];
    if (bloom !== undefined) blooms.set(`${rowGroup}/${leaf.column}`, bloom);
  }
  return rowGroups.filter((rowGroup) =>
    filterMightHold(options.filter, (column) => {
      if (!statisticsMightHold(footer, rowGroup, column, options)) return false;
      const leaf = options.leafOf(column.fieldId);
      const bloom = leaf ? blooms.get(`${rowGroup}/${leaf.column}`) : undefined;
      return bloom === undefined || !leaf || bloomMightContain(column, leaf, bloom);
    }),
  );
}

/** Columns that are asked for values, with the values' hashes. */
function wantedLeaves({
  filter,
  leafOf,
  maxBloomValues = Infinity,
}: PruneOptions): ReadonlyMap<ParquetLeaf, readonly bigint[]> {
  const leaves = new Map<ParquetLeaf, readonly bigint[]>();
  for (const column of equalities(filter)) {
    if ((wantedValues(column)?.length ?? 0) > maxBloomValues) continue;
    const leaf = leafOf(column.fieldId);
    const hashes = leaf ? wantedHashes(column, leaf) : undefined;
    if (leaf && hashes) leaves.set(leaf, [...(leaves.get(leaf) ?? []), ...hashes]);
  }
  return leaves;
}

function equalities(filter: BoundFilter): readonly ColumnFilter[] {
  if (filter.kind === 'column') return wantedValues(filter) === undefined ? [] : [filter];
  return filter.kind === 'and' || filter.kind === 'or' ? filter.filters.flatMap(equalities) : [];
}
