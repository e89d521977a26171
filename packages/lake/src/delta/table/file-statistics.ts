/**
 * What the log says of a data file's columns (protocol, "Per-file Statistics"). On any doubt a bound is unknown:
 * pruning never changes a result.
 */
import type { ColumnSummary } from '../../iceberg/expressions/column-predicate.js';
import type { PrimitiveType } from '../../iceberg/spec/types.js';
import { type Comparable, compareValues, isFloating } from '../../iceberg/spec/values.js';
import { numberText, parseStatisticsText } from '../log/exact-json.js';
import { parseDate, parseDecimal, parseTimestamp } from './parse-value.js';

/** Statistics of one file, to be asked by the functions below. */
export type FileStatistics = Readonly<Record<string, unknown>>;

/** `undefined` when there are none or they cannot be read. */
export function parseStatistics(text: string | undefined, source: string): FileStatistics | undefined {
  if (text === undefined) return undefined;
  try {
    const json = parseStatisticsText(text, source);
    return isObject(json) ? json : undefined;
  } catch {
    return undefined; // They only spare reading.
  }
}

/** Rows of the file, deleted ones among them. */
export function recordCountOf(statistics: string | undefined): number | undefined {
  if (statistics === undefined) return undefined;
  // Nearly all writers begin with it, so that nothing has to be parsed.
  const [, first] = /^\s*\{\s*"numRecords"\s*:\s*(\d{1,15})\s*[,}]/.exec(statistics) ?? [];
  if (first !== undefined) return Number(first);
  const json = parseStatistics(statistics, 'statistics');
  return json && countAt(json, ['numRecords']);
}

/** What is known of the values at a physical path. */
export function summariseColumn(
  statistics: FileStatistics,
  path: readonly string[],
  type: PrimitiveType,
  boundsAreOfType: boolean,
): ColumnSummary {
  const recordCount = countAt(statistics, ['numRecords']);
  const nullCount = countAt(statistics, ['nullCount', ...path]);
  let lower = boundsAreOfType ? lowerBound(type, valueAt(statistics, ['minValues', ...path])) : undefined;
  let upper = boundsAreOfType ? upperBound(type, valueAt(statistics, ['maxValues', ...path])) : undefined;
  if (lower !== undefined && upper !== undefined && compareValues(lower, upper) > 0) {
    lower = undefined;
    upper = undefined;
  }
  return {
    lower,
    upper,
    mayHaveNull: nullCount !== 0,
    mayHaveNaN: isFloating(type),
    mayHaveValue: nullCount === undefined || recordCount === undefined || nullCount !== recordCount,
  };
}

function valueAt(json: FileStatistics, path: readonly string[]): unknown {
  let value: unknown = json;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function isObject(value: unknown): value is FileStatistics {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function countAt(json: FileStatistics, path: readonly string[]): number | undefined {
  const text = numberText(valueAt(json, path));
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Times are cut to milliseconds, so that the real maximum is up to one further. */
const maxCutMicros = 999n;
const afterEveryText = Uint8Array.of(0xff);

function lowerBound(type: PrimitiveType, value: unknown): Comparable | undefined {
  if (type.kind === 'string') return typeof value === 'string' ? Buffer.from(value, 'utf8') : undefined;
  return numericBounds(type, value)?.low;
}

function upperBound(type: PrimitiveType, value: unknown): Comparable | undefined {
  if (type.kind === 'string') {
    // Long texts are cut to a prefix, with or without a sign for it: the bound is made the end of all with the prefix.
    if (typeof value !== 'string') return undefined;
    return Buffer.concat([Buffer.from(value.replace(/[\u{FFFD}\u{10FFFF}]+$/u, ''), 'utf8'), afterEveryText]);
  }
  return numericBounds(type, value)?.high;
}

interface Bounds {
  readonly low: Comparable;
  readonly high: Comparable;
}

function numericBounds(type: PrimitiveType, value: unknown): Bounds | undefined {
  if (type.kind === 'boolean') return typeof value === 'boolean' ? point(value ? 1 : 0) : undefined;
  const number = numberText(value);
  if (number !== undefined) return numberBounds(type, number);
  return typeof value === 'string' ? timeBounds(type, value) : undefined;
}

function numberBounds(type: PrimitiveType, text: string): Bounds | undefined {
  switch (type.kind) {
    case 'int':
    case 'long':
      return /^-?\d{1,20}$/.test(text) ? point(BigInt(text)) : undefined;
    case 'float':
    case 'double': {
      const number = type.kind === 'float' ? Math.fround(Number(text)) : Number(text);
      return Number.isFinite(number) ? point(number) : undefined;
    }
    case 'decimal': {
      const bounds = parseDecimal(text, type.scale);
      if (bounds === undefined || type.precision <= 15) return bounds;
      // Some writers put decimals through a double: what has more digits may be off by a rounding.
      return { low: bounds.low - rounding(bounds.low), high: bounds.high + rounding(bounds.high) };
    }
    default:
      return undefined;
  }
}

function rounding(value: bigint): bigint {
  return (value < 0n ? -value : value) / 2n ** 50n + 1n;
}

function timeBounds(type: PrimitiveType, text: string): Bounds | undefined {
  if (type.kind === 'date') {
    const days = parseDate(text);
    return days === undefined ? undefined : point(days);
  }
  if (type.kind !== 'timestamp' && type.kind !== 'timestamptz') return undefined;
  const time = parseTimestamp(text);
  if (time === undefined || (type.kind === 'timestamptz') !== time.hasZone) return undefined;
  return { low: time.micros, high: time.micros + maxCutMicros };
}

function point(value: Comparable): Bounds {
  return { low: value, high: value };
}
