import type { ColumnSummary } from '../iceberg/expressions/column-predicate.js';
import type { PrimitiveType } from '../iceberg/spec/types.js';
import { compareValues, isFloating, isNaNValue } from '../iceberg/spec/values.js';
import type { ChunkStatistics, ColumnChunk } from './column-chunk.js';
import { decodePlain } from './plain-value.js';
import type { ParquetLeaf } from './schema.js';

interface Bounds {
  readonly min: Uint8Array | undefined;
  readonly max: Uint8Array | undefined;
}

const noBounds: Bounds = { min: undefined, max: undefined };

/** What a column is when the file does not have it and it has no default. */
export const onlyNulls: ColumnSummary = {
  lower: undefined,
  upper: undefined,
  mayHaveNull: true,
  mayHaveNaN: false,
  mayHaveValue: false,
};

/**
 * What a chunk's statistics say of the table's column of `type`. Bounds that are missing, malformed, in no known
 * order, or contradict each other are unknown. NaN never is a bound, and floating columns may hold NaN besides their
 * bounds unless the writer counted none.
 */
export function summariseChunk(
  type: PrimitiveType,
  leaf: ParquetLeaf,
  chunk: ColumnChunk,
  hasTypeDefinedOrder: boolean,
): ColumnSummary {
  const { statistics, valueCount } = chunk;
  const { nullCount, nanCount } = statistics;
  const { min, max } = orderedBounds(leaf, statistics, hasTypeDefinedOrder);
  let lower = min === undefined ? undefined : decodePlain(type, leaf, min)?.low;
  let upper = max === undefined ? undefined : decodePlain(type, leaf, max)?.high;
  const isContradiction = lower !== undefined && upper !== undefined && compareValues(lower, upper) > 0;
  const hasNaN = [lower, upper].some((bound) => bound !== undefined && isNaNValue(bound));
  if (isContradiction || hasNaN) {
    lower = undefined;
    upper = undefined;
  }
  return {
    lower,
    upper,
    mayHaveNull: nullCount !== 0,
    mayHaveNaN: isFloating(type) && nanCount !== 0,
    mayHaveValue: nullCount === undefined || valueCount === 0 || nullCount < valueCount,
  };
}

/**
 * `min_value` and `max_value` mean something only in the column's defined order; the older pair only where the signed
 * order it was made with is the type's own. INT96 has no order at all.
 */
function orderedBounds(leaf: ParquetLeaf, statistics: ChunkStatistics, hasTypeDefinedOrder: boolean): Bounds {
  if (leaf.physical === 'INT96') return noBounds;
  const { min, max } = statistics;
  if (hasTypeDefinedOrder && (min !== undefined || max !== undefined)) return exactIfFixed(leaf, statistics);
  if (!isSignedOrder(leaf)) return noBounds;
  return { min: statistics.deprecatedMin, max: statistics.deprecatedMax };
}

/** A decimal that was cut is no bound any more. */
function exactIfFixed(leaf: ParquetLeaf, statistics: ChunkStatistics): Bounds {
  const { min, max, isMinExact, isMaxExact } = statistics;
  if (leaf.logical?.kind !== 'decimal') return { min, max };
  return { min: isMinExact === false ? undefined : min, max: isMaxExact === false ? undefined : max };
}

function isSignedOrder(leaf: ParquetLeaf): boolean {
  switch (leaf.physical) {
    case 'BOOLEAN':
    case 'FLOAT':
    case 'DOUBLE':
      return true;
    case 'INT32':
    case 'INT64':
      return leaf.logical?.kind !== 'integer' || leaf.logical.isSigned;
    case 'INT96':
    case 'BYTE_ARRAY':
    case 'FIXED_LEN_BYTE_ARRAY':
      return false;
  }
}
