/**
 * Which rows a scan's filters do not keep. A scan filter may be true for more rows than the condition that it was made of,
 * so its negation says nothing; what is made here may also be true for more rows, which is the other way round: where it
 * is false for all rows, the condition keeps all of them.
 */
import type { OperatorExpression, PlanExpression } from '../plan/plan-expression.js';
import type { PlanTableFilter } from '../plan/plan-filter.js';
import type { GetNode } from '../plan/plan-node.js';
import { type ColumnOrigin, type Origins, originOfColumn, originOfExpression } from './column-origin.js';
import { allOf, anyOf, filterOfConstant, filterOfExpression } from './expression-filter.js';
import type { ScanFilter } from './scan-request.js';

/** No row at all. */
const none: ScanFilter = { kind: 'or', filters: [] };

/**
 * True for every row that the scan's own filters do not keep, or one of `others` rejects; undefined when that is not
 * known.
 */
export function rejectedRows(
  get: GetNode,
  others: readonly (ScanFilter | undefined)[],
): ScanFilter | undefined {
  return anyRejected([
    ...others,
    ...get.filters.map(({ column, filter }) => {
      const origin = originOfColumn(get, column);
      // A field of a struct may be NULL where the struct is not.
      return origin === undefined || origin.type.kind === 'struct'
        ? undefined
        : rejectionOfTableFilter(filter, origin);
    }),
  ]);
}

function anyRejected(parts: readonly (ScanFilter | undefined)[]): ScanFilter | undefined {
  return parts.every((part) => part === none) ? none : anyOf(parts.filter((part) => part !== none));
}

function rejectionOfTableFilter(filter: PlanTableFilter, origin: ColumnOrigin): ScanFilter | undefined {
  switch (filter.kind) {
    case 'compare':
      return orNull(filterOfConstant(origin, filter.operator, filter.value, true), origin);
    case 'in':
      return orNull(
        allOf(
          filter.values.map((value) =>
            value.kind === 'null' ? undefined : filterOfConstant(origin, '<>', value),
          ),
        ),
        origin,
      );
    case 'is-null':
      return { kind: 'is-not-null', column: origin.path };
    case 'is-not-null':
      return { kind: 'is-null', column: origin.path };
    case 'and':
      return anyRejected(filter.children.map((child) => rejectionOfTableFilter(child, origin)));
    case 'or': {
      const parts = filter.children.map((child) => rejectionOfTableFilter(child, origin));
      return parts.includes(none) ? undefined : allOf(parts);
    }
    case 'optional':
      // It need not be evaluated: whatever it drops is dropped elsewhere too.
      return none;
    case 'expression':
      return rejectionOfExpression(filter.expression, (index) => (index === 0 ? origin : undefined));
    case 'field':
    case 'dynamic':
      return undefined;
  }
}

/** The same of a condition above the scan. */
export function rejectionOfExpression(expression: PlanExpression, origins: Origins): ScanFilter | undefined {
  if (expression.kind === 'conjunction') {
    const parts = expression.children.map((child) => rejectionOfExpression(child, origins));
    return expression.operator === 'and' ? anyOf(parts) : allOf(parts);
  }
  const column = decidingColumn(expression, origins);
  return column && orNull(filterOfExpression(expression, origins, true), column);
}

/** The column of a condition that is NULL where the column is, and nowhere else. */
function decidingColumn(expression: PlanExpression, origins: Origins): ColumnOrigin | undefined {
  const side = decidingSide(expression);
  const origin =
    side && originOfExpression(side.kind === 'cast' && !side.tryCast ? side.child : side, origins);
  // A field of a struct may be NULL where the struct is not.
  return origin?.path.length === 1 ? origin : undefined;
}

function decidingSide(expression: PlanExpression): PlanExpression | undefined {
  switch (expression.kind) {
    case 'comparison':
      return expression.left.kind === 'constant' ? expression.right : expression.left;
    case 'between':
      return expression.input;
    case 'reference':
      return expression;
    case 'operator':
      return decidingOperand(expression);
    default:
      return undefined;
  }
}

/** Of IN and its kin: a NULL in the list makes it NULL for values that are not in the list. */
function decidingOperand({ operator, children }: OperatorExpression): PlanExpression | undefined {
  const [input, ...others] = children;
  switch (operator) {
    case 'in':
    case 'not-in':
      return others.every((other) => other.kind === 'constant' && other.value.kind !== 'null')
        ? input
        : undefined;
    case 'is-null':
    case 'is-not-null':
      return input;
    case 'not':
    case 'coalesce':
    case 'try':
      return undefined;
  }
}

/** A comparison is NULL where its column is, and NULL keeps no row. */
function orNull(negated: ScanFilter | undefined, { path }: ColumnOrigin): ScanFilter | undefined {
  return negated && anyOf([negated, { kind: 'is-null', column: path }]);
}
