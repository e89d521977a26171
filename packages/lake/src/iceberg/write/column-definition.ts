/** The columns of a table to be made, before they have field ids. */
import { QueryError } from '@svc/base';
import { clip } from '../spec/lossless-json.js';
import { isPrimitive, printType } from '../spec/type-text.js';
import type { IcebergType, NestedField, PrimitiveType } from '../spec/types.js';

export interface ColumnDefinition {
  readonly name: string;
  readonly type: ColumnType;
  /** False when left out. */
  readonly required?: boolean;
  readonly doc?: string;
}

/** As IcebergType, without ids. A field or type that has ids is one too: they are given anew. */
export type ColumnType =
  | PrimitiveType
  | { readonly kind: 'struct'; readonly fields: readonly ColumnDefinition[] }
  | { readonly kind: 'list'; readonly element: ColumnType; readonly elementRequired?: boolean }
  | {
      readonly kind: 'map';
      readonly key: ColumnType;
      readonly value: ColumnType;
      readonly valueRequired?: boolean;
    };

export interface ColumnsWithIds {
  readonly fields: readonly NestedField[];
  readonly lastColumnId: number;
}

/** Half of what a reader of metadata takes. */
const maxDepth = 50;
/** Types that need format version 3. */
const laterTypes: ReadonlySet<string> = new Set(['timestamp_ns', 'timestamptz_ns', 'unknown']);

/**
 * Gives field ids level by level, as Iceberg's own writers do: first all columns, then the fields inside the first of
 * them. Throws INVALID_ARGUMENT naming the column: names that are empty, twice there (the engine ignores case), or no
 * Unicode; types that no table of the format version can have.
 */
export function assignFieldIds(
  columns: readonly ColumnDefinition[],
  formatVersion: number,
  lastColumnId = 0,
): ColumnsWithIds {
  if (columns.length === 0) throw invalid('A table needs at least one column.');
  const ids: Ids = { last: lastColumnId, formatVersion };
  const fields = assignFields(columns, '', 0, ids);
  checkPaths(fields);
  return { fields, lastColumnId: ids.last };
}

interface Ids {
  last: number;
  readonly formatVersion: number;
}

function assignFields(
  columns: readonly ColumnDefinition[],
  prefix: string,
  depth: number,
  ids: Ids,
): readonly NestedField[] {
  const names = new Map<string, string>();
  for (const { name } of columns) checkName(name, prefix, names);
  const first = ids.last + 1;
  ids.last += columns.length;
  return columns.map((column, index) => ({
    id: first + index,
    name: column.name,
    required: column.required ?? false,
    type: assignType(column.type, `${prefix}${column.name}`, depth, ids),
    ...(column.doc !== undefined && { doc: column.doc }),
  }));
}

function assignType(type: ColumnType, path: string, depth: number, ids: Ids): IcebergType {
  if (depth > maxDepth) throw invalid(`Column ${quoted(path)} is nested deeper than ${maxDepth} levels.`);
  switch (type.kind) {
    case 'struct':
      if (type.fields.length === 0) throw invalid(`Column ${quoted(path)} is a struct without fields.`);
      return { kind: 'struct', fields: assignFields(type.fields, `${path}.`, depth + 1, ids) };
    case 'list': {
      ids.last += 1;
      const elementId = ids.last;
      const element = assignType(type.element, `${path}.element`, depth + 1, ids);
      return { kind: 'list', elementId, elementRequired: type.elementRequired ?? false, element };
    }
    case 'map': {
      ids.last += 2;
      const valueId = ids.last;
      const key = assignType(type.key, `${path}.key`, depth + 1, ids);
      const value = assignType(type.value, `${path}.value`, depth + 1, ids);
      return {
        kind: 'map',
        keyId: valueId - 1,
        key,
        valueId,
        valueRequired: type.valueRequired ?? false,
        value,
      };
    }
    default:
      checkPrimitive(type, path, ids.formatVersion);
      return type;
  }
}

function checkName(name: string, prefix: string, names: Map<string, string>): void {
  const path = quoted(`${prefix}${name}`);
  if (name === '') throw invalid(`A column of ${prefix === '' ? 'the table' : quoted(prefix)} has no name.`);
  if (name.includes('\0') || /\p{Surrogate}/u.test(name))
    throw invalid(`The column name ${path} has a NUL character or broken Unicode.`);
  const before = names.get(name.toLowerCase());
  if (before !== undefined)
    throw invalid(
      before === name
        ? `Column ${path} is there twice.`
        : `Columns ${quoted(`${prefix}${before}`)} and ${path} differ only in case.`,
    );
  names.set(name.toLowerCase(), name);
}

function checkPrimitive(type: PrimitiveType, path: string, formatVersion: number): void {
  const wrong = (why: string) => invalid(`Column ${quoted(path)} has the type ${printType(type)}: ${why}.`);
  if (type.kind === 'unsupported' || (formatVersion < 3 && laterTypes.has(type.kind)))
    throw wrong(`tables of format version ${formatVersion} do not have it; version 3 is not written`);
  if (type.kind === 'fixed' && !(type.length >= 1 && type.length <= 0x7fffffff))
    throw wrong('its length must be from 1 to 2147483647');
  if (type.kind !== 'decimal') return;
  const { precision, scale } = type;
  const isRight =
    Number.isInteger(precision) && Number.isInteger(scale) && precision >= 1 && precision <= 38 && scale >= 0;
  if (!isRight || scale > precision)
    throw wrong('a decimal has 1 to 38 digits, at most all of them behind the point');
}

/** Readers look columns up by their path with dots, so a column `a.b` cannot be beside a struct `a` with a field `b`. */
function checkPaths(fields: readonly NestedField[]): void {
  const seen = new Set<string>();
  const add = (path: string, type: IcebergType): void => {
    if (seen.has(path))
      throw invalid(`The name ${quoted(path)} means two columns: a field, and a column with dots.`);
    seen.add(path);
    if (type.kind === 'struct') for (const field of type.fields) add(`${path}.${field.name}`, field.type);
    else if (!isPrimitive(type) && type.kind === 'list') add(`${path}.element`, type.element);
    else if (type.kind === 'map') {
      add(`${path}.key`, type.key);
      add(`${path}.value`, type.value);
    }
  };
  for (const field of fields) add(field.name, field.type);
}

function quoted(name: string): string {
  return JSON.stringify(clip(name, 200));
}

function invalid(message: string): QueryError {
  return new QueryError('INVALID_ARGUMENT', message);
}
