import { columnCount } from '../plan/column-count.js';
import { mapOperands, operandsOf } from '../plan/expression-type.js';
import type { PlanExpression, PlanOrder } from '../plan/plan-expression.js';
import type { AggregateNode, GetNode, JoinNode, PlanNode } from '../plan/plan-node.js';
import { NotPrintable } from '../print/not-printable.js';

/** An operator that answers fewer columns: those that stood at `positions`, in ascending order. */
interface Narrowed {
  readonly node: PlanNode;
  readonly positions: readonly number[];
}

type NodeOf<K extends PlanNode['kind']> = Extract<PlanNode, { readonly kind: K }>;

/**
 * The plan without the columns that nobody above looks at, join keys above all. While a statement runs the engine does
 * that itself; here it is what keeps the rows small that one stage hands to another.
 */
export function narrowPlan(plan: PlanNode): PlanNode {
  return narrowAll(plan);
}

/** Narrowed below, while all of its own columns stay. */
function narrowAll(node: PlanNode): PlanNode {
  return narrow(node, allOf(widthOf(node))).node;
}

export function widthOf(node: PlanNode): number {
  const width = columnCount(node);
  if (width === undefined) throw new NotPrintable(`the columns of ${node.kind}`);
  return width;
}

function allOf(count: number): ReadonlySet<number> {
  return new Set(Array.from({ length: count }, (_, index) => index));
}

/** What it answers may be more than `needed`, never less. */
function narrow(node: PlanNode, needed: ReadonlySet<number>): Narrowed {
  switch (node.kind) {
    case 'get':
      return narrowGet(node, needed);
    case 'projection': {
      const positions = sorted(needed);
      const expressions = positions.map((position) => at(node.expressions, position));
      const below = narrow(node.child, referencesOf(expressions));
      return { node: { ...node, child: below.node, expressions: moveAll(expressions, below) }, positions };
    }
    case 'filter':
    case 'order': {
      const positions = sorted(needed);
      const answered = positions.map((position) =>
        node.projection === undefined ? position : at(node.projection, position),
      );
      const own = node.kind === 'filter' ? node.expressions : node.orders.map((order) => order.expression);
      const below = narrow(node.child, new Set([...answered, ...referencesOf(own)]));
      const projection = answered.map((position) => newPosition(position, below));
      const narrowed =
        node.kind === 'filter'
          ? { ...node, child: below.node, projection, expressions: moveAll(node.expressions, below) }
          : { ...node, child: below.node, projection, orders: moveOrders(node.orders, below) };
      return { node: narrowed, positions };
    }
    case 'aggregate':
      return narrowAggregate(node, needed);
    case 'join':
      return narrowJoin(node, needed);
    case 'cross-product': {
      const leftWidth = widthOf(node.left);
      const [lefts, rights] = divided(needed, leftWidth);
      const left = narrow(node.left, lefts);
      const right = narrow(node.right, rights);
      const positions = [...left.positions, ...right.positions.map((position) => position + leftWidth)];
      return { node: { ...node, left: left.node, right: right.node }, positions };
    }
    case 'top-n': {
      const below = narrow(
        node.child,
        new Set([...needed, ...referencesOf(node.orders.map((order) => order.expression))]),
      );
      return {
        node: { ...node, child: below.node, orders: moveOrders(node.orders, below) },
        positions: below.positions,
      };
    }
    case 'limit': {
      const below = narrow(node.child, needed);
      return { node: { ...node, child: below.node }, positions: below.positions };
    }
    case 'window':
      return narrowWindow(node, needed);
    case 'materialized-cte': {
      const below = narrow(node.child, needed);
      return {
        node: { ...node, definition: narrowAll(node.definition), child: below.node },
        positions: below.positions,
      };
    }
    case 'distinct':
    case 'unnest':
    case 'sample':
      return whole({ ...node, child: narrowAll(node.child) });
    case 'positional-join':
    case 'recursive-cte':
      return whole({ ...node, left: narrowAll(node.left), right: narrowAll(node.right) });
    case 'set-operation':
      return whole({ ...node, children: node.children.map(narrowAll) });
    default:
      return whole(node);
  }
}

function whole(node: PlanNode): Narrowed {
  return { node, positions: sorted(allOf(widthOf(node))) };
}

function narrowGet(node: GetNode, needed: ReadonlySet<number>): Narrowed {
  if (node.child !== undefined) return whole(node);
  const positions = sorted(needed);
  const answered = node.projection ?? [...node.columns.keys()];
  return { node: { ...node, projection: positions.map((position) => at(answered, position)) }, positions };
}

/** Groups stay, as they say what the rows are. */
function narrowAggregate(node: AggregateNode, needed: ReadonlySet<number>): Narrowed {
  const groupCount = node.groups.length;
  const ends = groupCount + node.aggregates.length;
  const positions = sorted(allOf(ends + node.groupingFunctions.length)).filter(
    (position) => position < groupCount || position >= ends || needed.has(position),
  );
  const kept = positions.length === 0 ? [0] : positions;
  const aggregates = kept
    .filter((position) => position >= groupCount && position < ends)
    .map((position) => at(node.aggregates, position - groupCount));
  const below = narrow(node.child, referencesOf([...node.groups, ...aggregates]));
  return {
    node: {
      ...node,
      child: below.node,
      groups: moveAll(node.groups, below),
      aggregates: moveAll(aggregates, below),
    },
    positions: kept,
  };
}

