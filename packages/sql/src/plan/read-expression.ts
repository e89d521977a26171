import type { JsonValue } from '../json/lossless.js';
import { readLogicalType } from './logical-type.js';
import type { PlanComparison, PlanExpression, PlanOrder } from './plan-expression.js';
import { PlanNotUnderstood, PlanReader } from './plan-reader.js';
import { readPlanValue } from './plan-value.js';

export const comparisons: Readonly<Record<string, PlanComparison>> = {
  COMPARE_EQUAL: '=',
  COMPARE_NOTEQUAL: '<>',
  COMPARE_LESSTHAN: '<',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHAN: '>',
  COMPARE_GREATERTHANOREQUALTO: '>=',
  COMPARE_DISTINCT_FROM: 'is-distinct',
  COMPARE_NOT_DISTINCT_FROM: 'is-not-distinct',
};

const operators = {
  OPERATOR_NOT: 'not',
  OPERATOR_IS_NULL: 'is-null',
  OPERATOR_IS_NOT_NULL: 'is-not-null',
  OPERATOR_COALESCE: 'coalesce',
  OPERATOR_TRY: 'try',
  COMPARE_IN: 'in',
  COMPARE_NOT_IN: 'not-in',
} as const;

const conjunctions = { CONJUNCTION_AND: 'and', CONJUNCTION_OR: 'or' } as const;

/** By `expression_class`. */
const readers: Readonly<Record<string, (node: PlanReader) => PlanExpression>> = {
  BOUND_REF: (node) => ({
    kind: 'reference',
    type: readLogicalType(node.value('return_type')),
    index: node.count('index'),
  }),
  BOUND_CONSTANT: (node) => {
    const value = readPlanValue(node.value('value'));
    return { kind: 'constant', type: value.type, value };
  },
  BOUND_COMPARISON: (node) => ({
    kind: 'comparison',
    operator: node.oneOf('type', comparisons),
    left: readExpression(node.value('left')),
    right: readExpression(node.value('right')),
  }),
  BOUND_CONJUNCTION: (node) => ({
    kind: 'conjunction',
    operator: node.oneOf('type', conjunctions),
    children: readExpressions(node, 'children'),
  }),
  BOUND_BETWEEN: (node) => ({
    kind: 'between',
    input: readExpression(node.value('input')),
    lower: readExpression(node.value('lower')),
    upper: readExpression(node.value('upper')),
    lowerInclusive: node.flag('lower_inclusive'),
    upperInclusive: node.flag('upper_inclusive'),
  }),
  BOUND_CAST: (node) => ({
    kind: 'cast',
    type: readLogicalType(node.value('return_type')),
    child: readExpression(node.value('child')),
    tryCast: node.flag('try_cast'),
  }),
  BOUND_CASE: readCase,
  BOUND_OPERATOR: (node) => ({
    kind: 'operator',
    operator: node.oneOf('type', operators),
    type: readLogicalType(node.value('return_type')),
    children: readExpressions(node, 'children'),
  }),
  BOUND_FUNCTION: (node) => {
    node.ignore('is_operator');
    return { kind: 'function', ...readCall(node) };
  },
  BOUND_AGGREGATE: readAggregate,
  BOUND_WINDOW: readWindow,
  BOUND_UNNEST: (node) => ({
    kind: 'unnest',
    type: readLogicalType(node.value('return_type')),
    child: readExpression(node.value('child')),
  }),
  BOUND_PARAMETER: (node) => {
    node.ignore('parameter_data');
    return {
      kind: 'parameter',
      identifier: node.text('identifier'),
      type: readLogicalType(node.value('return_type')),
    };
  },
};

/** Throws PlanNotUnderstood for anything that is not known. */
export function readExpression(json: JsonValue | undefined): PlanExpression {
  const node = new PlanReader(json, 'expression');
  const read = node.oneOf('expression_class', readers);
  node.ignore('type', 'alias', 'query_location');
  const expression = read(node);
  node.end();
  return expression;
}

export function readExpressions(node: PlanReader, name: string): readonly PlanExpression[] {
  return node.list(name).map(readExpression);
}

function readOptional(node: PlanReader, name: string): PlanExpression | undefined {
  const value = node.value(name);
  return value === undefined ? undefined : readExpression(value);
}

export function readOrders(entries: readonly JsonValue[]): readonly PlanOrder[] {
  return entries.map((entry) => {
    const node = new PlanReader(entry, 'order');
    const order = {
      expression: readExpression(node.value('expression')),
      descending: node.oneOf('type', { ASCENDING: false, DESCENDING: true }),
      nullsFirst: node.oneOf('null_order', { 'NULLS FIRST': true, 'NULLS LAST': false }),
    };
    node.end();
    return order;
  });
}

/** What functions and aggregates share. */
function readCall(node: PlanReader) {
  node.ignore('arguments', 'original_arguments', 'catalog_name', 'schema_name', 'has_serialize');
  return {
    name: node.text('name'),
    type: readLogicalType(node.value('return_type')),
    children: readExpressions(node, 'children'),
    bindData: node.value('function_data'),
  };
}

function readCase(node: PlanReader): PlanExpression {
  const checks = node.list('case_checks').map((entry) => {
    const check = new PlanReader(entry, 'case check');
    const read = {
      when: readExpression(check.value('when_expr')),
      result: readExpression(check.value('then_expr')),
    };
    check.end();
    return read;
  });
  const otherwise = readExpression(node.value('else_expr'));
  return { kind: 'case', type: readLogicalType(node.value('return_type')), checks, otherwise };
}

function readAggregate(node: PlanReader): PlanExpression {
  const orderBys = node.value('order_bys');
  let orders: readonly PlanOrder[] = [];
  if (orderBys !== undefined) {
    const modifier = new PlanReader(orderBys, 'order_bys');
    modifier.ignore('type');
    orders = readOrders(modifier.list('orders'));
    modifier.end();
  }
  return {
    kind: 'aggregate',
    ...readCall(node),
    distinct: node.oneOf('aggregate_type', { DISTINCT: true, NON_DISTINCT: false }),
    filter: readOptional(node, 'filter'),
    orders,
  };
}

function readWindow(node: PlanReader): PlanExpression {
  const windowKind = node.text('type');
  if (!windowKind.startsWith('WINDOW_')) throw new PlanNotUnderstood(`window ${windowKind}`);
  node.ignore('arguments', 'original_arguments', 'catalog_name', 'schema_name', 'has_serialize');
  node.ignore('function_data');
  const name = node.value('name');
  return {
    kind: 'window',
    windowKind,
    name: typeof name === 'string' ? name : undefined,
    type: readLogicalType(node.value('return_type')),
    children: readExpressions(node, 'children'),
    partitions: readExpressions(node, 'partitions'),
    orders: readOrders(node.list('orders')),
    argumentOrders: readOrders(node.list('arg_orders')),
    filter: readOptional(node, 'filters'),
    ignoreNulls: node.flag('ignore_nulls'),
    distinct: node.flag('distinct'),
    start: node.text('start'),
    end: node.text('end'),
    exclude: node.text('exclude_clause'),
    startOffset: readOptional(node, 'start_expr'),
    endOffset: readOptional(node, 'end_expr'),
    offset: readOptional(node, 'offset_expr'),
    defaultValue: readOptional(node, 'default_expr'),
  };
}
