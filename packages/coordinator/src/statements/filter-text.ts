import type { ColumnPath, Literal, ScanFilter } from '@svc/sql';
import { quoteIdentifier, quoteString } from '@svc/sql';

/** A pushed filter as EXPLAIN shows it: SQL-like, for people. */
export function filterText(filter: ScanFilter): string {
  switch (filter.kind) {
    case 'compare':
      return `${columnText(filter.column)} ${filter.operator} ${literalText(filter.literal)}`;
    case 'in':
      return `${columnText(filter.column)} IN (${listText(filter.literals)})`;
    case 'starts-with':
      return `${columnText(filter.column)} LIKE ${quoteString(`${filter.prefix}%`)}`;
    case 'is-null':
      return `${columnText(filter.column)} IS NULL`;
    case 'is-not-null':
      return `${columnText(filter.column)} IS NOT NULL`;
    case 'and':
      return `(${filter.filters.map(filterText).join(' AND ')})`;
    case 'or':
      return `(${filter.filters.map(filterText).join(' OR ')})`;
  }
}

const maxListed = 10;

function listText(literals: readonly Literal[]): string {
  const shown = literals.slice(0, maxListed).map(literalText).join(', ');
  return literals.length > maxListed ? `${shown}, … ${literals.length - maxListed} more` : shown;
}

function columnText(path: ColumnPath): string {
  return path.map((name) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : quoteIdentifier(name))).join('.');
}

function literalText({ type, value }: Literal): string {
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString('hex')}'`;
  if (typeof value === 'string') return quoteString(value);
  if (typeof value !== 'bigint') return String(value);
  const digits = fractionDigits.get(type);
  if (digits !== undefined) return timestampText(type, value, digits);
  if (type === 'DATE')
    return `DATE ${quoteString(isoText(value * secondsPerDay)?.slice(0, -9) ?? `${value} days`)}`;
  const scale = /^DECIMAL\(\d+,\s*(\d+)\)$/.exec(type)?.[1];
  return scale === undefined ? String(value) : decimalText(value, Number(scale));
}

const secondsPerDay = 86_400n;

/** How many decimal places of a second a timestamp type counts in. */
const fractionDigits: ReadonlyMap<string, number> = new Map([
  ['TIMESTAMP_S', 0],
  ['TIMESTAMP_MS', 3],
  ['TIMESTAMP', 6],
  ['TIMESTAMP WITH TIME ZONE', 6],
  ['TIMESTAMP_NS', 9],
]);

function timestampText(type: string, value: bigint, digits: number): string {
  const perSecond = 10n ** BigInt(digits);
  const fraction = ((value % perSecond) + perSecond) % perSecond;
  const whole = isoText((value - fraction) / perSecond);
  if (whole === undefined) return `${type} ${value}`;
  const zone = type === 'TIMESTAMP WITH TIME ZONE' ? '+00' : '';
  const decimals = fraction === 0n ? '' : `.${String(fraction).padStart(digits, '0').replace(/0+$/, '')}`;
  return `${type} '${whole}${decimals}${zone}'`;
}

/** `YYYY-MM-DD hh:mm:ss`; undefined for infinity and whatever else is outside of JavaScript's calendar. */
function isoText(secondsSince1970: bigint): string | undefined {
  const ms = Number(secondsSince1970) * 1000;
  return Math.abs(ms) > 8.64e15 ? undefined : new Date(ms).toISOString().replace('T', ' ').slice(0, -5);
}

function decimalText(unscaled: bigint, scale: number): string {
  if (scale === 0) return String(unscaled);
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
