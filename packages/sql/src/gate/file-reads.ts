/** Files that a statement of the command line reads: by a table function, or by a string in place of a table. */
import { QueryError } from '@svc/base';
import type { ParsedQuery } from '../ast/parsed-statement.js';
import { mapInScope, walkOn } from '../ast/scoped-walk.js';
import { field, listField, objectField, replaceField, textField } from '../json/access.js';
import { type JsonObject, type JsonValue, stringifyJson } from '../json/lossless.js';
import { constantInteger, constantText } from './constants.js';
import { isFileFunction } from './function-lists.js';
import type { TableTarget } from './rewrite-tables.js';
import { StringTableNames } from './table-gate.js';

export interface FileRead {
  /** Equal for references that read the same files in the same way. */
  readonly key: string;
  /** In lower case; undefined for a string in place of a table: then the files say how they are read. */
  readonly function: string | undefined;
  /** Paths, URLs and patterns as they were written. */
  readonly paths: readonly string[];
  /** Named arguments that are written out as a number or a text, by their lower-case names. */
  readonly options: ReadonlyMap<string, bigint | string>;
  /** Whether there are arguments that are not among the options. */
  readonly hasOtherArguments: boolean;
  /** The call in the parser's JSON. */
  readonly call: JsonObject | undefined;
}

export function fileReadOfString(table: string): FileRead {
  const key = JSON.stringify(['string', table]);
  return {
    key,
    function: undefined,
    paths: [table],
    options: new Map(),
    hasOtherArguments: false,
    call: undefined,
  };
}

/** Undefined when the function reads no files. Throws NOT_SUPPORTED for paths that are not written out. */
export function fileReadOfCall(node: JsonObject): FileRead | undefined {
  const call = objectField(node, 'function');
  const name = textField(call, 'function_name').toLowerCase();
  if (!isFileFunction(name)) return undefined;
  const paths = writtenPaths(listField(call, 'children')[0]);
  if (paths === undefined)
    throw new QueryError(
      'NOT_SUPPORTED',
      `${name}: its files must be written out, as 'a.csv' or as ['a.csv', 'b.csv'].`,
    );
  if (!['', 'WITHOUT_ORDINALITY'].includes(textField(node, 'with_ordinality')))
    throw new QueryError(
      'NOT_SUPPORTED',
      `${name}: WITH ORDINALITY is not supported; use row_number() OVER ().`,
    );
  const [, ...others] = listField(call, 'children');
  const options = new Map(others.flatMap(namedConstant));
  const hasOtherArguments = options.size < others.length;
  const key = stringifyJson(['call', withoutPlaces(call)]);
  return { key, function: name, paths, options, hasOtherArguments, call };
}

/** `name = value`, which the parser takes for a comparison, or `name := value`, an alias to it. */
function namedConstant(argument: JsonObject): readonly (readonly [string, bigint | string])[] {
  const isComparison = textField(argument, 'class') === 'COMPARISON';
  const names = isComparison
    ? field(objectField(argument, 'left'), 'column_names')
    : [textField(argument, 'alias')];
  const value = isComparison ? objectField(argument, 'right') : argument;
  const constant = constantText(value) ?? (isWhole(value) ? constantInteger(value) : undefined);
  const name = Array.isArray(names) && typeof names[0] === 'string' ? names[0].toLowerCase() : '';
  return constant === undefined || name === '' ? [] : [[name, constant]];
}

function isWhole(value: JsonObject): boolean {
  if (textField(value, 'class') !== 'CONSTANT') return false;
  const type = textField(objectField(objectField(value, 'value'), 'type'), 'id');
  return type.endsWith('INT') || type === 'INTEGER';
}

function writtenPaths(argument: JsonObject | undefined): readonly string[] | undefined {
  if (argument === undefined) return undefined;
  const single = constantText(argument);
  if (single !== undefined) return [single];
  if (textField(argument, 'class') !== 'FUNCTION' || textField(argument, 'function_name') !== 'list_value')
    return undefined;
  const paths = listField(argument, 'children').map(constantText);
  return paths.length > 0 && paths.every((path) => path !== undefined) ? paths : undefined;
}

/** The same node wherever in a text it stood. */
function withoutPlaces(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutPlaces);
  if (value === null || typeof value !== 'object' || !('class' in value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) =>
      name === 'query_location' ? [] : [[name, withoutPlaces(each)]],
    ),
  );
}

/** The query with every reading of files replaced by a table. It keeps its alias, or gets the one it had unsaid. */
export function rewriteFileReads(
  parsed: ParsedQuery,
  targetOf: (read: FileRead) => Required<TableTarget>,
): JsonObject {
  const strings = new StringTableNames(parsed.sql);
  const replace = (node: JsonObject, read: FileRead): JsonObject => {
    const target = targetOf(read);
    const alias = textField(node, 'alias');
    return {
      type: 'BASE_TABLE',
      alias: alias === '' ? unsaidAlias(read) : alias,
      sample: field(node, 'sample') ?? null,
      query_location: field(node, 'query_location') ?? null,
      schema_name: target.schema,
      table_name: target.table,
      column_name_alias: field(node, 'column_name_alias') ?? [],
      catalog_name: target.catalog,
      at_clause: null,
    };
  };
  return mapInScope(parsed.query, {
    baseTable: (node) =>
      strings.isString(node) ? replace(node, fileReadOfString(textField(node, 'table_name'))) : node,
    commonTable: (node) => node,
    otherTable: (node, children) => {
      const read = textField(node, 'type') === 'TABLE_FUNCTION' ? fileReadOfCall(node) : undefined;
      return read === undefined ? walkOn(node, children) : replace(node, read);
    },
    expression: walkOn,
  });
}

/** As the engine has it: a function's name; of a file its name without folder and extension, of a pattern all of it. */
function unsaidAlias({ function: name, paths: [path = ''] }: FileRead): string {
  if (name !== undefined) return name;
  const isUrl = /^https?:/i.test(path);
  if (!isUrl && /[*?[]/.test(path)) return path;
  // What a URL has behind its path may be a secret.
  const base = (isUrl ? path.replace(/[?#].*$/s, '') : path).replace(/^.*[/\\]/s, '');
  return base.replace(/(?<=.)\..*$/s, '') || 'file';
}

/** Where the paths stand in the text that a call becomes. */
export const filesPlaceholder = '@svc-files@';

/**
 * The parser's JSON of `SELECT * FROM call`, with the placeholder for its paths. `template` is any query of the form
 * SELECT * FROM function(…).
 */
export function queryOfCall(template: ParsedQuery, call: JsonObject): JsonObject {
  const [, ...options] = listField(call, 'children');
  const from = objectField(template.query, 'from_table');
  const placeholder = {
    class: 'CONSTANT',
    type: 'VALUE_CONSTANT',
    alias: '',
    query_location: field(call, 'query_location') ?? null,
    value: { type: { id: 'VARCHAR', type_info: null }, is_null: false, value: filesPlaceholder },
  };
  const replaced = replaceField(call, 'children', [placeholder, ...options]);
  return replaceField(template.query, 'from_table', replaceField(from, 'function', replaced));
}
