import type { PlanExpression, WindowExpression } from '../plan/plan-expression.js';
import { quoteIdentifier } from '../text/literals.js';
import { NotPrintable } from './not-printable.js';
import { type ColumnText, printExpression, printOrders } from './print-expression.js';
import { printType } from './print-value.js';
import { printableAggregates } from './printable-functions.js';

/** By the engine's word. */
const windowFunctions: Readonly<Record<string, string>> = {
  WINDOW_ROW_NUMBER: 'row_number',
  WINDOW_RANK: 'rank',
  WINDOW_RANK_DENSE: 'dense_rank',
  WINDOW_NTILE: 'ntile',
  WINDOW_PERCENT_RANK: 'percent_rank',
  WINDOW_CUME_DIST: 'cume_dist',
  WINDOW_FIRST_VALUE: 'first_value',
  WINDOW_LAST_VALUE: 'last_value',
  WINDOW_NTH_VALUE: 'nth_value',
  WINDOW_LEAD: 'lead',
  WINDOW_LAG: 'lag',
};

/** Answer by the order of rows, so without ORDER BY by where a row happens to be. */
const orderedKinds: ReadonlySet<string> = new Set([
  'WINDOW_ROW_NUMBER',
  'WINDOW_NTILE',
  'WINDOW_FIRST_VALUE',
  'WINDOW_LAST_VALUE',
  'WINDOW_NTH_VALUE',
  'WINDOW_LEAD',
  'WINDOW_LAG',
]);

const orderedAggregates: ReadonlySet<string> = new Set([
  'first',
  'last',
  'list',
  'array_agg',
  'any_value',
  'arbitrary',
]);

const bounds: Readonly<Record<string, string>> = {
  UNBOUNDED_PRECEDING: 'UNBOUNDED PRECEDING',
  UNBOUNDED_FOLLOWING: 'UNBOUNDED FOLLOWING',
  CURRENT_ROW_RANGE: 'CURRENT ROW',
  CURRENT_ROW_ROWS: 'CURRENT ROW',
  CURRENT_ROW_GROUPS: 'CURRENT ROW',
  EXPR_PRECEDING_ROWS: 'PRECEDING',
  EXPR_FOLLOWING_ROWS: 'FOLLOWING',
  EXPR_PRECEDING_GROUPS: 'PRECEDING',
  EXPR_FOLLOWING_GROUPS: 'FOLLOWING',
};

const exclusions: Readonly<Record<string, string>> = {
  NO_OTHER: '',
  CURRENT_ROW: ' EXCLUDE CURRENT ROW',
  GROUP: ' EXCLUDE GROUP',
  TIES: ' EXCLUDE TIES',
};

export function printWindow(expression: PlanExpression, column: ColumnText): string {
  if (expression.kind !== 'window') throw new NotPrintable(`${expression.kind} in place of a window`);
  checkPlacement(expression);
  printType(expression.type);
  const name = windowName(expression);
  const texts = [expression.children, expression.offset ?? [], expression.defaultValue ?? []]
    .flat()
    .map((child) => printExpression(child, column));
  const argumentOrder =
    expression.argumentOrders.length === 0
      ? ''
      : ` ORDER BY ${printOrders(expression.argumentOrders, column)}`;
  const call =
    name === 'count_star'
      ? 'count(*)'
      : `${quoteIdentifier(name)}(${expression.distinct ? 'DISTINCT ' : ''}${texts.join(', ')}${argumentOrder}${expression.ignoreNulls ? ' IGNORE NULLS' : ''})`;
  const filter =
    expression.filter === undefined ? '' : ` FILTER (WHERE ${printExpression(expression.filter, column)})`;
  return `${call}${filter} OVER (${printOver(expression, column)})`;
}

function windowName({ windowKind, name, children }: WindowExpression): string {
  if (windowKind !== 'WINDOW_AGGREGATE') {
    const known = windowFunctions[windowKind];
    if (known === undefined) throw new NotPrintable(`the window function ${windowKind}`);
    return known;
  }
  if (name === 'count_star' && children.length === 0) return name;
  if (name === undefined || !printableAggregates.has(name))
    throw new NotPrintable(`the window aggregate ${name ?? 'without a name'}`);
  return name;
}

function checkPlacement({ windowKind, name, orders, argumentOrders, start, end }: WindowExpression): void {
  if (orders.length > 0 || argumentOrders.length > 0) return;
  const byRows = [start, end].some((bound) => bound.endsWith('_ROWS'));
  const ordered = orderedKinds.has(windowKind) || (name !== undefined && orderedAggregates.has(name));
  if (byRows || ordered) throw new NotPrintable('a window that counts rows in no order');
}

function printOver(expression: WindowExpression, column: ColumnText): string {
  const parts: string[] = [];
  if (expression.partitions.length > 0)
    parts.push(
      `PARTITION BY ${expression.partitions.map((each) => printExpression(each, column)).join(', ')}`,
    );
  if (expression.orders.length > 0) parts.push(`ORDER BY ${printOrders(expression.orders, column)}`);
  const { start, end, exclude } = expression;
  const isDefault = start === 'UNBOUNDED_PRECEDING' && end === 'CURRENT_ROW_RANGE' && exclude === 'NO_OTHER';
  if (!isDefault) parts.push(printFrame(expression, column));
  return parts.join(' ');
}

function printFrame(expression: WindowExpression, column: ColumnText): string {
  const { start, end } = expression;
  const units = new Set([start, end].flatMap((bound) => /_(ROWS|RANGE|GROUPS)$/.exec(bound)?.[1] ?? []));
  const [unit = 'RANGE', ...others] = units;
  if (others.length > 0) throw new NotPrintable('a window frame of two kinds');
  const exclude = exclusions[expression.exclude];
  if (exclude === undefined) throw new NotPrintable(`a window that excludes ${expression.exclude}`);
  const from = printBound(start, expression.startOffset, column);
  return `${unit} BETWEEN ${from} AND ${printBound(end, expression.endOffset, column)}${exclude}`;
}

/** RANGE with an offset stands in the plan as the bound that was computed from it, which no frame can say. */
function printBound(bound: string, offset: PlanExpression | undefined, column: ColumnText): string {
  const text = bounds[bound];
  if (text === undefined) throw new NotPrintable(`a window frame from or to ${bound}`);
  if (!bound.startsWith('EXPR_')) return text;
  if (offset?.kind !== 'constant') throw new NotPrintable('a window frame with a computed offset');
  return `${printExpression(offset, column)} ${text}`;
}
