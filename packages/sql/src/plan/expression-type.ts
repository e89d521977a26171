import type { LogicalType } from './logical-type.js';
import type { PlanExpression } from './plan-expression.js';

export const booleanType: LogicalType = { kind: 'plain', id: 'BOOLEAN' };

export function typeOfExpression(expression: PlanExpression): LogicalType {
  switch (expression.kind) {
    case 'comparison':
    case 'conjunction':
    case 'between':
      return booleanType;
    default:
      return expression.type;
  }
}

/** The expressions directly below one. */
export function operandsOf(expression: PlanExpression): readonly PlanExpression[] {
  switch (expression.kind) {
    case 'reference':
    case 'constant':
    case 'parameter':
      return [];
    case 'comparison':
      return [expression.left, expression.right];
    case 'between':
      return [expression.input, expression.lower, expression.upper];
    case 'cast':
    case 'unnest':
      return [expression.child];
    case 'case':
      return [...expression.checks.flatMap(({ when, result }) => [when, result]), expression.otherwise];
    case 'conjunction':
    case 'operator':
    case 'function':
      return expression.children;
    case 'aggregate':
      return [
        ...expression.children,
        ...(expression.filter ? [expression.filter] : []),
        ...expression.orders.map((order) => order.expression),
      ];
    case 'window':
      return [
        ...expression.children,
        ...expression.partitions,
        ...expression.orders.map((order) => order.expression),
        ...expression.argumentOrders.map((order) => order.expression),
        ...[
          expression.filter,
          expression.startOffset,
          expression.endOffset,
          expression.offset,
          expression.defaultValue,
        ].flatMap((each) => each ?? []),
      ];
  }
}

/** The expression with every operand directly below it replaced. */
export function mapOperands(
  expression: PlanExpression,
  map: (operand: PlanExpression) => PlanExpression,
): PlanExpression {
  switch (expression.kind) {
    case 'reference':
    case 'constant':
    case 'parameter':
      return expression;
    case 'comparison':
      return { ...expression, left: map(expression.left), right: map(expression.right) };
    case 'between':
      return {
        ...expression,
        input: map(expression.input),
        lower: map(expression.lower),
        upper: map(expression.upper),
      };
    case 'cast':
    case 'unnest':
      return { ...expression, child: map(expression.child) };
    case 'case':
      return {
        ...expression,
        checks: expression.checks.map(({ when, result }) => ({ when: map(when), result: map(result) })),
        otherwise: map(expression.otherwise),
      };
    case 'conjunction':
    case 'operator':
    case 'function':
      return { ...expression, children: expression.children.map(map) };
    case 'aggregate':
      return {
        ...expression,
        children: expression.children.map(map),
        filter: expression.filter && map(expression.filter),
        orders: expression.orders.map((order) => ({ ...order, expression: map(order.expression) })),
      };
    case 'window': {
      const order = (each: (typeof expression.orders)[number]) => ({
        ...each,
        expression: map(each.expression),
      });
      return {
        ...expression,
        children: expression.children.map(map),
        partitions: expression.partitions.map(map),
        orders: expression.orders.map(order),
        argumentOrders: expression.argumentOrders.map(order),
        filter: expression.filter && map(expression.filter),
        startOffset: expression.startOffset && map(expression.startOffset),
        endOffset: expression.endOffset && map(expression.endOffset),
        offset: expression.offset && map(expression.offset),
        defaultValue: expression.defaultValue && map(expression.defaultValue),
      };
    }
  }
}
