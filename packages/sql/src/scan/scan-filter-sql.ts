import { quoteIdentifier, quoteString } from '../text/literals.js';
import { decimalText, timestampText } from './literal-text.js';
import type { Literal, ScanFilter } from './scan-request.js';

/** A filter as SQL over the table's columns, or `undefined` for what is not to be said exactly: then it is left out. */
export function scanFilterSql(filter: ScanFilter): string | undefined {
  switch (filter.kind) {
    case 'compare': {
      const literal = literalSql(filter.literal);
      return literal && columnSql(filter.column, (column) => `${column} ${filter.operator} ${literal}`);
    }
    case 'in': {
      const literals = allOf(filter.literals, literalSql)?.join(', ');
      return literals && columnSql(filter.column, (column) => `${column} IN (${literals})`);
    }
    case 'starts-with':
      return columnSql(filter.column, (column) => `starts_with(${column}, ${quoteString(filter.prefix)})`);
    case 'is-null':
      return columnSql(filter.column, (column) => `${column} IS NULL`);
    case 'is-not-null':
      return columnSql(filter.column, (column) => `${column} IS NOT NULL`);
    case 'and': {
      const known = filter.filters.flatMap((each) => scanFilterSql(each) ?? []);
      return known.length === 0 ? undefined : `(${known.join(' AND ')})`;
    }
    case 'or': {
      const all = allOf(filter.filters, scanFilterSql);
      return all && `(${all.join(' OR ')})`;
    }
  }
}

/** Inside of a struct a name might also be taken for a table's. */
function columnSql(path: readonly string[], sql: (column: string) => string): string | undefined {
  const [name, ...inner] = path;
  return name === undefined || inner.length > 0 ? undefined : `(${sql(quoteIdentifier(name))})`;
}

const typesByText = /^(?:BOOLEAN|VARCHAR|U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE)$/;

function literalSql({ type, value }: Literal): string | undefined {
  const text = exactText({ type, value });
  return text === undefined ? undefined : `CAST(${quoteString(text)} AS ${type})`;
}

function exactText({ type, value }: Literal): string | undefined {
  if (value instanceof Uint8Array) return undefined;
  if (typesByText.test(type)) return String(value);
  if (typeof value !== 'bigint') return undefined;
  const scale = /^DECIMAL\(\d+,\s*(\d+)\)$/.exec(type)?.[1];
  return scale === undefined ? timestampText(type, value) : decimalText(value, Number(scale));
}

function allOf<T>(
  items: readonly T[],
  sqlOf: (item: T) => string | undefined,
): readonly string[] | undefined {
  const all = items.flatMap((item) => sqlOf(item) ?? []);
  return all.length === items.length && all.length > 0 ? all : undefined;
}
