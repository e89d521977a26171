import type { LogicalType } from '../plan/logical-type.js';
import type { PlanTableFilter } from '../plan/plan-filter.js';
import type { GetNode } from '../plan/plan-node.js';
import { quoteIdentifier, quoteString } from '../text/literals.js';
import { NotPrintable } from './not-printable.js';
import { printComparison, printExpression } from './print-expression.js';
import { printValue } from './print-value.js';
import { type Relation, selectOf } from './relation.js';

/** A scan of a table of this name, with the filters that the engine pushed into it. */
export function printScan(get: GetNode, table: string): Relation {
  const { names, types, columns, projection, filters } = get;
  const name = (position: number) => {
    const found = names[position];
    if (found === undefined) throw new NotPrintable('a column that the scan does not have');
    return `t.${quoteIdentifier(found)}`;
  };
  const conditions = filters.flatMap(
    ({ column, filter }) => printFilter(filter, name(column), types[column]) ?? [],
  );
  const answered = (projection ?? [...columns.keys()]).map((position) => {
    const column = columns[position];
    if (column === undefined) throw new NotPrintable('a column that the scan does not read');
    return column.index;
  });
  // A virtual column: nobody may look at it, and its row is there all the same.
  const texts = answered.map((index) => (index === undefined ? '0' : name(index)));
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return {
    sql: selectOf(texts, `${table} AS t${where}`),
    types: answered.map((index) => (index === undefined ? undefined : types[index])),
  };
}

/** Undefined for what need not be evaluated. */
function printFilter(
  filter: PlanTableFilter,
  column: string,
  type: LogicalType | undefined,
): string | undefined {
  switch (filter.kind) {
    case 'compare':
      return printComparison(filter.operator, column, printValue(filter.value));
    case 'in':
      if (filter.values.length === 1)
        return filter.values.map((value) => `(${column} = ${printValue(value)})`).join();
      return `(${column} IN (${filter.values.map(printValue).join(', ')}))`;
    case 'is-null':
      return `(${column} IS NULL)`;
    case 'is-not-null':
      return `(${column} IS NOT NULL)`;
    case 'and': {
      const parts = filter.children.flatMap((child) => printFilter(child, column, type) ?? []);
      return parts.length === 0 ? undefined : `(${parts.join(' AND ')})`;
    }
    case 'or': {
      const parts = filter.children.map((child) => printFilter(child, column, type));
      // Beside other alternatives, one that need not be evaluated is no condition at all.
      if (parts.includes(undefined)) throw new NotPrintable('an optional alternative of a scan filter');
      return `(${parts.join(' OR ')})`;
    }
    case 'field': {
      if (type?.kind !== 'struct') throw new NotPrintable('a field of what is no struct');
      const field = type.fields.find(({ name }) => name === filter.name);
      if (field === undefined) throw new NotPrintable('a field that the struct does not have');
      return printFilter(filter.child, `struct_extract(${column}, ${quoteString(filter.name)})`, field.type);
    }
    case 'optional':
    case 'dynamic':
      return undefined;
    case 'expression':
      return printExpression(filter.expression, ({ index }) => {
        if (index !== 0) throw new NotPrintable('a scan filter over another column');
        return column;
      });
  }
}
