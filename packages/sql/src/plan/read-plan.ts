import { isJsonArray, JsonNumber, type JsonValue, parseJson } from '../json/lossless.js';
import { readLogicalType } from './logical-type.js';
import type { AggregateNode, JoinNode, JoinType, LimitValue, PlanNode } from './plan-node.js';
import { PlanNotUnderstood, PlanReader } from './plan-reader.js';
import { readPlanValue } from './plan-value.js';
import { comparisons, readExpression, readExpressions, readOrders } from './read-expression.js';
import { readGet } from './read-get.js';

/** By `type`. Table indexes are not kept: references are by position once a plan is optimised. */
const readers: Readonly<Record<string, (node: PlanReader) => PlanNode>> = {
  LOGICAL_GET: (node) => readGet(node, optionalChild(node)),
  LOGICAL_PROJECTION: (node) => ({
    kind: 'projection',
    child: onlyChild(node),
    expressions: readExpressions(node, 'expressions'),
  }),
  LOGICAL_FILTER: (node) => ({
    kind: 'filter',
    child: onlyChild(node),
    expressions: readExpressions(node, 'expressions'),
    projection: projection(node, 'projection_map'),
  }),
  LOGICAL_AGGREGATE_AND_GROUP_BY: readAggregate,
  LOGICAL_COMPARISON_JOIN: (node) => readJoin(node, 'comparison'),
  LOGICAL_ASOF_JOIN: (node) => readJoin(node, 'asof'),
  LOGICAL_DELIM_JOIN: (node) => readJoin(node, 'delim'),
  LOGICAL_ANY_JOIN: (node) => readJoin(node, 'any'),
  LOGICAL_DELIM_GET: (node) => ({ kind: 'delim-get', types: node.list('chunk_types').map(readLogicalType) }),
  LOGICAL_CROSS_PRODUCT: (node) => ({ kind: 'cross-product', ...twoChildren(node) }),
  LOGICAL_POSITIONAL_JOIN: (node) => ({ kind: 'positional-join', ...twoChildren(node) }),
  LOGICAL_ORDER_BY: (node) => ({
    kind: 'order',
    child: onlyChild(node),
    orders: readOrders(node.list('orders')),
    projection: projection(node, 'projections'),
  }),
  LOGICAL_TOP_N: (node) => ({
    kind: 'top-n',
    child: onlyChild(node),
    orders: readOrders(node.list('orders')),
    limit: node.integer('limit'),
    offset: node.integer('offset'),
  }),
  LOGICAL_LIMIT: (node) => ({
    kind: 'limit',
    child: onlyChild(node),
    limit: readLimit(node.value('limit_val')),
    offset: readLimit(node.value('offset_val')),
  }),
  LOGICAL_DISTINCT: readDistinct,
  LOGICAL_WINDOW: (node) => {
    node.ignore('window_index');
    return { kind: 'window', child: onlyChild(node), expressions: readExpressions(node, 'expressions') };
  },
  LOGICAL_UNNEST: (node) => {
    node.ignore('unnest_index');
    return { kind: 'unnest', child: onlyChild(node), expressions: readExpressions(node, 'expressions') };
  },
  LOGICAL_SAMPLE: readSample,
  LOGICAL_UNION: (node) => readSetOperation(node, 'union'),
  LOGICAL_EXCEPT: (node) => readSetOperation(node, 'except'),
  LOGICAL_INTERSECT: (node) => readSetOperation(node, 'intersect'),
  LOGICAL_MATERIALIZED_CTE: (node) => {
    const { left, right } = twoChildren(node);
    node.ignore('column_count', 'materialize');
    return {
      kind: 'materialized-cte',
      cteIndex: node.integer('table_index'),
      name: node.text('ctename'),
      definition: left,
      child: right,
    };
  },
  LOGICAL_RECURSIVE_CTE: (node) => {
    node.ignore('column_count', 'key_targets', 'ref_recurring');
    return {
      kind: 'recursive-cte',
      cteIndex: node.integer('table_index'),
      name: node.text('ctename'),
      all: node.flag('union_all'),
      ...twoChildren(node),
    };
  },
  LOGICAL_CTE_REF: (node) => {
    node.ignore('bound_columns', 'is_recurring');
    return {
      kind: 'cte-reference',
      cteIndex: node.integer('cte_index'),
      types: node.list('chunk_types').map(readLogicalType),
    };
  },
  LOGICAL_EXPRESSION_GET: (node) => {
    optionalChild(node);
    return {
      kind: 'expression-get',
      types: node.list('expr_types').map(readLogicalType),
      rows: node.list('expressions').map((row) => asList(row, 'VALUES row').map(readExpression)),
    };
  },
  LOGICAL_CHUNK_GET: readChunkGet,
  LOGICAL_DUMMY_SCAN: () => ({ kind: 'dummy-scan' }),
  LOGICAL_EMPTY_RESULT: (node) => {
    node.ignore('bindings');
    return { kind: 'empty-result', types: node.list('return_types').map(readLogicalType) };
  },
};

