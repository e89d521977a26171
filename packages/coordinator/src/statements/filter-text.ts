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

const msPerDay = 86_400_000;

function literalText({ type, value }: Literal): string {
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString('hex')}'`;
  if (typeof value === 'string') return quoteString(value);
  if (typeof value !== 'bigint') return String(value);
  if (type === 'DATE') return `DATE '${new Date(Number(value) * msPerDay).toISOString().slice(0, 10)}'`;
  if (type === 'TIMESTAMP' || type === 'TIMESTAMP WITH TIME ZONE') return timestampText(type, value);
  const scale = /^DECIMAL\(\d+,\s*(\d+)\)$/.exec(type)?.[1];
  return scale === undefined ? String(value) : decimalText(value, Number(scale));
}

function timestampText(type: string, micros: bigint): string {
  const ms = Number(micros / 1000n);
  if (Math.abs(ms) > 8.64e15) return `${type} ${micros}`;
  return `${type} '${new Date(ms).toISOString().replace('T', ' ').replace('Z', '')}'`;
}

function decimalText(unscaled: bigint, scale: number): string {
  if (scale === 0) return String(unscaled);
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
