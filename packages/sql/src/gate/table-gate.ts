import { QueryError } from '@svc/base';
import { field, listField, objectField, textField } from '../json/access.js';
import { isJsonObject, JsonNumber, type JsonObject } from '../json/lossless.js';
import { abbreviate } from '../text/abbreviate.js';
import { identifierValue, stringValue } from '../text/literals.js';
import { type TokenList, tokenKinds } from '../text/token-list.js';
import { tokenize } from '../text/tokenizer.js';
import { constantInteger, constantText } from './constants.js';
import { readTimeExpression, type TimeExpression } from './time-expression.js';

/** The point in a table's history that a reference asks for. */
export type TimeTravel =
  | { readonly kind: 'snapshot'; readonly snapshotId: bigint }
  /** A branch or a tag. */
  | { readonly kind: 'ref'; readonly name: string }
  /** A literal as written; `type` is the engine's name of its type, VARCHAR when it had none. */
  | { readonly kind: 'timestamp'; readonly type: string; readonly text: string }
  /** now() or current_timestamp. */
  | { readonly kind: 'now' }
  /** Another expression over constants, parameters, now() and its kin. */
  | TimeExpression;

/** A table of a statement, its name as written: absent parts are the session's to fill in. */
export interface TableReference {
  readonly catalog?: string;
  readonly schema?: string;
  readonly table: string;
  readonly timeTravel?: TimeTravel;
}

/** Views that every DuckDB instance has in its main schema. */
const engineViews =
  /^(?:duckdb_(?:columns|constraints|databases|indexes|logs|schemas|tables|types|views|settings|functions|secrets)|pragma_database_list|sqlite_(?:temp_)?(?:master|schema))$/;

export function readTableReference(node: JsonObject): TableReference {
  const catalog = textField(node, 'catalog_name');
  const schema = textField(node, 'schema_name');
  const atClause = field(node, 'at_clause');
  return {
    ...(catalog === '' ? {} : { catalog }),
    ...(schema === '' ? {} : { schema }),
    table: textField(node, 'table_name'),
    ...(isJsonObject(atClause) ? { timeTravel: readTimeTravel(atClause) } : {}),
  };
}

/** Refuses the engine's own schemas and views by name; whether any other name exists is the catalog's to say. */
export function checkTableName(reference: TableReference): void {
  const schema = reference.schema?.toLowerCase();
  const catalog = reference.catalog?.toLowerCase();
  const written = [reference.catalog, reference.schema, reference.table].filter((part) => part !== undefined);
  const name = abbreviate(written.join('.'));
  const engineCatalog =
    catalog === 'system' ||
    catalog === 'temp' ||
    (catalog === undefined && (schema === 'system' || schema === 'temp'));
  const engineView =
    engineViews.test(reference.table.toLowerCase()) &&
    (schema === undefined || (schema === 'main' && catalog === undefined));
  if (schema === 'pg_catalog' || engineCatalog || engineView)
    throw new QueryError(
      'TABLE_REFERENCE_NOT_ALLOWED',
      `${name} is a system table of the engine and may not be read.`,
    );
  if (reference.table === '') throw new QueryError('TABLE_REFERENCE_NOT_ALLOWED', 'A table name is empty.');
}

function readTimeTravel(atClause: JsonObject): TimeTravel {
  const unit = textField(atClause, 'unit').toUpperCase();
  const point = objectField(atClause, 'expr');
  const text = constantText(point);
  if (unit === 'VERSION') {
    if (text !== undefined) return { kind: 'ref', name: text };
    const snapshotId = constantInteger(point);
    if (snapshotId !== undefined) return { kind: 'snapshot', snapshotId };
  } else if (unit !== 'TIMESTAMP')
    throw new QueryError('NOT_SUPPORTED', `AT (${unit} => …) is not supported.`);
  else {
    if (text !== undefined) return { kind: 'timestamp', type: 'VARCHAR', text };
    if (textField(point, 'class') === 'CAST') {
      const literal = constantText(objectField(point, 'child'));
      const type = textField(objectField(point, 'cast_type'), 'id');
      if (literal !== undefined) return { kind: 'timestamp', type, text: literal };
    }
    if (isNow(point)) return { kind: 'now' };
  }
  const expression = readTimeExpression(point, unit);
  if (expression !== undefined) return expression;
  throw new QueryError('NOT_SUPPORTED', `AT (${unit} => …) takes ${expectedPoints[unit]}.`);
}

