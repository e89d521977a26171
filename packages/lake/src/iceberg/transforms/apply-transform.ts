import { encodeUnscaled } from '../spec/binary-value.js';
import { civilFromDays, floorDivide } from '../spec/calendar.js';
import type { PrimitiveType } from '../spec/types.js';
import type { PrimitiveValue } from '../spec/values.js';
import { murmur3 } from './murmur3.js';
import type { Transform } from './transform.js';

const secondsPerDay = 86_400n;
const secondsPerHour = 3600n;

/**
 * The partition value of a value of type `source`. `undefined` when the transform is unknown or does not take that
 * type; void makes `null` of everything.
 */
export function applyTransform(
  transform: Transform,
  source: PrimitiveType,
  value: PrimitiveValue,
): PrimitiveValue | null | undefined {
  switch (transform.kind) {
    case 'identity':
      return value;
    case 'void':
      return null;
    case 'bucket': {
      const hash = bucketHash(source, value);
      return hash === undefined ? undefined : (hash & 0x7fffffff) % transform.buckets;
    }
    case 'truncate':
      return truncate(source, value, transform.width);
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return timePart(transform.kind, source, value);
    case 'unknown':
      return undefined;
  }
}

/** Appendix B: integers, dates, times and timestamps (in microseconds) hash as eight little-endian bytes. */
export function bucketHash(type: PrimitiveType, value: PrimitiveValue): number | undefined {
  switch (type.kind) {
    case 'int':
    case 'long':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return typeof value === 'number' || typeof value === 'bigint'
        ? murmur3(longBytes(BigInt(value)))
        : undefined;
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return typeof value === 'bigint' ? murmur3(longBytes(floorDivide(value, 1000n))) : undefined;
    case 'decimal':
      return typeof value === 'bigint' ? murmur3(encodeUnscaled(value)) : undefined;
    case 'string':
      return typeof value === 'string' ? murmur3(Buffer.from(value, 'utf8')) : undefined;
    case 'uuid':
    case 'fixed':
    case 'binary':
      return value instanceof Uint8Array ? murmur3(value) : undefined;
    default:
      return undefined;
  }
}

function longBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value, true);
  return bytes;
}

/** Numbers go down to a multiple of the width, text to so many code points, binary to so many bytes. */
function truncate(type: PrimitiveType, value: PrimitiveValue, width: number): PrimitiveValue | undefined {
  switch (type.kind) {
    case 'int':
      return typeof value === 'number' ? Math.floor(value / width) * width : undefined;
    case 'long':
    case 'decimal':
      return typeof value === 'bigint' ? floorDivide(value, BigInt(width)) * BigInt(width) : undefined;
    case 'string':
      return typeof value === 'string' ? firstCodePoints(value, width) : undefined;
    case 'binary':
      return value instanceof Uint8Array ? value.subarray(0, width) : undefined;
    default:
      return undefined;
  }
}

function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let left = count; left > 0 && end < text.length; left--)
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

/** Years, months, days or hours since 1970-01-01T00:00 UTC; before that they are negative, rounded down. */
function timePart(
  part: 'year' | 'month' | 'day' | 'hour',
  type: PrimitiveType,
  value: PrimitiveValue,
): number | undefined {
  if (type.kind === 'date')
    return typeof value === 'number' && part !== 'hour' ? datePart(part, value) : undefined;
  const unitsPerSecond = timestampUnits(type);
  if (unitsPerSecond === undefined || typeof value !== 'bigint') return undefined;
  if (part === 'hour') return Number(floorDivide(value, secondsPerHour * unitsPerSecond));
  return datePart(part, Number(floorDivide(value, secondsPerDay * unitsPerSecond)));
}

function datePart(part: 'year' | 'month' | 'day', days: number): number {
  if (part === 'day') return days;
  const { year, month } = civilFromDays(days);
  return part === 'year' ? year - 1970 : (year - 1970) * 12 + month - 1;
}

function timestampUnits(type: PrimitiveType): bigint | undefined {
  switch (type.kind) {
    case 'timestamp':
    case 'timestamptz':
      return 1_000_000n;
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return 1_000_000_000n;
    default:
      return undefined;
  }
}
