import type { ColumnPath, Literal, ScanFilter } from '@svc/sql';
import { decimalText, quoteIdentifier, quoteString, timestampText } from '@svc/sql';

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
  const scale = /^DECIMAL\(\d+,\s*(\d+)\)$/.exec(type)?.[1];
  if (scale !== undefined) return decimalText(value, Number(scale));
  const text = timestampText(type, value);
  if (text !== undefined) return `${type} ${quoteString(text)}`;
  if (type === 'DATE') return `DATE ${quoteString(`${value} days`)}`;
  return type.startsWith('TIMESTAMP') ? `${type} ${value}` : String(value);
}