const joinTypes: Readonly<Record<string, JoinType>> = {
  INNER: 'INNER',
  LEFT: 'LEFT',
  RIGHT: 'RIGHT',
  FULL: 'FULL',
  OUTER: 'FULL',
  SEMI: 'SEMI',
  ANTI: 'ANTI',
  MARK: 'MARK',
  SINGLE: 'SINGLE',
  RIGHT_SEMI: 'RIGHT_SEMI',
  RIGHT_ANTI: 'RIGHT_ANTI',
};

/**
 * Reads the answer of `json_serialize_plan(sql, optimize := true)`, planned with the settings of plan-settings.ts.
 * Throws PlanNotUnderstood for anything that is not known, an error answer included.
 */
export function readPlan(answer: string): PlanNode {
  const root = new PlanReader(parseJson(answer), 'plan');
  if (root.flag('error')) throw new PlanNotUnderstood(`no plan: ${String(root.value('error_message'))}`);
  const plans = root.list('plans');
  root.end();
  if (plans.length !== 1) throw new PlanNotUnderstood(`${plans.length} plans`);
  return readNode(plans[0]);
}

function readNode(json: JsonValue | undefined): PlanNode {
  const node = new PlanReader(json, 'operator');
  const read = node.oneOf('type', readers);
  node.ignore('children', 'table_index');
  const plan = read(node);
  node.end();
  return plan;
}

function onlyChild(node: PlanReader): PlanNode {
  const children = node.list('children');
  if (children.length !== 1) throw new PlanNotUnderstood(`an operator with ${children.length} inputs`);
  return readNode(children[0]);
}

function optionalChild(node: PlanReader): PlanNode | undefined {
  return node.list('children').length === 0 ? undefined : onlyChild(node);
}

function twoChildren(node: PlanReader): { readonly left: PlanNode; readonly right: PlanNode } {
  const children = node.list('children');
  if (children.length !== 2) throw new PlanNotUnderstood(`a join with ${children.length} inputs`);
  return { left: readNode(children[0]), right: readNode(children[1]) };
}

/** An empty map means all columns. */
function projection(node: PlanReader, name: string): readonly number[] | undefined {
  const map = node.indexes(name);
  return map.length === 0 ? undefined : map;
}

function readAggregate(node: PlanReader): AggregateNode {
  node.ignore('group_index', 'aggregate_index', 'groupings_index', 'distinct_validity');
  return {
    kind: 'aggregate',
    child: onlyChild(node),
    groups: readExpressions(node, 'groups'),
    groupingSets: node.list('grouping_sets').map((set) => readIndexes(set)),
    groupingFunctions: node.list('grouping_functions').map((columns) => readIndexes(columns)),
    aggregates: readExpressions(node, 'expressions'),
  };
}

function readJoin(node: PlanReader, flavour: JoinNode['flavour']): JoinNode {
  node.ignore('mark_index', 'mark_types');
  const condition = node.value('condition');
  node.mustBeEmpty('predicate');
  return {
    kind: 'join',
    flavour,
    joinType: node.oneOf('join_type', joinTypes),
    ...twoChildren(node),
    conditions: node.list('conditions').map((entry) => {
      const pair = new PlanReader(entry, 'join condition');
      const read = {
        operator: pair.oneOf('comparison', comparisons),
        left: readExpression(pair.value('left')),
        right: readExpression(pair.value('right')),
      };
      pair.end();
      return read;
    }),
    condition: condition === undefined ? undefined : readExpression(condition),
    leftProjection: projection(node, 'left_projection_map'),
    rightProjection: projection(node, 'right_projection_map'),
    delimColumns: readExpressions(node, 'duplicate_eliminated_columns'),
    delimFlipped: node.value('delim_flipped') === true,
  };
}

