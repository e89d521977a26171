/**
 * The use that a statement makes of a scan's rows (`RowUse` of `@svc/sql`), bound to the table, and what is known of the
 * rows of a file or of a row group, from metadata alone.
 */
import type { ScanRequest } from '@svc/sql';
import {
  type BoundFilter,
  bindFilters,
  filteredFieldIds,
  findField,
} from '../iceberg/expressions/bind-filter.js';
import { type ColumnSummary, predicateMightHold } from '../iceberg/expressions/column-predicate.js';
import { filterMightHold } from '../iceberg/expressions/evaluate-filter.js';
import { isPrimitive } from '../iceberg/spec/type-text.js';
import type { NestedField, PrimitiveType } from '../iceberg/spec/types.js';
import { compareValues } from '../iceberg/spec/values.js';

export interface TypedField {
  readonly id: number;
  readonly type: PrimitiveType;
}

export type BoundRows =
  | { readonly kind: 'extremes'; readonly fields: readonly TypedField[] }
  | { readonly kind: 'first'; readonly rowCount: number }
  | {
      readonly kind: 'top';
      readonly rowCount: number;
      readonly field: TypedField;
      readonly descending: boolean;
      readonly nullsFirst: boolean;
    };

export interface BoundUse {
  readonly rows: BoundRows;
  /** Where it cannot hold, the statement's filters keep every row. */
  readonly rejected: BoundFilter;
  /** The fields of `rejected`. */
  readonly filtered: readonly TypedField[];
  /** Those and then the further fields of `rows`: what is known of them decides. */
  readonly fields: readonly TypedField[];
}

export interface ColumnFacts {
  readonly summary: ColumnSummary;
  readonly nullCount: number | undefined;
  /** Whether the bounds are values that are there, and not only beyond all that are. */
  readonly isExact: boolean;
}

/** What is known of the rows of a file, or of one of its row groups. */
export interface RowFacts {
  readonly rowCount: number;
  /** Whether all of them are rows of the table that the statement's filters keep. */
  readonly isKeptWhole: boolean;
  /** One for each of the use's fields, and `undefined` where nothing is known. A table may have very many files. */
  readonly columns: readonly (ColumnFacts | undefined)[];
}

const noColumns: RowFacts['columns'] = [];
export const nothingKnown: RowFacts = { rowCount: 0, isKeptWhole: false, columns: noColumns };

/** More rows than that are as good as all of them. */
const maxRows = BigInt(Number.MAX_SAFE_INTEGER);

/** Undefined when the statement may look at everything, or nothing can be concluded from the use that it makes. */
export function bindUse({ use }: ScanRequest, fields: readonly NestedField[]): BoundUse | undefined {
  if (use === undefined) return undefined;
  const rejected = bindFilters([use.rejected], fields);
  const rows = rejected.kind === 'always' ? undefined : bindRows(use.rows, fields);
  if (rows === undefined) return undefined;
  if (rows.kind === 'extremes' && rows.fields.length > 0 && !isByColumn(rejected)) return undefined;
  const types = new Map<number, PrimitiveType>();
  collectTypes(rejected, types);
  const filtered = [...types].map(([id, type]) => ({ id, type }));
  const others = fieldsOf(rows).filter(({ id }) => !types.has(id));
  return { rows, rejected, filtered, fields: [...filtered, ...others] };
}

function bindRows(
  rows: NonNullable<ScanRequest['use']>['rows'],
  fields: readonly NestedField[],
): BoundRows | undefined {
  switch (rows.kind) {
    case 'extremes': {
      const bound = rows.columns.map((name) => typedField(name, fields, hasExactBounds));
      return bound.every((field) => field !== undefined) ? { kind: 'extremes', fields: bound } : undefined;
    }
    case 'first':
      return rows.rowCount > maxRows ? undefined : { kind: 'first', rowCount: Number(rows.rowCount) };
    case 'top': {
      const { rowCount, column, descending, nullsFirst } = rows;
      const field = typedField(column, fields, isOrderedByBounds);
      return field === undefined || rowCount > maxRows
        ? undefined
        : { kind: 'top', rowCount: Number(rowCount), field, descending, nullsFirst };
    }
  }
}

