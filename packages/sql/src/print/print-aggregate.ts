import { isJsonObject, JsonNumber, type JsonValue } from '../json/lossless.js';
import type { AggregateExpression, PlanExpression } from '../plan/plan-expression.js';
import { PlanReader } from '../plan/plan-reader.js';
import { readPlanValue } from '../plan/plan-value.js';
import { quoteIdentifier, quoteString } from '../text/literals.js';
import { NotPrintable } from './not-printable.js';
import { type ColumnText, printExpression, printOrders } from './print-expression.js';
import { printType, printValue } from './print-value.js';
import { printableAggregates } from './printable-functions.js';

export function printAggregate(aggregate: PlanExpression, column: ColumnText): string {
  if (aggregate.kind !== 'aggregate') throw new NotPrintable(`${aggregate.kind} in place of an aggregate`);
  const call = printAggregateCall(aggregate, column);
  const { filter } = aggregate;
  return filter === undefined ? call : `${call} FILTER (WHERE ${printExpression(filter, column)})`;
}

function printAggregateCall(aggregate: AggregateExpression, column: ColumnText): string {
  const { name, children, distinct, orders } = aggregate;
  if (name === 'count_star') {
    if (distinct || children.length > 0) throw new NotPrintable('count(*) with arguments');
    return 'count(*)';
  }
  printType(aggregate.type);
  const texts = [
    ...children.map((child) => printExpression(child, column)),
    ...argumentsOfData(name, aggregate.bindData),
  ];
  const order = orders.length === 0 ? '' : ` ORDER BY ${printOrders(orders, column)}`;
  return `${quoteIdentifier(name)}(${distinct ? 'DISTINCT ' : ''}${texts.join(', ')}${order})`;
}

/** Arguments that the engine took out of the call when it bound it. */
export function argumentsOfData(name: string, data: JsonValue | undefined): readonly string[] {
  if (data === undefined) {
    if (!printableAggregates.has(name)) throw new NotPrintable(`the aggregate ${name}`);
    return [];
  }
  const reader = new PlanReader(data, name);
  switch (name) {
    case 'string_agg':
      return [quoteString(reader.text('separator'))];
    case 'median':
    case 'quantile_cont':
    case 'quantile_disc': {
      if (reader.flag('desc')) throw new NotPrintable(`the aggregate ${name} in descending order`);
      const quantiles = reader.list('quantiles').map(readPlanValue).map(printValue);
      if (name === 'median') return [];
      const [only, ...others] = quantiles;
      if (only === undefined || others.length > 0) throw new NotPrintable(`${name} of several quantiles`);
      return [only];
    }
    default:
      if (isAverageScale(name, data)) return [];
      throw new NotPrintable(`the aggregate ${name} with data of its own`);
  }
}

/** avg of decimals carries the power of ten that it divides by, which the argument's type says as well. */
function isAverageScale(name: string, data: JsonValue): boolean {
  return (
    name === 'avg' && isJsonObject(data) && Object.values(data).every((value) => value instanceof JsonNumber)
  );
}
