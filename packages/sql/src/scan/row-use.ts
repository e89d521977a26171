/**
 * What the operators above a scan make of its rows. Carried down from the root of a plan, operator by operator; whatever
 * is not known here looks at everything.
 */
import type { PlanExpression } from '../plan/plan-expression.js';
import type { AggregateNode, FilterNode, GetNode, LimitNode, PlanNode, TopNNode } from '../plan/plan-node.js';
import { originsOf } from './column-origin.js';
import { rejectedRows } from './rejection.js';
import type { LimitedUse, RowUse, ScanFilter } from './scan-request.js';

/** RowUse with positions in the operator's output instead of names. */
export type PositionUse =
  | { readonly kind: 'all' }
  | { readonly kind: 'extremes'; readonly positions: readonly number[] }
  | { readonly kind: 'first'; readonly rowCount: bigint }
  | {
      readonly kind: 'top';
      readonly rowCount: bigint;
      readonly position: number;
      readonly descending: boolean;
      readonly nullsFirst: boolean;
    };

export const everyValue: PositionUse = { kind: 'all' };

/** What an operator, whose own rows are used like this, makes of the rows below it. */
export function useBelow(node: PlanNode, use: PositionUse): PositionUse {
  switch (node.kind) {
    case 'projection':
      return useBelowProjection(node.expressions, use);
    case 'filter':
      return useBelowFilter(node, use);
    case 'aggregate':
      return useOfAggregate(node);
    case 'limit':
      return useOfLimit(node);
    case 'top-n':
      return useOfTopN(node);
    default:
      return everyValue;
  }
}

function useBelowProjection(expressions: readonly PlanExpression[], use: PositionUse): PositionUse {
  switch (use.kind) {
    case 'all':
      return expressions.every((expression) => expression.kind === 'constant')
        ? { kind: 'extremes', positions: [] }
        : everyValue;
    case 'extremes': {
      const below = use.positions.map((position) => referenceAt(expressions, position));
      return below.every((position) => position !== undefined)
        ? { kind: 'extremes', positions: below }
        : everyValue;
    }
    case 'first':
      return use;
    case 'top': {
      const position = referenceAt(expressions, use.position);
      return position === undefined ? everyValue : { ...use, position };
    }
  }
}

/** The rows that it keeps; the columns that it looks at are for its own condition only. */
function useBelowFilter({ projection }: FilterNode, use: PositionUse): PositionUse {
  const below = (position: number) => (projection === undefined ? position : projection[position]);
  switch (use.kind) {
    case 'all':
    case 'first':
      return use;
    case 'extremes': {
      const positions = use.positions.map(below);
      return positions.every((position) => position !== undefined)
        ? { kind: 'extremes', positions }
        : everyValue;
    }
    case 'top': {
      const position = below(use.position);
      return position === undefined ? everyValue : { ...use, position };
    }
  }
}

function referenceAt(expressions: readonly PlanExpression[], position: number): number | undefined {
  const expression = expressions[position];
  return expression?.kind === 'reference' ? expression.index : undefined;
}

/** One row for all: how many there are, and the least and the greatest of columns. */
function useOfAggregate({ groups, groupingSets, aggregates }: AggregateNode): PositionUse {
  if (groups.length > 0 || groupingSets.length > 1) return everyValue;
  const positions = new Set<number>();
  for (const aggregate of aggregates) {
    if (aggregate.kind !== 'aggregate' || aggregate.filter !== undefined) return everyValue;
    const [argument, ...others] = aggregate.children;
    if (aggregate.name === 'count_star' && argument === undefined && !aggregate.distinct) continue;
    if ((aggregate.name !== 'min' && aggregate.name !== 'max') || others.length > 0) return everyValue;
    if (argument?.kind !== 'reference') return everyValue;
    positions.add(argument.index);
  }
  return { kind: 'extremes', positions: [...positions] };
}

function useOfLimit({ limit, offset }: LimitNode): PositionUse {
  if (limit.kind !== 'rows' || (offset.kind !== 'none' && offset.kind !== 'rows')) return everyValue;
  return { kind: 'first', rowCount: limit.rows + (offset.kind === 'rows' ? offset.rows : 0n) };
}

function useOfTopN({ orders, limit, offset }: TopNNode): PositionUse {
  const [order] = orders;
  if (order?.expression.kind !== 'reference') return everyValue;
  const { descending, nullsFirst } = order;
  return { kind: 'top', rowCount: limit + offset, position: order.expression.index, descending, nullsFirst };
}

/**
 * The use of a scan's rows; undefined when that is of everything, or when it is not known which rows the filters keep.
 * `rejections` are those of conditions above the scan.
 */
export function limitedUse(
  get: GetNode,
  use: PositionUse,
  rejections: readonly (ScanFilter | undefined)[],
): LimitedUse | undefined {
  const rows = namedUse(get, use);
  const rejected = rows && rejectedRows(get, rejections);
  return rows && rejected && { rows, rejected };
}

function namedUse(get: GetNode, use: PositionUse): RowUse | undefined {
  const origins = originsOf(get);
  const nameAt = (position: number) => origins(position)?.path[0];
  switch (use.kind) {
    case 'all': {
      const answered = get.projection ?? get.columns.keys();
      const isCountOnly = [...answered].every((position) => get.columns[position]?.index === undefined);
      return isCountOnly ? { kind: 'extremes', columns: [] } : undefined;
    }
    case 'extremes': {
      const columns = use.positions.map(nameAt);
      return columns.every((name) => name !== undefined) ? { kind: 'extremes', columns } : undefined;
    }
    case 'first':
      return use;
    case 'top': {
      const { position, ...order } = use;
      const column = nameAt(position);
      return column === undefined ? undefined : { ...order, column };
    }
  }
}
