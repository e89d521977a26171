/**
 * An Iceberg expression as SQL over a table's columns. Where a column is null SQL's answer is null, and the row is not there: that is never more
 * than what Iceberg's own rules would show.
 */
import type { NestedField, RestrictedColumn, RestrictionExpression } from '@svc/lake';
import { quoteIdentifier } from '@svc/sql';
import { literalSql } from './catalog-literals.js';
import { NotUnderstood } from './not-understood.js';

export interface FilteredColumns {
  /** Of the table as its catalog has it now: what names in the filter mean. */
  readonly named: readonly NestedField[];
  /** Of the table as it is read, at a former point too. */
  readonly read: readonly NestedField[];
}

/** Throws NotUnderstood. */
export function filterOf(expression: RestrictionExpression, fields: FilteredColumns): string {
  switch (expression.kind) {
    case 'constant':
      return expression.value ? 'TRUE' : 'FALSE';
    case 'and':
    case 'or': {
      const [left, right] = [filterOf(expression.left, fields), filterOf(expression.right, fields)];
      return `(${left} ${expression.kind.toUpperCase()} ${right})`;
    }
    case 'not':
      return `(NOT ${filterOf(expression.child, fields)})`;
    case 'unary':
      return unarySql(expression, fieldOf(expression.column, fields));
    case 'comparison':
      return comparisonSql(expression, fieldOf(expression.column, fields));
    case 'set': {
      const field = fieldOf(expression.column, fields);
      const values = expression.values.map((each) => literalSql(each, field.type));
      if (values.length === 0) return expression.operator === 'in' ? 'FALSE' : 'TRUE';
      const operator = expression.operator === 'in' ? 'IN' : 'NOT IN';
      return `(${quoteIdentifier(field.name)} ${operator} (${values.join(', ')}))`;
    }
    case 'unknown':
      throw new NotUnderstood(expression.what);
  }
}

function unarySql(
  { operator }: RestrictionExpression & { kind: 'unary' },
  { name, type }: NestedField,
): string {
  const column = quoteIdentifier(name);
  switch (operator) {
    case 'is-null':
      return `(${column} IS NULL)`;
    case 'not-null':
      return `(${column} IS NOT NULL)`;
    case 'is-nan':
    case 'not-nan':
      if (type.kind !== 'float' && type.kind !== 'double')
        throw new NotUnderstood(`"${operator}" on a column of type ${type.kind}`);
      return `(${operator === 'is-nan' ? '' : 'NOT '}isnan(${column}))`;
  }
}

const comparisons = { lt: '<', 'lt-eq': '<=', gt: '>', 'gt-eq': '>=', eq: '=', 'not-eq': '<>' } as const;

function comparisonSql(
  { operator, value }: RestrictionExpression & { kind: 'comparison' },
  { name, type }: NestedField,
): string {
  const column = quoteIdentifier(name);
  const literal = literalSql(value, type);
  if (operator !== 'starts-with' && operator !== 'not-starts-with')
    return `(${column} ${comparisons[operator]} ${literal})`;
  if (type.kind !== 'string') throw new NotUnderstood(`"${operator}" on a column of type ${type.kind}`);
  return `(${operator === 'starts-with' ? '' : 'NOT '}starts_with(${column}, ${literal}))`;
}

/**
 * Whole columns only. Names are compared exactly: the catalog knows how it spells them. What had the name at a former point
 * may be another column.
 */
function fieldOf(column: RestrictedColumn, { named, read }: FilteredColumns): NestedField {
  const id = column.kind === 'id' ? column.id : named.find(({ name }) => name === column.name)?.id;
  const field = read.find((each) => each.id === id);
  if (field === undefined) throw new NotUnderstood('a row filter on what is not a column of the table');
  return field;
}