function narrowWindow(node: NodeOf<'window'>, needed: ReadonlySet<number>): Narrowed {
  const width = widthOf(node.child);
  const [below, windows] = divided(needed, width);
  const kept = sorted(windows);
  const expressions = kept.map((position) => at(node.expressions, position));
  const child = narrow(node.child, new Set([...below, ...referencesOf(expressions)]));
  if (expressions.length === 0) return child;
  return {
    node: { ...node, child: child.node, expressions: moveAll(expressions, child) },
    positions: [...child.positions, ...kept.map((position) => position + width)],
  };
}

function narrowJoin(node: JoinNode, needed: ReadonlySet<number>): Narrowed {
  const leftWidth = widthOf(node.left);
  const answeredLeft = node.leftProjection ?? sorted(allOf(leftWidth));
  const answeredRight = node.rightProjection ?? sorted(allOf(widthOf(node.right)));
  const hasLeft = node.joinType !== 'RIGHT_SEMI' && node.joinType !== 'RIGHT_ANTI';
  const hasRight = !['SEMI', 'ANTI', 'MARK'].includes(node.joinType);
  const leftCount = hasLeft ? answeredLeft.length : 0;
  const positions = sorted(needed).filter((position) => position < leftCount || hasRight);
  const lefts = positions
    .filter((position) => position < leftCount)
    .map((position) => at(answeredLeft, position));
  const rights = positions
    .filter((position) => position >= leftCount)
    .map((position) => at(answeredRight, position - leftCount));
  // A scalar subquery is computed as one value, which there must be.
  const isSingle = node.joinType === 'SINGLE' && rights.length === 0;
  const keptRights = isSingle ? answeredRight.slice(0, 1) : rights;
  const [conditionLeft, conditionRight] = divided(
    referencesOf(node.condition === undefined ? [] : [node.condition]),
    leftWidth,
  );
  const delim = referencesOf(node.delimColumns);
  const left = narrow(
    node.left,
    new Set([
      ...lefts,
      ...conditionLeft,
      ...referencesOf(node.conditions.map((condition) => condition.left)),
      ...(node.delimFlipped ? [] : delim),
    ]),
  );
  const right = narrow(
    node.right,
    new Set([
      ...keptRights,
      ...conditionRight,
      ...referencesOf(node.conditions.map((condition) => condition.right)),
      ...(node.delimFlipped ? delim : []),
    ]),
  );
  const newWidth = widthOf(left.node);
  const ofBoth = (index: number) =>
    index < leftWidth ? newPosition(index, left) : newPosition(index - leftWidth, right) + newWidth;
  return {
    node: {
      ...node,
      left: left.node,
      right: right.node,
      conditions: node.conditions.map((condition) => ({
        ...condition,
        left: move(condition.left, left),
        right: move(condition.right, right),
      })),
      condition: node.condition && moveBy(node.condition, ofBoth),
      leftProjection: hasLeft ? lefts.map((position) => newPosition(position, left)) : undefined,
      rightProjection: hasRight ? keptRights.map((position) => newPosition(position, right)) : undefined,
      delimColumns: moveAll(node.delimColumns, node.delimFlipped ? right : left),
    },
    positions: [
      ...positions,
      ...(isSingle ? [leftCount] : []),
      ...(node.joinType === 'MARK' ? [leftCount] : []),
    ],
  };
}

function divided(
  positions: ReadonlySet<number>,
  leftWidth: number,
): readonly [ReadonlySet<number>, ReadonlySet<number>] {
  const all = [...positions];
  return [
    new Set(all.filter((position) => position < leftWidth)),
    new Set(all.filter((position) => position >= leftWidth).map((position) => position - leftWidth)),
  ];
}

function sorted(positions: ReadonlySet<number>): readonly number[] {
  return [...positions].sort((a, b) => a - b);
}

function at<T>(items: readonly T[], position: number): T {
  const item = items[position];
  if (item === undefined) throw new NotPrintable(`a reference to column ${position}, which is not there`);
  return item;
}

export function referencesOf(expressions: readonly PlanExpression[]): ReadonlySet<number> {
  const found = new Set<number>();
  const visit = (expression: PlanExpression) => {
    if (expression.kind === 'reference') found.add(expression.index);
    for (const operand of operandsOf(expression)) visit(operand);
  };
  expressions.forEach(visit);
  return found;
}

function newPosition(position: number, { positions }: Narrowed): number {
  const found = positions.indexOf(position);
  if (found === -1) throw new NotPrintable(`a reference to column ${position}, which is not there`);
  return found;
}

export function moveBy(expression: PlanExpression, to: (index: number) => number): PlanExpression {
  return expression.kind === 'reference'
    ? { ...expression, index: to(expression.index) }
    : mapOperands(expression, (operand) => moveBy(operand, to));
}

function move(expression: PlanExpression, below: Narrowed): PlanExpression {
  return moveBy(expression, (index) => newPosition(index, below));
}

function moveAll(expressions: readonly PlanExpression[], below: Narrowed): readonly PlanExpression[] {
  return expressions.map((expression) => move(expression, below));
}

function moveOrders(orders: readonly PlanOrder[], below: Narrowed): readonly PlanOrder[] {
  return orders.map((order) => ({ ...order, expression: move(order.expression, below) }));
}
