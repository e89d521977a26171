/** Filters of a query, bound to a table's columns: names become field ids, literals the columns' own values. */
import type { ColumnPath, ComparisonOperator, Literal, ScanFilter } from '@svc/sql';
import { isPrimitive } from '../spec/type-text.js';
import type { NestedField, PrimitiveType } from '../spec/types.js';
import { type Comparable, compareValues } from '../spec/values.js';
import type { ColumnPredicate } from './column-predicate.js';
import { type ColumnValue, toColumnValue, toRange } from './literal-value.js';

export interface ColumnFilter {
  readonly kind: 'column';
  readonly fieldId: number;
  readonly type: PrimitiveType;
  readonly predicate: ColumnPredicate;
}

/** `always`: nothing can be concluded; `never`: no row satisfies it. */
export type BoundFilter =
  | ColumnFilter
  | { readonly kind: 'and' | 'or'; readonly filters: readonly BoundFilter[] }
  | { readonly kind: 'always' }
  | { readonly kind: 'never' };

export const always: BoundFilter = { kind: 'always' };
export const never: BoundFilter = { kind: 'never' };

/** Joins the filters by AND. Whatever cannot be bound with certainty becomes `always`. */
export function bindFilters(filters: readonly ScanFilter[], fields: readonly NestedField[]): BoundFilter {
  return allOf(filters.map((filter) => bindFilter(filter, fields)));
}

/** The field ids that the filter's columns have. */
export function filteredFieldIds(filter: BoundFilter, into: Set<number> = new Set()): ReadonlySet<number> {
  if (filter.kind === 'column') into.add(filter.fieldId);
  else if (filter.kind === 'and' || filter.kind === 'or')
    for (const inner of filter.filters) filteredFieldIds(inner, into);
  return into;
}

/** What the filter says of some columns alone: it holds wherever the filter does. */
export function onlyOnFields(filter: BoundFilter, fieldIds: ReadonlySet<number>): BoundFilter {
  switch (filter.kind) {
    case 'always':
    case 'never':
      return filter;
    case 'and':
      return allOf(filter.filters.map((inner) => onlyOnFields(inner, fieldIds)));
    case 'or':
      return anyOf(filter.filters.map((inner) => onlyOnFields(inner, fieldIds)));
    case 'column':
      return fieldIds.has(filter.fieldId) ? filter : always;
  }
}

export function allOf(filters: readonly BoundFilter[]): BoundFilter {
  const needed = filters.filter((filter) => filter.kind !== 'always');
  if (needed.some((filter) => filter.kind === 'never')) return never;
  const [first] = needed;
  if (first === undefined) return always;
  return needed.length === 1 ? first : { kind: 'and', filters: needed };
}

export function anyOf(filters: readonly BoundFilter[]): BoundFilter {
  const possible = filters.filter((filter) => filter.kind !== 'never');
  if (possible.some((filter) => filter.kind === 'always')) return always;
  const [first] = possible;
  if (first === undefined) return never;
  return possible.length === 1 ? first : { kind: 'or', filters: possible };
}

/** A field by its path of names: spelled exactly, or else the only one that differs in case. */
export function findField(path: ColumnPath, fields: readonly NestedField[]): NestedField | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return undefined;
  const lowerCase = name.toLowerCase();
  const similar = fields.filter((field) => field.name.toLowerCase() === lowerCase);
  const field =
    similar.find((candidate) => candidate.name === name) ?? (similar.length === 1 ? similar[0] : undefined);
  if (field === undefined || rest.length === 0) return field;
  return field.type.kind === 'struct' ? findField(rest, field.type.fields) : undefined;
}

function bindFilter(filter: ScanFilter, fields: readonly NestedField[]): BoundFilter {
  switch (filter.kind) {
    case 'and':
      return allOf(filter.filters.map((inner) => bindFilter(inner, fields)));
    case 'or':
      return anyOf(filter.filters.map((inner) => bindFilter(inner, fields)));
    case 'is-null':
      // Writers differ in whether a null struct counts as a null of each of its fields.
      if (filter.column.length > 1) return always;
      return onColumn(filter.column, fields, () => ({ kind: filter.kind }));
    case 'is-not-null':
      return onColumn(filter.column, fields, () => ({ kind: filter.kind }));
    case 'starts-with':
      return onColumn(filter.column, fields, (type) => bindPrefix(filter.prefix, type));
    case 'in':
      return onColumn(filter.column, fields, (type) => bindList(filter.literals, type));
    case 'compare':
      return bindCompare(filter, fields);
  }
}

function onColumn(
  path: ColumnPath,
  fields: readonly NestedField[],
  bind: (type: PrimitiveType) => ColumnPredicate | 'always' | 'never',
): BoundFilter {
  const field = findField(path, fields);
  if (field === undefined || !isPrimitive(field.type)) return always;
  const predicate = bind(field.type);
  if (predicate === 'always') return always;
  return predicate === 'never' ? never : { kind: 'column', fieldId: field.id, type: field.type, predicate };
}

const boundedAbove: ReadonlySet<ComparisonOperator> = new Set(['=', '<', '<=']);
const boundedBelow: ReadonlySet<ComparisonOperator> = new Set(['=', '>', '>=']);

function bindCompare(
  { column, literal, operator }: Extract<ScanFilter, { kind: 'compare' }>,
  fields: readonly NestedField[],
): BoundFilter {
  const exactly = onColumn(column, fields, (type) => {
    const value = toColumnValue(type, literal);
    return value === undefined ? 'always' : bindComparison(operator, value);
  });
  const within = (side: 'low' | 'high') =>
    onColumn(column, fields, (type) => {
      const value = toRange(type, literal)?.[side];
      const sideOperator = side === 'low' ? '>=' : '<=';
      return value === undefined ? 'always' : { kind: 'compare', operator: sideOperator, value };
    });
  return allOf([
    exactly,
    ...(boundedAbove.has(operator) ? [within('high')] : []),
    ...(boundedBelow.has(operator) ? [within('low')] : []),
  ]);
}

function bindPrefix(prefix: string, type: PrimitiveType): ColumnPredicate | 'always' {
  if (type.kind !== 'string') return 'always';
  return prefix === ''
    ? { kind: 'is-not-null' }
    : { kind: 'starts-with', prefix: Buffer.from(prefix, 'utf8') };
}

/** A literal between two values of the column (1.5 for an integer) moves to the value below. */
function bindComparison(
  operator: ComparisonOperator,
  { value, isExact }: ColumnValue,
): ColumnPredicate | 'never' {
  if (isExact) return { kind: 'compare', operator, value };
  switch (operator) {
    case '=':
      return 'never';
    case '<>':
      return { kind: 'is-not-null' };
    case '<':
    case '<=':
      return { kind: 'compare', operator: '<=', value };
    case '>':
    case '>=':
      return { kind: 'compare', operator: '>', value };
  }
}

/** The values sorted and without repetition; those that the column cannot hold are left out. */
function bindList(literals: readonly Literal[], type: PrimitiveType): ColumnPredicate | 'always' | 'never' {
  const values: Comparable[] = [];
  for (const literal of literals) {
    const bound = toColumnValue(type, literal);
    if (bound === undefined) return 'always';
    if (bound.isExact) values.push(bound.value);
  }
  values.sort(compareValues);
  const distinct = values.filter((value, index) => {
    const previous = values[index - 1];
    return previous === undefined || compareValues(previous, value) !== 0;
  });
  return distinct.length === 0 ? 'never' : { kind: 'in', values: distinct };
}
