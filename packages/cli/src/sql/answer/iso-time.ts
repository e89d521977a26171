/** Dates and times as ISO 8601 text, exact to the unit that they are stored in. Years beyond 9999 get a sign. */
import { TimeUnit } from 'apache-arrow';

const unitsPerSecond: Readonly<Record<TimeUnit, bigint>> = {
  [TimeUnit.SECOND]: 1n,
  [TimeUnit.MILLISECOND]: 1_000n,
  [TimeUnit.MICROSECOND]: 1_000_000n,
  [TimeUnit.NANOSECOND]: 1_000_000_000n,
};

const fractionDigits: Readonly<Record<TimeUnit, number>> = {
  [TimeUnit.SECOND]: 0,
  [TimeUnit.MILLISECOND]: 3,
  [TimeUnit.MICROSECOND]: 6,
  [TimeUnit.NANOSECOND]: 9,
};

const secondsPerDay = 86_400;

/** The engine's infinities: the largest and smallest values of the type (one less than the smallest is out of range). */
const maxInt64 = 2n ** 63n - 1n;
const maxInt32 = 2 ** 31 - 1;

/** `1970-01-01` for 0. */
export function isoDate(days: number): string {
  if (days === maxInt32) return 'infinity';
  if (days === -maxInt32) return '-infinity';
  const { year, month, day } = civilDate(days);
  return `${yearText(year)}-${twoDigits(month)}-${twoDigits(day)}`;
}

/** `12:34:56.789`: a fraction only where there is one, without closing zeros. */
export function isoTime(value: bigint, unit: TimeUnit): string {
  const perSecond = unitsPerSecond[unit];
  return clock(Number(value / perSecond), fraction(value % perSecond, unit));
}

/** `1970-01-01T00:00:00`; with an offset in seconds the local time there, followed by `Z` or `+01:00`. */
export function isoTimestamp(
  value: bigint,
  unit: TimeUnit,
  separator: 'T' | ' ',
  offsetAt?: (epochSeconds: number) => number,
): string {
  if (value === maxInt64) return 'infinity';
  if (value === -maxInt64) return '-infinity';
  const { seconds, rest } = splitSeconds(value, unit);
  const offset = offsetAt?.(seconds);
  const local = seconds + (offset ?? 0);
  const days = Math.floor(local / secondsPerDay);
  const time = clock(local - days * secondsPerDay, fraction(rest, unit));
  return `${isoDate(days)}${separator}${time}${offset === undefined ? '' : offsetText(offset)}`;
}

function splitSeconds(
  value: bigint,
  unit: TimeUnit,
): { readonly seconds: number; readonly rest: bigint | number } {
  // Most timestamps are safe as numbers, and numbers are many times as fast.
  const asNumber = Number(value);
  const perSecond = Number(unitsPerSecond[unit]);
  if (Number.isSafeInteger(asNumber)) {
    const seconds = Math.floor(asNumber / perSecond);
    return { seconds, rest: asNumber - seconds * perSecond };
  }
  const big = unitsPerSecond[unit];
  const remainder = value % big;
  const rest = remainder < 0n ? remainder + big : remainder;
  return { seconds: Number((value - rest) / big), rest };
}

function clock(secondOfDay: number, fractionText: string): string {
  const hours = Math.floor(secondOfDay / 3600);
  const minutes = Math.floor(secondOfDay / 60) % 60;
  return `${twoDigits(hours)}:${twoDigits(minutes)}:${twoDigits(secondOfDay % 60)}${fractionText}`;
}

function fraction(rest: bigint | number, unit: TimeUnit): string {
  if (Number(rest) === 0) return '';
  return `.${String(rest).padStart(fractionDigits[unit], '0')}`.replace(/0+$/, '');
}

function offsetText(offset: number): string {
  if (offset === 0) return 'Z';
  const size = Math.abs(offset);
  const seconds = size % 60 === 0 ? '' : `:${twoDigits(size % 60)}`;
  const minutes = twoDigits(Math.floor(size / 60) % 60);
  return `${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(size / 3600))}:${minutes}${seconds}`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

function yearText(year: number): string {
  if (year >= 0 && year <= 9999) return String(year).padStart(4, '0');
  return `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`;
}

/** The proleptic Gregorian date, counted in eras of 400 years that begin in March so that leap days come last. */
function civilDate(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** Offsets from UTC of a time zone, in seconds; of a zone that the runtime does not know: always 0. */
export function zoneOffsets(timeZone: string): (epochSeconds: number) => number {
  if (/^(UTC|Etc\/UTC|GMT|Z)$/i.test(timeZone)) return () => 0;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    return () => 0;
  }
  let knownMinute = Number.NaN;
  let known = 0;
  return (epochSeconds) => {
    const minute = Math.floor(epochSeconds / 60);
    if (minute !== knownMinute) {
      known = offsetAt(format, epochSeconds * 1000);
      knownMinute = minute;
    }
    return known;
  };
}

/** JavaScript dates reach to the year 275760. */
const maxDateMs = 8.64e15;

function offsetAt(format: Intl.DateTimeFormat, epochMs: number): number {
  const date = new Date(Math.max(-maxDateMs, Math.min(maxDateMs, epochMs)));
  const name = format.formatToParts(date).find((part) => part.type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes, seconds] = /^GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(name) ?? [];
  if (hours === undefined) return 0;
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0);
  return sign === '-' ? -size : size;
}
