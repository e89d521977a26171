/** The queries that ask a table, which the engine has already, for the keys that it has. */
import { quoteIdentifier, scanFilterSql } from '@svc/sql';
import type { FragmentKey, FragmentScan } from '../request.js';
import { qualified } from '../views/view-sql.js';

/** A table that is asked, and what is known of the rows that are needed of it. */
export interface KeySource {
  readonly table: FragmentScan;
  /** Its own keys are among those of others. */
  readonly among: readonly { readonly column: string; readonly source: KeySource; readonly key: string }[];
}

/** So many rows are looked at for a list; and so many keys, and characters of keys, are a list. */
export const maxListedRows = 100_000;
export const maxListedKeys = 10_000;
const maxListedCharacters = 1024 * 1024;

/** Answers JSON: how many rows there are, at most one more than looked at; their range; and their keys if they are few. */
export function keyListSql(source: KeySource, key: FragmentKey, maxKeys: number): string {
  const text = keyText('k', key.type);
  const list = `list(DISTINCT ${text})`;
  const characters = `coalesce(sum(strlen(${text})), 0)`;
  return `SELECT CAST(to_json({'rows': count(*), 'low': ${keyText('min(k)', key.type)}, 'high': ${keyText('max(k)', key.type)},
    'keys': CASE WHEN count(DISTINCT k) <= ${maxKeys} AND ${characters} <= ${maxListedCharacters} THEN coalesce(${list}, []) END}) AS VARCHAR)
    FROM (${keysSql(source, key.name)} LIMIT ${maxListedRows + 1})`;
}

/** Answers JSON: the least and the greatest key. */
export function keyRangeSql(source: KeySource, key: FragmentKey): string {
  return `SELECT CAST(to_json({'low': ${keyText('min(k)', key.type)}, 'high': ${keyText('max(k)', key.type)}}) AS VARCHAR)
    FROM (${keysSql(source, key.name)})`;
}

function keysSql(source: KeySource, key: string): string {
  const column = quoteIdentifier(key);
  const conditions = [
    `${column} IS NOT NULL`,
    ...(source.table.filters ?? []).flatMap((filter) => scanFilterSql(filter) ?? []),
    ...source.among.map((each) => `${quoteIdentifier(each.column)} IN (${keysSql(each.source, each.key)})`),
  ];
  return `SELECT ${column} AS k FROM ${qualified(source.table)} WHERE ${conditions.join(' AND ')}`;
}

/** What stands for a key in JSON: the digits of what a literal of its type has as value, or the text itself. */
function keyText(key: string, type: string): string {
  switch (type) {
    case 'DATE':
      return `CAST(${key} - DATE '1970-01-01' AS VARCHAR)`;
    case 'TIMESTAMP':
    case 'TIMESTAMP WITH TIME ZONE':
      return `CAST(epoch_us(${key}) AS VARCHAR)`;
    case 'TIMESTAMP_NS':
      return `CAST(epoch_ns(${key}) AS VARCHAR)`;
    default:
      return `CAST(${key} AS VARCHAR)`;
  }
}