function readLimit(json: JsonValue | undefined): LimitValue {
  const node = new PlanReader(json, 'limit');
  const kind = node.text('type');
  const rows = node.integer('constant_integer');
  const percent = node.value('constant_percentage');
  const expression = node.value('expression');
  node.end();
  switch (kind) {
    case 'UNSET':
      return { kind: 'none' };
    case 'CONSTANT_VALUE':
      return { kind: 'rows', rows };
    case 'CONSTANT_PERCENTAGE':
      return { kind: 'percent', percent: percent instanceof JsonNumber ? Number(percent.text) : Number.NaN };
    case 'EXPRESSION_VALUE':
    case 'EXPRESSION_PERCENTAGE':
      return {
        kind: 'expression',
        isPercent: kind === 'EXPRESSION_PERCENTAGE',
        expression: readExpression(expression),
      };
    default:
      throw new PlanNotUnderstood(`limit ${kind}`);
  }
}

function readDistinct(node: PlanReader): PlanNode {
  const orderBy = node.value('order_by');
  let orders: readonly JsonValue[] = [];
  if (orderBy !== undefined) {
    const modifier = new PlanReader(orderBy, 'order_by');
    orders = modifier.list('orders');
    modifier.end();
  }
  return {
    kind: 'distinct',
    child: onlyChild(node),
    on: node.oneOf('distinct_type', { DISTINCT: false, DISTINCT_ON: true }),
    targets: readExpressions(node, 'distinct_targets'),
    orders: readOrders(orders),
  };
}

function readSample(node: PlanReader): PlanNode {
  const options = new PlanReader(node.value('sample_options'), 'sample');
  options.ignore('seed');
  const read = {
    kind: 'sample' as const,
    child: onlyChild(node),
    size: readPlanValue(options.value('sample_size')),
    isPercent: options.flag('is_percentage'),
    method: options.text('method'),
  };
  options.end();
  return read;
}

function readSetOperation(node: PlanReader, operation: 'union' | 'except' | 'intersect'): PlanNode {
  node.ignore('column_count', 'allow_out_of_order');
  const children = node.list('children').map(readNode);
  return { kind: 'set-operation', operation, all: node.flag('setop_all'), children };
}

function readChunkGet(node: PlanReader): PlanNode {
  const collection = new PlanReader(node.value('collection'), 'collection');
  collection.ignore('types');
  const columns = collection.list('values').map((column) => asList(column, 'column').map(readPlanValue));
  collection.end();
  return { kind: 'chunk-get', types: node.list('chunk_types').map(readLogicalType), columns };
}

function readIndexes(json: JsonValue): readonly number[] {
  return asList(json, 'index list').map((entry) => {
    const index = entry instanceof JsonNumber ? Number(entry.text) : Number.NaN;
    if (!Number.isSafeInteger(index)) throw new PlanNotUnderstood('an index list');
    return index;
  });
}

function asList(json: JsonValue, what: string): readonly JsonValue[] {
  if (!isJsonArray(json)) throw new PlanNotUnderstood(`${what} is no list`);
  return json;
}

/** The operators directly below one. */
export function inputsOf(node: PlanNode): readonly PlanNode[] {
  switch (node.kind) {
    case 'get':
      return node.child === undefined ? [] : [node.child];
    case 'projection':
    case 'filter':
    case 'aggregate':
    case 'order':
    case 'top-n':
    case 'limit':
    case 'distinct':
    case 'window':
    case 'unnest':
    case 'sample':
      return [node.child];
    case 'join':
    case 'cross-product':
    case 'positional-join':
    case 'recursive-cte':
      return [node.left, node.right];
    case 'materialized-cte':
      return [node.definition, node.child];
    case 'set-operation':
      return node.children;
    case 'delim-get':
    case 'cte-reference':
    case 'expression-get':
    case 'chunk-get':
    case 'dummy-scan':
    case 'empty-result':
    case 'stage-read':
      return [];
  }
}
