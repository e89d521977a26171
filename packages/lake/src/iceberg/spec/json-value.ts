/** Single-value JSON serialisation of primitives (specification, Appendix D, "JSON single-value serialization"). */
import { civilFromDays, floorDivide } from './calendar.js';
import { type JsonValue, jsonNumber } from './lossless-json.js';
import type { PrimitiveType } from './types.js';
import type { PrimitiveValue } from './values.js';

/**
 * The JSON form of a partition value or default. Dates and times are text as the specification writes them; floats that
 * JSON cannot hold are `"NaN"`, `"Infinity"`, `"-Infinity"`.
 */
export function printJsonValue(type: PrimitiveType, value: PrimitiveValue | null): JsonValue {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array)
    return type.kind === 'uuid' ? printUuid(value) : Buffer.from(value).toString('hex');
  switch (type.kind) {
    case 'decimal':
      return printDecimal(BigInt(value), type.scale);
    case 'date':
      return printDate(Number(value));
    case 'time':
      return printTime(BigInt(value), 1_000_000n);
    case 'timestamp':
      return printTimestamp(BigInt(value), 1_000_000n);
    case 'timestamptz':
      return `${printTimestamp(BigInt(value), 1_000_000n)}+00:00`;
    case 'timestamp_ns':
      return printTimestamp(BigInt(value), 1_000_000_000n);
    case 'timestamptz_ns':
      return `${printTimestamp(BigInt(value), 1_000_000_000n)}+00:00`;
    default:
      return typeof value === 'number' && !Number.isFinite(value) ? String(value) : jsonNumber(value);
  }
}

/** `14.20` for the unscaled 1420 at scale 2. */
export function printDecimal(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const sign = unscaled < 0n ? '-' : '';
  const point = digits.length - scale;
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

export function printDate(days: number): string {
  const { year, month, day } = civilFromDays(days);
  const sign = year < 0 ? '-' : '';
  return `${sign}${digits(Math.abs(year), 4)}-${digits(month, 2)}-${digits(day, 2)}`;
}

function printTime(value: bigint, unitsPerSecond: bigint): string {
  const seconds = Number(value / unitsPerSecond);
  const fraction = (value % unitsPerSecond).toString().padStart(unitsPerSecond.toString().length - 1, '0');
  const time = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${time.map((part) => digits(part, 2)).join(':')}.${fraction}`;
}

function printTimestamp(value: bigint, unitsPerSecond: bigint): string {
  const unitsPerDay = unitsPerSecond * 86_400n;
  const days = floorDivide(value, unitsPerDay);
  return `${printDate(Number(days))}T${printTime(value - days * unitsPerDay, unitsPerSecond)}`;
}

function printUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
