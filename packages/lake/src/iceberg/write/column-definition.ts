/** The columns of a table to be made, before they have field ids. */
import { QueryError } from '@svc/base';
import { clip } from '../spec/lossless-json.js';
import { isPrimitive, printType } from '../spec/type-text.js';
import type { IcebergType, NestedField, PrimitiveType } from '../spec/types.js';
import { mayBecome } from './type-promotion.js';

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
 * them. A column that `existing` has by name keeps its id, unless its type is none that the column could have been
 * changed to: then it is another column. Throws INVALID_ARGUMENT naming the column: names that are empty, twice there
 * (the engine ignores case), or no Unicode; types that no table of the format version can have.
 */
export function assignFieldIds(
  columns: readonly ColumnDefinition[],
  formatVersion: number,
  existing: ColumnsWithIds = { fields: [], lastColumnId: 0 },
): ColumnsWithIds {
  if (columns.length === 0) throw invalid('A table needs at least one column.');
  const ids: Ids = { last: existing.lastColumnId, formatVersion };
  const fields = assignFields(columns, { prefix: '', depth: 0, known: existing.fields }, ids);
  checkPaths(fields);
  return { fields, lastColumnId: ids.last };
}

interface Ids {
  last: number;
  readonly formatVersion: number;
}

interface Level {
  /** What the names of its fields stand behind in a path. */
  readonly prefix: string;
  readonly depth: number;
  /** What the table had here. */
  readonly known: readonly NestedField[];
}

function assignFields(
  columns: readonly ColumnDefinition[],
  { prefix, depth, known }: Level,
  ids: Ids,
): readonly NestedField[] {
  const names = new Map<string, string>();
  for (const { name } of columns) checkName(name, prefix, names);
  const found = columns.map(({ name, type }) => {
    const field = fieldNamed(known, name);
    const isSame = field !== undefined && mayBecome(field.type, type);
    return isSame ? { id: field.id, type: field.type } : { id: nextId(ids), type: undefined };
  });
  return columns.map((column, index) => ({
    id: found[index]?.id ?? nextId(ids),
    name: column.name,
    required: column.required ?? false,
    type: assignType(column.type, { path: `${prefix}${column.name}`, depth, known: found[index]?.type }, ids),
    ...(column.doc !== undefined && { doc: column.doc }),
  }));
}

function nextId(ids: Ids): number {
  ids.last += 1;
  return ids.last;
}

/** The one that is spelled so, or else differs in case. */
function fieldNamed(fields: readonly NestedField[], name: string): NestedField | undefined {
  const lowerCase = name.toLowerCase();
  return (
    fields.find((field) => field.name === name) ??
    fields.find((field) => field.name.toLowerCase() === lowerCase)
  );
}

interface Inner {
  readonly path: string;
  readonly depth: number;
  /** What the column was, if it keeps its id. */
  readonly known: IcebergType | undefined;
}

function assignType(type: ColumnType, { path, depth, known }: Inner, ids: Ids): IcebergType {
  if (depth > maxDepth) throw invalid(`Column ${quoted(path)} is nested deeper than ${maxDepth} levels.`);
  switch (type.kind) {
    case 'struct': {
      if (type.fields.length === 0) throw invalid(`Column ${quoted(path)} is a struct without fields.`);
      const fields = known?.kind === 'struct' ? known.fields : [];
      return {
        kind: 'struct',
        fields: assignFields(type.fields, { prefix: `${path}.`, depth: depth + 1, known: fields }, ids),
      };
    }
    case 'list': {
      const was = known?.kind === 'list' && mayBecome(known.element, type.element) ? known : undefined;
      const elementId = was?.elementId ?? nextId(ids);
      const inner = { path: `${path}.element`, depth: depth + 1, known: was?.element };
      const element = assignType(type.element, inner, ids);
      return { kind: 'list', elementId, elementRequired: type.elementRequired ?? false, element };
    }
    case 'map': {
      const was = known?.kind === 'map' ? known : undefined;
      const knownKey = was && mayBecome(was.key, type.key) ? was : undefined;
      const knownValue = was && mayBecome(was.value, type.value) ? was : undefined;
      const keyId = knownKey?.keyId ?? nextId(ids);
      const valueId = knownValue?.valueId ?? nextId(ids);
      const key = assignType(type.key, { path: `${path}.key`, depth: depth + 1, known: knownKey?.key }, ids);
      const inner = { path: `${path}.value`, depth: depth + 1, known: knownValue?.value };
      const value = assignType(type.value, inner, ids);
      return { kind: 'map', keyId, key, valueId, valueRequired: type.valueRequired ?? false, value };
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