const expectedPoints = {
  VERSION:
    "a snapshot id or the name of a branch or tag, without columns and subqueries: AT (VERSION => 123), AT (VERSION => 'main'), AT (VERSION => ?)",
  TIMESTAMP:
    "a time without columns and subqueries: AT (TIMESTAMP => TIMESTAMP '2025-01-01 00:00:00'), AT (TIMESTAMP => now() - INTERVAL 1 DAY), AT (TIMESTAMP => ?)",
} as const;

function isNow(point: JsonObject): boolean {
  if (textField(point, 'class') === 'FUNCTION')
    return (
      ['now', 'get_current_timestamp', 'transaction_timestamp'].includes(textField(point, 'function_name')) &&
      listField(point, 'children').length === 0
    );
  const names = field(point, 'column_names');
  return (
    textField(point, 'class') === 'COLUMN_REF' &&
    Array.isArray(names) &&
    names.length === 1 &&
    String(names[0]).toLowerCase() === 'current_timestamp'
  );
}

/**
 * Tells `'x'` from `"x"` as a table name, which DuckDB's parse tree does not: for DuckDB a string there is a file. Looks
 * at the token that the reference was parsed from.
 */
export class StringTableNames {
  readonly #sql: string;
  #tokens: TokenList | undefined;
  #tokenAtByte: ReadonlyMap<string, number> | undefined;
  #strings: ReadonlySet<string> | undefined;

  constructor(sql: string) {
    this.#sql = sql;
  }

  /** Whether the name was, or may have been, written as a string. In doubt it was. */
  isString(node: JsonObject): boolean {
    this.#tokens ??= tokenize(this.#sql);
    this.#tokenAtByte ??= tokensByByteOffset(this.#tokens);
    const location = field(node, 'query_location');
    const index = location instanceof JsonNumber ? this.#tokenAtByte.get(location.text) : undefined;
    const first = ['catalog_name', 'schema_name', 'table_name']
      .map((part) => textField(node, part))
      .find(Boolean);
    if (index !== undefined && first !== undefined) {
      if (this.#tokens.kind(index) === tokenKinds.string) return true;
      if (identifierValue(this.#tokens, index)?.toLowerCase() === first.toLowerCase()) return false;
    }
    return this.#someStringIs(textField(node, 'table_name'));
  }

  #someStringIs(name: string): boolean {
    this.#strings ??= lowerCaseStrings(this.#tokens ?? tokenize(this.#sql));
    return this.#strings.has(name.toLowerCase());
  }
}

function lowerCaseStrings(tokens: TokenList): ReadonlySet<string> {
  const strings = new Set<string>();
  for (let index = 0; index < tokens.count; index++) {
    const value = stringValue(tokens, index);
    if (value !== undefined) strings.add(value.toLowerCase());
  }
  return strings;
}

/** Token indexes by the UTF-8 offset of their start, as text because that is what locations in the tree are. */
function tokensByByteOffset(tokens: TokenList): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  let bytes = 0;
  let at = 0;
  for (let index = 0; index < tokens.count; index++) {
    const start = tokens.start(index);
    for (; at < start; at++) {
      const code = tokens.sql.charCodeAt(at);
      // A surrogate pair is four bytes, two for each half.
      bytes += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 2 : 3;
    }
    offsets.set(String(bytes), index);
  }
  return offsets;
}