function typedField(
  name: string,
  fields: readonly NestedField[],
  isUsable: (type: PrimitiveType) => boolean,
): TypedField | undefined {
  const field = findField([name], fields);
  if (field === undefined || !isPrimitive(field.type) || !isUsable(field.type)) return undefined;
  return { id: field.id, type: field.type };
}

/** Bounds of text may be cut, and those of floats leave NaN out and know one zero only. */
function hasExactBounds(type: PrimitiveType): boolean {
  switch (type.kind) {
    case 'int':
    case 'long':
    case 'decimal':
    case 'date':
    case 'timestamp':
    case 'timestamptz':
      return true;
    default:
      return false;
  }
}

function isOrderedByBounds(type: PrimitiveType): boolean {
  return hasExactBounds(type) || type.kind === 'string' || type.kind === 'time';
}

/** Whether each of the conditions is about one column, so that values of several files may be put into one row. */
function isByColumn(rejected: BoundFilter): boolean {
  const parts = rejected.kind === 'or' ? rejected.filters : [rejected];
  return parts.every((part) => filteredFieldIds(part).size < 2);
}

function collectTypes(filter: BoundFilter, into: Map<number, PrimitiveType>): void {
  if (filter.kind === 'column') into.set(filter.fieldId, filter.type);
  else if (filter.kind === 'and' || filter.kind === 'or')
    for (const inner of filter.filters) collectTypes(inner, into);
}

function fieldsOf(rows: BoundRows): readonly TypedField[] {
  switch (rows.kind) {
    case 'extremes':
      return rows.fields;
    case 'first':
      return [];
    case 'top':
      return [rows.field];
  }
}

/** `factsOf` is asked once for each field that decides something. */
export function describeRows(
  { fields, rejected }: BoundUse,
  rowCount: number,
  factsOf: (field: TypedField) => ColumnFacts | undefined,
): RowFacts {
  const columns = fields.length === 0 ? noColumns : fields.map(factsOf);
  const mightReject = filterMightHold(rejected, ({ fieldId, predicate }) => {
    const facts = columns[fields.findIndex(({ id }) => id === fieldId)];
    return facts === undefined || predicateMightHold(predicate, facts.summary);
  });
  return { rowCount, isKeptWhole: !mightReject, columns };
}

/** What is known of a field's values. */
export function factsOfField(
  { fields }: Pick<BoundUse, 'fields'>,
  { columns }: RowFacts,
  { id }: TypedField,
): ColumnFacts | undefined {
  return columns[fields.findIndex((field) => field.id === id)];
}

/** How many of the units, from the first, have at least so many rows for certain; all of them when they may not. */
export function unitsOfFirst(units: readonly RowFacts[], rowCount: number): number {
  let rows = 0;
  for (const [index, unit] of units.entries()) {
    if (rows >= rowCount) return index;
    if (unit.isKeptWhole) rows += unit.rowCount;
  }
  return units.length;
}

/**
 * Which units may have one of the first rows in an order. So many rows are known to be within some value; a unit that is
 * beyond it altogether has none of them. What is equal to it is kept: further columns may put it first.
 */
export function mayHaveTop(
  units: readonly RowFacts[],
  use: Pick<BoundUse, 'fields'>,
  { rowCount, field, descending, nullsFirst }: Extract<BoundRows, { kind: 'top' }>,
): readonly boolean[] {
  const sign = descending ? -1 : 1;
  const certain = units
    .flatMap((unit) => {
      const facts = factsOfField(use, unit, field);
      const last = descending ? facts?.summary.lower : facts?.summary.upper;
      return !unit.isKeptWhole || last === undefined || facts?.nullCount === undefined
        ? []
        : [{ last, rows: unit.rowCount - facts.nullCount }];
    })
    .sort((a, b) => compareValues(a.last, b.last) * sign);
  let rows = 0;
  const limit = certain.find((unit) => {
    rows += unit.rows;
    return rows >= rowCount;
  })?.last;
  if (limit === undefined) return units.map(() => true);
  return units.map((unit) => {
    const summary = factsOfField(use, unit, field)?.summary;
    if (summary === undefined || (nullsFirst && summary.mayHaveNull)) return true;
    if (!summary.mayHaveValue) return false;
    const first = descending ? summary.upper : summary.lower;
    return first === undefined || compareValues(first, limit) * sign <= 0;
  });
}
