/** Literals of the engine's types as values of a column's type. */
import type { Literal } from '@svc/sql';
import { floorDivide } from '../spec/calendar.js';
import type { PrimitiveType } from '../spec/types.js';
import type { Comparable } from '../spec/values.js';

/**
 * `isExact`: the column can hold the literal. Otherwise `value` is the next value of the column below the literal.
 */
export interface ColumnValue {
  readonly value: Comparable;
  readonly isExact: boolean;
}

const integerTypes: ReadonlySet<string> = new Set([
  'TINYINT',
  'SMALLINT',
  'INTEGER',
  'BIGINT',
  'HUGEINT',
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'UBIGINT',
  'UHUGEINT',
]);

const microsPerDay = 86_400_000_000n;
/** Nanoseconds in one unit of the engine's time types without zone. */
const timestampNanos: ReadonlyMap<string, bigint> = new Map([
  ['TIMESTAMP_S', 1_000_000_000n],
  ['TIMESTAMP_MS', 1_000_000n],
  ['TIMESTAMP', 1000n],
  ['TIMESTAMP_NS', 1n],
  ['DATE', microsPerDay * 1000n],
]);

/**
 * The literal in the column's domain, when the engine would compare the two without changing any value of the column;
 * `undefined` when that is not certain (text against numbers, a zone against none, a literal a float rounds).
 */
export function toColumnValue(type: PrimitiveType, literal: Literal): ColumnValue | undefined {
  const { value } = literal;
  switch (type.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? exact(value ? 1 : 0) : undefined;
    case 'int':
    case 'long':
      return toScaledInteger(literal, 0);
    case 'decimal':
      return toScaledInteger(literal, type.scale);
    case 'float':
    case 'double':
      return toFloat(type.kind, literal);
    case 'date':
      return toTime(literal, microsPerDay * 1000n);
    case 'timestamp':
      return toTime(literal, 1000n);
    case 'timestamp_ns':
      return toTime(literal, 1n);
    case 'timestamptz':
      return toZonedTime(literal);
    case 'timestamptz_ns':
      return undefined; // The engine's microsecond is a range of such values: see toRange.
    case 'time':
      return literal.type === 'TIME' && typeof value === 'bigint' ? exact(value) : undefined;
    case 'string':
      return literal.type === 'VARCHAR' && typeof value === 'string'
        ? exact(Buffer.from(value, 'utf8'))
        : undefined;
    case 'uuid':
      return literal.type === 'UUID' && value instanceof Uint8Array ? exact(value) : undefined;
    case 'fixed':
    case 'binary':
      return literal.type === 'BLOB' && value instanceof Uint8Array ? exact(value) : undefined;
    case 'unknown':
    case 'unsupported':
      return undefined;
  }
}

function exact(value: Comparable): ColumnValue {
  return { value, isExact: true };
}

/** A number as an integer count of 10^-scale. Integers and decimals meet exactly in the engine. */
function toScaledInteger(literal: Literal, scale: number): ColumnValue | undefined {
  const { value } = literal;
  if (typeof value === 'bigint') {
    const literalScale = scaleOf(literal.type);
    if (literalScale === undefined) return undefined;
    if (literalScale <= scale) return exact(value * 10n ** BigInt(scale - literalScale));
    const divisor = 10n ** BigInt(literalScale - scale);
    return { value: floorDivide(value, divisor), isExact: value % divisor === 0n };
  }
  // The engine turns the column into floats: exact, and in the same order, as long as the literal is small.
  if (scale !== 0 || typeof value !== 'number' || !(Math.abs(value) < exactFloatLimit(literal.type)))
    return undefined;
  return { value: Math.floor(value), isExact: Number.isInteger(value) };
}

/** Digits after the point of an exact numeric type. */
function scaleOf(type: string): number | undefined {
  if (integerTypes.has(type)) return 0;
  const [, scale] = /^DECIMAL\(\d+,\s*(\d+)\)$/.exec(type) ?? [];
  return scale === undefined ? undefined : Number(scale);
}

function exactFloatLimit(type: string): number {
  if (type === 'DOUBLE') return 2 ** 53;
  return type === 'FLOAT' ? 2 ** 24 : 0;
}

function toFloat(kind: 'float' | 'double', literal: Literal): ColumnValue | undefined {
  const { type, value } = literal;
  if (type === 'DOUBLE' && typeof value === 'number') return exact(value);
  if (type === 'FLOAT' && typeof value === 'number') return exact(Math.fround(value));
  if (typeof value !== 'bigint' || scaleOf(type) !== 0) return undefined;
  const limit = kind === 'float' ? 2n ** 24n : 2n ** 53n;
  return value > -limit && value < limit ? exact(Number(value)) : undefined;
}

/** Times without a zone. Only what the column's unit can hold: the engine's own choice of unit is then of no effect. */
function toTime({ type, value }: Literal, columnNanos: bigint): ColumnValue | undefined {
  const literalNanos = timestampNanos.get(type);
  if (literalNanos === undefined || typeof value !== 'bigint' || isInfinite(type, value)) return undefined;
  const nanos = value * literalNanos;
  return nanos % columnNanos === 0n ? exact(nanos / columnNanos) : undefined;
}

/** The engine keeps the infinite dates and timestamps at the ends of the range; they do not scale with the unit. */
function isInfinite(type: string, value: bigint): boolean {
  const limit = type === 'DATE' ? 2n ** 31n - 1n : 2n ** 63n - 1n;
  return value >= limit || value <= -limit;
}

/** A literal without zone depends on the session's, so it is left. */
function toZonedTime({ type, value }: Literal): ColumnValue | undefined {
  return type === 'TIMESTAMP WITH TIME ZONE' && typeof value === 'bigint' ? exact(value) : undefined;
}

/**
 * All values of the column that the engine may find equal to the literal, where these are several: it cuts nanoseconds with
 * a zone to microseconds, towards zero.
 */
export function toRange(
  type: PrimitiveType,
  literal: Literal,
): { readonly low: Comparable; readonly high: Comparable } | undefined {
  const cut = type.kind === 'timestamptz_ns' ? toZonedTime(literal)?.value : undefined;
  return typeof cut === 'bigint' ? { low: cut * 1000n - 999n, high: cut * 1000n + 999n } : undefined;
}
