/** Values of primitive types, and their order, as partition values and column bounds need them. */
import type { PrimitiveType } from './types.js';

/**
 * boolean; number for int, date (days), float, double; bigint for long, time, timestamps (micro- or nanoseconds) and
 * decimals (unscaled); string; bytes for uuid (16, big-endian), fixed and binary. Null is `null` where it may occur.
 */
export type PrimitiveValue = boolean | number | bigint | string | Uint8Array;

/** A value in the form that is compared: numbers of either kind, or bytes in unsigned order (strings as UTF-8). */
export type Comparable = number | bigint | Uint8Array;

export function toComparable(value: PrimitiveValue): Comparable {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
}

/**
 * Below, at or above zero. Numbers compare exactly across kinds; as in the engine NaN equals itself and is above
 * everything, and -0.0 equals 0.0. Bytes never meet numbers: both sides are of one column.
 */
export function compareValues(a: Comparable, b: Comparable): number {
  if (typeof a === 'object') return typeof b === 'object' ? Buffer.compare(a, b) : 1;
  if (typeof b === 'object') return -1;
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(isNaNValue(a)) - Number(isNaNValue(b));
}

export function isNaNValue(value: PrimitiveValue | Comparable): boolean {
  return typeof value === 'number' && Number.isNaN(value);
}

/**
 * Whether all readers find the same UUIDs within bounds: the specification orders them as unsigned bytes, Iceberg's Java
 * library as two signed 64-bit numbers. Column bounds on which they differ would make it leave rows out. (The bounds of a
 * partition field in a manifest list cannot be left out: there, having none means having only nulls.)
 */
export function isAgreedUuidRange(lower: Uint8Array, upper: Uint8Array): boolean {
  return [0, 8].every((index) => ((lower[index] ?? 0) ^ (upper[index] ?? 0)) < 0x80);
}

export function isFloating(type: PrimitiveType): boolean {
  return type.kind === 'float' || type.kind === 'double';
}
