/** Whether a manifest, a partition or a file may hold rows that a filter keeps. On any uncertainty the answer is true. */
import { decodeBinaryValue } from '../spec/binary-value.js';
import type { PrimitiveType } from '../spec/types.js';
import {
  type Comparable,
  compareValues,
  isFloating,
  isNaNValue,
  type PrimitiveValue,
  toComparable,
} from '../spec/values.js';
import type { BoundFilter, ColumnFilter } from './bind-filter.js';
import { type ColumnSummary, predicateMightHold } from './column-predicate.js';
import type { PartitionFilter } from './project-filter.js';

/** What a manifest list says of one partition field (specification, "Manifest Lists", `field_summary`). */
export interface FieldSummary {
  readonly containsNull: boolean;
  /** `null` when the writer did not say. */
  readonly containsNaN: boolean | null;
  /** In single-value binary form; `null` when every value is null, or the writer did not say. */
  readonly lowerBound: Uint8Array | null;
  readonly upperBound: Uint8Array | null;
}

/** What a manifest says of a data file's columns, by field id; bounds in single-value binary form. */
export interface ColumnMetrics {
  readonly recordCount: number;
  readonly valueCounts: ReadonlyMap<number, number> | null;
  readonly nullValueCounts: ReadonlyMap<number, number> | null;
  readonly nanValueCounts: ReadonlyMap<number, number> | null;
  readonly lowerBounds: ReadonlyMap<number, Uint8Array> | null;
  readonly upperBounds: ReadonlyMap<number, Uint8Array> | null;
}

/** `types` are those of the partition values; `undefined` where a transform is unknown. */
export function manifestMightMatch(
  filter: PartitionFilter,
  summaries: readonly FieldSummary[],
  types: readonly (PrimitiveType | undefined)[],
): boolean {
  return partitionFilterHolds(filter, (slot) => {
    const [summary, type] = [summaries[slot], types[slot]];
    if (summary === undefined || type === undefined) return undefined;
    const bounds = decodeBounds(type, summary.lowerBound, summary.upperBound);
    return {
      ...bounds,
      mayHaveNull: summary.containsNull,
      mayHaveNaN: isFloating(type) && summary.containsNaN !== false,
      // Without bounds there may be only nulls, or only NaN, or a writer that leaves bounds out.
      mayHaveValue: true,
    };
  });
}

/** `values` are a file's partition tuple; `undefined` where a value could not be read. */
export function partitionMightMatch(
  filter: PartitionFilter,
  values: readonly (PrimitiveValue | null | undefined)[],
): boolean {
  return partitionFilterHolds(filter, (slot) => {
    const value = values[slot];
    return value === undefined ? undefined : summariseValue(value);
  });
}

/** Of a column that has one value in all rows. */
export function summariseValue(value: PrimitiveValue | null): ColumnSummary {
  if (value === null) return onlyNulls;
  const bound = isNaNValue(value) ? undefined : toComparable(value);
  return {
    lower: bound,
    upper: bound,
    mayHaveNull: false,
    mayHaveNaN: bound === undefined,
    mayHaveValue: true,
  };
}

/** Also false when the file has no rows at all. */
export function fileMightMatch(filter: BoundFilter, metrics: ColumnMetrics): boolean {
  if (metrics.recordCount === 0) return false;
  // A range is two conditions on one column, one after the other: its bounds are decoded once.
  let last: { readonly fieldId: number; readonly summary: ColumnSummary } | undefined;
  return filterMightHold(filter, ({ fieldId, type, predicate }) => {
    if (last?.fieldId !== fieldId) last = { fieldId, summary: summariseMetrics(fieldId, type, metrics) };
    return predicateMightHold(predicate, last.summary);
  });
}

const onlyNulls: ColumnSummary = {
  lower: undefined,
  upper: undefined,
  mayHaveNull: true,
  mayHaveNaN: false,
  mayHaveValue: false,
};

function partitionFilterHolds(
  filter: PartitionFilter,
  summaryOf: (slot: number) => ColumnSummary | undefined,
): boolean {
  switch (filter.kind) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'and':
      return filter.filters.every((inner) => partitionFilterHolds(inner, summaryOf));
    case 'or':
      return filter.filters.some((inner) => partitionFilterHolds(inner, summaryOf));
    case 'slot': {
      const summary = summaryOf(filter.slot);
      return summary === undefined || predicateMightHold(filter.predicate, summary);
    }
  }
}

/** Whether rows may pass a filter of which each column's part is asked for; false only if none can. */
export function filterMightHold(
  filter: BoundFilter,
  columnMightHold: (column: ColumnFilter) => boolean,
): boolean {
  switch (filter.kind) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'and':
      return filter.filters.every((inner) => filterMightHold(inner, columnMightHold));
    case 'or':
      return filter.filters.some((inner) => filterMightHold(inner, columnMightHold));
    case 'column':
      return columnMightHold(filter);
  }
}

export function summariseMetrics(
  fieldId: number,
  type: PrimitiveType,
  metrics: ColumnMetrics,
): ColumnSummary {
  const values = metrics.valueCounts?.get(fieldId);
  const nulls = metrics.nullValueCounts?.get(fieldId);
  const isAllNull = values !== undefined && nulls !== undefined && values > 0 && nulls >= values;
  return {
    ...decodeBounds(type, metrics.lowerBounds?.get(fieldId), metrics.upperBounds?.get(fieldId)),
    mayHaveNull: nulls !== 0,
    mayHaveNaN: isFloating(type) && metrics.nanValueCounts?.get(fieldId) !== 0,
    mayHaveValue: !isAllNull,
  };
}

interface Bounds {
  readonly lower: Comparable | undefined;
  readonly upper: Comparable | undefined;
}

const unknownBounds: Bounds = { lower: undefined, upper: undefined };

function decodeBounds(
  type: PrimitiveType,
  lowerBytes: Uint8Array | null | undefined,
  upperBytes: Uint8Array | null | undefined,
): Bounds {
  // Writers in Java compare UUIDs as signed halves, so that the bounds of several row groups may be merged wrongly.
  if (type.kind === 'uuid') return unknownBounds;
  const lower = decodeBound(type, lowerBytes);
  const upper = decodeBound(type, upperBytes);
  const isContradiction = lower !== undefined && upper !== undefined && compareValues(lower, upper) > 0;
  return isContradiction ? unknownBounds : { lower, upper };
}

function decodeBound(type: PrimitiveType, bytes: Uint8Array | null | undefined): Comparable | undefined {
  if (bytes === null || bytes === undefined) return undefined;
  if (type.kind === 'string') return bytes;
  const value = decodeBinaryValue(type, bytes);
  return value === undefined || isNaNValue(value) ? undefined : toComparable(value);
}
