/** A condition on one column, in the column's own values, and whether it may hold given what is known of them. */
import type { ComparisonOperator } from '@svc/sql';
import { type Comparable, compareValues, isNaNValue } from '../spec/values.js';

export type ColumnPredicate =
  | { readonly kind: 'compare'; readonly operator: ComparisonOperator; readonly value: Comparable }
  /** `values` ascend and are distinct. */
  | { readonly kind: 'in'; readonly values: readonly Comparable[] }
  | { readonly kind: 'starts-with'; readonly prefix: Uint8Array }
  | { readonly kind: 'is-null' }
  | { readonly kind: 'is-not-null' };

/** What is known of a column's values in a file, or of a partition field's values in a manifest. */
export interface ColumnSummary {
  /** No value (NaN and null aside) is below. `undefined` is unknown. */
  readonly lower: Comparable | undefined;
  /** No value (NaN and null aside) is above. */
  readonly upper: Comparable | undefined;
  readonly mayHaveNull: boolean;
  readonly mayHaveNaN: boolean;
  /** False when every value is null. */
  readonly mayHaveValue: boolean;
}

/**
 * True if a row that satisfies the predicate may be there: whatever is not certain is true. NaN is above every number
 * and equal to itself, as the engine compares.
 */
export function predicateMightHold(predicate: ColumnPredicate, summary: ColumnSummary): boolean {
  switch (predicate.kind) {
    case 'is-null':
      return summary.mayHaveNull;
    case 'is-not-null':
      return summary.mayHaveValue;
    case 'starts-with':
      return summary.mayHaveValue && prefixMightOccur(predicate.prefix, summary);
    case 'in':
      return summary.mayHaveValue && oneMightOccur(predicate.values, summary);
    case 'compare':
      return summary.mayHaveValue && comparisonMightHold(predicate.operator, predicate.value, summary);
  }
}

function comparisonMightHold(
  operator: ComparisonOperator,
  value: Comparable,
  summary: ColumnSummary,
): boolean {
  const { lower, upper, mayHaveNaN } = summary;
  switch (operator) {
    case '=':
      return valueMightOccur(value, summary);
    case '<>': {
      const isOnlyThis =
        lower !== undefined &&
        upper !== undefined &&
        compareValues(lower, value) === 0 &&
        compareValues(upper, value) === 0;
      return mayHaveNaN || !isOnlyThis;
    }
    case '<':
      return lower === undefined || compareValues(lower, value) < 0;
    case '<=':
      return lower === undefined || compareValues(lower, value) <= 0;
    case '>':
      return mayHaveNaN || upper === undefined || compareValues(upper, value) > 0;
    case '>=':
      return mayHaveNaN || upper === undefined || compareValues(upper, value) >= 0;
  }
}

function valueMightOccur(value: Comparable, { lower, upper, mayHaveNaN }: ColumnSummary): boolean {
  if (isNaNValue(value)) return mayHaveNaN;
  if (lower !== undefined && compareValues(value, lower) < 0) return false;
  return upper === undefined || compareValues(value, upper) <= 0;
}

/** Looks for the smallest wanted value that is not below the lower bound. */
function oneMightOccur(values: readonly Comparable[], summary: ColumnSummary): boolean {
  const { lower } = summary;
  let first = 0;
  if (lower !== undefined) {
    for (let end = values.length; first < end; ) {
      const middle = (first + end) >>> 1;
      const value = values[middle];
      if (value !== undefined && compareValues(value, lower) < 0) first = middle + 1;
      else end = middle;
    }
  }
  const candidate = values[first];
  if (candidate === undefined) return false;
  const last = values.at(-1);
  return (
    valueMightOccur(candidate, summary) || (last !== undefined && isNaNValue(last) && summary.mayHaveNaN)
  );
}

/** Bounds may be cut: a lower bound to a prefix, an upper one to a prefix that was then raised. */
function prefixMightOccur(prefix: Uint8Array, { lower, upper }: ColumnSummary): boolean {
  if (upper !== undefined && compareValues(upper, prefix) < 0) return false;
  return !(lower instanceof Uint8Array) || compareValues(lower.subarray(0, prefix.length), prefix) <= 0;
}
