/** Values as Delta writes them into its log: partition values, and bounds of columns. */
import { daysFromCivil } from '../../iceberg/spec/calendar.js';
import type { PrimitiveType } from '../../iceberg/spec/types.js';
import type { PrimitiveValue } from '../../iceberg/spec/values.js';

const microsPerDay = 86_400_000_000n;

/**
 * A partition value by its text (protocol, "Partition Value Serialization"). Times without a zone are meant in UTC.
 * `undefined` when it is no value of the type.
 */
export function parsePartitionValue(type: PrimitiveType, text: string): PrimitiveValue | undefined {
  switch (type.kind) {
    case 'string':
      return text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'int': {
      const value = parseInteger(text, 32);
      return value === undefined ? undefined : Number(value);
    }
    case 'long':
      return parseInteger(text, 64);
    case 'float':
    case 'double':
      return parseFloating(type.kind, text);
    case 'decimal': {
      const bounds = parseDecimal(text, type.scale);
      const limit = 10n ** BigInt(type.precision);
      if (bounds === undefined || bounds.low !== bounds.high) return undefined;
      return bounds.low > -limit && bounds.low < limit ? bounds.low : undefined;
    }
    case 'date':
      return parseDate(text);
    case 'timestamp':
    case 'timestamptz':
      return parseTimestamp(text)?.micros;
    case 'binary':
      return Buffer.from(text, 'utf8');
    default:
      return undefined;
  }
}

function parseInteger(text: string, bits: 32 | 64): bigint | undefined {
  if (!/^[+-]?\d{1,20}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(bits, value) === value ? value : undefined;
}

/** Words as the JVM writes them; others are tried as numbers. */
const floatingWords: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['+infinity', Number.POSITIVE_INFINITY],
  ['inf', Number.POSITIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
]);

function parseFloating(kind: 'float' | 'double', text: string): number | undefined {
  const word = floatingWords.get(text.toLowerCase());
  if (word !== undefined) return word;
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return undefined;
  return kind === 'float' ? Math.fround(Number(text)) : Number(text);
}

/** The unscaled values next to a decimal number, below and above; equal when the scale is enough for it. */
export function parseDecimal(
  text: string,
  scale: number,
): { readonly low: bigint; readonly high: bigint } | undefined {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^([+-]?)(\d{1,400})(?:\.(\d{0,400}))?(?:e([+-]?\d{1,3}))?$/i.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`);
  const shift = scale - fraction.length + Number(exponent);
  if (shift >= 0) return { low: digits * 10n ** BigInt(shift), high: digits * 10n ** BigInt(shift) };
  const divisor = 10n ** BigInt(-shift);
  const quotient = digits / divisor;
  const isExact = quotient * divisor === digits;
  const low = isExact || digits >= 0n ? quotient : quotient - 1n;
  return { low, high: isExact ? low : low + 1n };
}

/** Days since 1970 of `year-month-day`. */
export function parseDate(text: string): number | undefined {
  const [, sign, year, month, day] = /^([+-]?)(\d{1,6})-(\d{1,2})-(\d{1,2})$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const date = { year: Number(year) * (sign === '-' ? -1 : 1), month: Number(month), day: Number(day) };
  return isDate(date.year, date.month, date.day) ? daysFromCivil(date) : undefined;
}

export interface ParsedTimestamp {
  /** Microseconds since 1970; in UTC where a zone is given. */
  readonly micros: bigint;
  readonly hasZone: boolean;
}

export function parseTimestamp(text: string): ParsedTimestamp | undefined {
  const [, date, hours = '0', minutes = '0', seconds = '0', fraction = '', zone] =
    /^([+-]?\d{1,6}-\d{1,2}-\d{1,2})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s*(Z|UTC|[+-]\d{2}:?\d{2}(?::?\d{2})?)?)?$/i.exec(
      text,
    ) ?? [];
  const days = date === undefined ? undefined : parseDate(date);
  if (days === undefined || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59)
    return undefined;
  const secondOfDay = BigInt(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
  const micros =
    BigInt(days) * microsPerDay +
    secondOfDay * 1_000_000n +
    BigInt(fraction.padEnd(6, '0').slice(0, 6) || '0');
  return { micros: micros - zoneMicros(zone), hasZone: zone !== undefined };
}

function zoneMicros(zone: string | undefined): bigint {
  const [, sign, hours, minutes, seconds = '0'] =
    /^([+-])(\d{2}):?(\d{2})(?::?(\d{2}))?$/.exec(zone ?? '') ?? [];
  if (sign === undefined) return 0n;
  const total = BigInt(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1_000_000n;
  return sign === '-' ? -total : total;
}

function isDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day <= ([31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0);
}
