import type { LogicalType } from '../plan/logical-type.js';
import type { PlanComparison } from '../plan/plan-expression.js';
import type { PlanValue } from '../plan/plan-value.js';
import type { ComparisonOperator, Literal } from './scan-request.js';

/** Width of the integer types in bits, negative for signed. */
const integerBits: Readonly<Record<string, number>> = {
  TINYINT: -8,
  SMALLINT: -16,
  INTEGER: -32,
  BIGINT: -64,
  UTINYINT: 8,
  USMALLINT: 16,
  UINTEGER: 32,
  UBIGINT: 64,
};

const microsPerDay = 86_400_000_000n;

/** A value as a fraction of integers, so that comparing never rounds. */
interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/**
 * `CAST(column AS wider) op constant` as a comparison of the column itself, where the cast is exact and keeps the order:
 * integers into wider integers, decimals and DOUBLE (up to 32 bits), decimals into finer decimals, DATE into TIMESTAMP;
 * and TIMESTAMP into DATE, which keeps the order though it is not exact.
 * The constant is rounded to the column's side of the comparison, so the answer holds for exactly the same rows.
 * Undefined when it is none of these, or no column value compares that way.
 */
export function narrowCast(
  columnType: LogicalType,
  castType: LogicalType,
  operator: PlanComparison,
  constant: PlanValue,
): { readonly operator: ComparisonOperator; readonly literal: Literal } | undefined {
  if (operator === 'is-distinct' || operator === 'is-not-distinct') return undefined;
  if (constant.kind !== 'scalar' || constant.type.id !== castType.id) return undefined;
  if (columnType.id === 'TIMESTAMP' && castType.id === 'DATE') return narrowDay(operator, constant.value);
  const unit = columnUnit(columnType, castType);
  const target = constantFraction(constant.type, constant.value);
  if (unit === undefined || target === undefined) return undefined;
  // The column's own integer is value / unit; compare it with target / unit.
  const scaled = {
    numerator: target.numerator * unit.denominator,
    denominator: target.denominator * unit.numerator,
  };
  const floor = floorOf(scaled);
  const isWhole = floor * scaled.denominator === scaled.numerator;
  const rounded = roundFor(operator, floor, isWhole);
  if (rounded === undefined || !fits(columnType, rounded)) return undefined;
  return { operator, literal: { type: printOf(columnType), value: rounded } };
}

/** Days beyond have no midnight that a TIMESTAMP could hold; the infinite dates are among them. */
const lastDay = 106_751_990n;

/** The day of a time by its midnights. Equality would be a range, which the engine makes of it by itself. */
function narrowDay(operator: ComparisonOperator, day: unknown): ReturnType<typeof narrowCast> {
  if (typeof day !== 'bigint' || day > lastDay || day < -lastDay) return undefined;
  const isAfter = operator === '>' || operator === '<=';
  const literal = { type: 'TIMESTAMP', value: (isAfter ? day + 1n : day) * microsPerDay };
  switch (operator) {
    case '<':
    case '<=':
      return { operator: '<', literal };
    case '>':
    case '>=':
      return { operator: '>=', literal };
    case '=':
    case '<>':
      return undefined;
  }
}

/** What one step of the column's stored integer is worth in the cast's own terms; undefined when the cast is not exact. */
function columnUnit(column: LogicalType, cast: LogicalType): Fraction | undefined {
  const bits = integerBits[column.id];
  if (bits !== undefined) {
    const castBits = cast.id === 'HUGEINT' ? -128 : integerBits[cast.id];
    const widens =
      castBits !== undefined && Math.abs(castBits) > Math.abs(bits) && (castBits < 0 || bits > 0);
    const exactDouble = cast.id === 'DOUBLE' && Math.abs(bits) <= 32;
    return widens || exactDouble || cast.kind === 'decimal' ? { numerator: 1n, denominator: 1n } : undefined;
  }
  if (column.kind === 'decimal' && cast.kind === 'decimal')
    return cast.scale >= column.scale && cast.width - cast.scale >= column.width - column.scale
      ? { numerator: 1n, denominator: 10n ** BigInt(column.scale) }
      : undefined;
  if (column.id === 'DATE' && cast.id === 'TIMESTAMP') return { numerator: microsPerDay, denominator: 1n };
  return undefined;
}

/** Whether `wider` holds every value of `type` as the same integer: wider integers, and decimals of the same scale. */
export function isSameNumber(type: LogicalType, wider: LogicalType): boolean {
  if (type.kind === 'decimal' && wider.kind === 'decimal')
    return type.scale === wider.scale && type.width <= wider.width;
  return integerBits[wider.id] !== undefined && columnUnit(type, wider) !== undefined;
}

function constantFraction(type: LogicalType, value: unknown): Fraction | undefined {
  if (typeof value === 'bigint')
    return { numerator: value, denominator: type.kind === 'decimal' ? 10n ** BigInt(type.scale) : 1n };
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  // Doubling is exact and ends: a DOUBLE has at most 1,074 binary places.
  let numerator = value;
  let denominator = 1n;
  while (!Number.isInteger(numerator)) {
    numerator *= 2;
    denominator *= 2n;
  }
  return { numerator: BigInt(numerator), denominator };
}

function floorOf({ numerator, denominator }: Fraction): bigint {
  const quotient = numerator / denominator;
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient;
}

function roundFor(operator: ComparisonOperator, floor: bigint, isWhole: boolean): bigint | undefined {
  if (isWhole) return floor;
  switch (operator) {
    case '>':
    case '<=':
      return floor;
    case '<':
    case '>=':
      return floor + 1n;
    case '=':
    case '<>':
      return undefined;
  }
}

function fits(type: LogicalType, value: bigint): boolean {
  const bits = integerBits[type.id];
  if (bits !== undefined)
    return bits < 0 ? BigInt.asIntN(-bits, value) === value : BigInt.asUintN(bits, value) === value;
  if (type.kind === 'decimal')
    return value < 10n ** BigInt(type.width) && value > -(10n ** BigInt(type.width));
  return BigInt.asIntN(32, value) === value;
}

function printOf(type: LogicalType): string {
  return type.kind === 'decimal' ? `DECIMAL(${type.width},${type.scale})` : type.id;
}
