/** Filters of a query, bound to a table's columns: names become field ids, literals the columns' own values. */
import type { ColumnPath, ComparisonOperator, Literal, ScanFilter } from '@svc/sql';
import { isPrimitive } from '../spec/type-text.js';
import type { NestedField, PrimitiveType } from '../spec/types.js';
import { type Comparable, compareValues } from '../spec/values.js';
import type { ColumnPredicate } from './column-predicate.js';
import { type ColumnValue, toColumnValue } from './literal-value.js';

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
    case 'compare':
    case 'in':
    case 'starts-with':
    case 'is-null':
    case 'is-not-null': {
      const field = findField(filter.column, fields);
      if (field === undefined || !isPrimitive(field.type)) return always;
      return bindColumn(filter, field.id, field.type);
    }
  }
}

function bindColumn(
  filter: Exclude<ScanFilter, { kind: 'and' | 'or' }>,
  fieldId: number,
  type: PrimitiveType,
): BoundFilter {
  const on = (predicate: ColumnPredicate): BoundFilter => ({ kind: 'column', fieldId, type, predicate });
  switch (filter.kind) {
    case 'is-null':
    case 'is-not-null':
      return on({ kind: filter.kind });
    case 'starts-with':
      if (type.kind !== 'string') return always;
      if (filter.prefix === '') return on({ kind: 'is-not-null' });
      return on({ kind: 'starts-with', prefix: Buffer.from(filter.prefix, 'utf8') });
    case 'in': {
      const values = bindList(filter.literals, type);
      if (values === undefined) return always;
      return values.length === 0 ? never : on({ kind: 'in', values });
    }
    case 'compare': {
      const bound = toColumnValue(type, filter.literal);
      if (bound === undefined) return always;
      const predicate = bindComparison(filter.operator, bound);
      return predicate === undefined ? never : on(predicate);
    }
  }
}

/** A literal between two values of the column (1.5 for an integer) moves to the value below. */
function bindComparison(
  operator: ComparisonOperator,
  { value, isExact }: ColumnValue,
): ColumnPredicate | undefined {
  if (isExact) return { kind: 'compare', operator, value };
  switch (operator) {
    case '=':
      return undefined;
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

/** Sorted and without repetition; `undefined` when one of the literals cannot be bound. */
function bindList(literals: readonly Literal[], type: PrimitiveType): readonly Comparable[] | undefined {
  const values: Comparable[] = [];
  for (const literal of literals) {
    const bound = toColumnValue(type, literal);
    if (bound === undefined) return undefined;
    if (bound.isExact) values.push(bound.value);
  }
  values.sort(compareValues);
  return values.filter((value, index) => {
    const previous = values[index - 1];
    return previous === undefined || compareValues(previous, value) !== 0;
  });
}
