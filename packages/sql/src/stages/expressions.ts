import type { LogicalType } from '../plan/logical-type.js';
import type { AggregateExpression, FunctionExpression, PlanExpression } from '../plan/plan-expression.js';

export const bigint: LogicalType = { kind: 'plain', id: 'BIGINT' };
export const hugeint: LogicalType = { kind: 'plain', id: 'HUGEINT' };
export const double: LogicalType = { kind: 'plain', id: 'DOUBLE' };
export const varchar: LogicalType = { kind: 'plain', id: 'VARCHAR' };

export function referenceTo(index: number, type: LogicalType): PlanExpression {
  return { kind: 'reference', index, type };
}

export function castTo(type: LogicalType, child: PlanExpression): PlanExpression {
  return { kind: 'cast', type, child, tryCast: false };
}

export function call(
  name: string,
  type: LogicalType,
  children: readonly PlanExpression[],
): FunctionExpression {
  return { kind: 'function', name, type, children, bindData: undefined };
}

export function constant(type: LogicalType, value: bigint | number | string): PlanExpression {
  return { kind: 'constant', type, value: { kind: 'scalar', type, value } };
}

export function aggregateOf(
  name: string,
  type: LogicalType,
  children: readonly PlanExpression[],
  filter?: PlanExpression,
): AggregateExpression {
  return {
    kind: 'aggregate',
    name,
    type,
    children,
    distinct: false,
    filter,
    orders: [],
    bindData: undefined,
  };
}
