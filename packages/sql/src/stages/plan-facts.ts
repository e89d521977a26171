import type { PlanExpression } from '../plan/plan-expression.js';
import type { GetNode, JoinNode, JoinType, PlanNode } from '../plan/plan-node.js';
import { inputsOf } from '../plan/read-plan.js';
import { NotPrintable } from '../print/not-printable.js';
import { perNode } from './per-node.js';

/** Whether part of the plan reads values that a delim join above it hands down. */
export function createIsCorrelated(): (node: PlanNode) => boolean {
  return perNode((node, isCorrelated) => {
    if (node.kind === 'delim-get') return true;
    if (node.kind === 'join' && node.flavour === 'delim')
      // What hands the values down binds them for the other side.
      return isCorrelated(node.delimFlipped ? node.right : node.left);
    return inputsOf(node).some(isCorrelated);
  });
}

/** Scans at and below it. */
export function getsOf(node: PlanNode): readonly GetNode[] {
  return node.kind === 'get' ? [node, ...inputsOf(node).flatMap(getsOf)] : inputsOf(node).flatMap(getsOf);
}

/** `OFFSET 0` changes no rows; it keeps conditions above it from being asked of rows that it never hands up. */
export function isBarrier(node: PlanNode): boolean {
  if (node.kind !== 'limit' || node.limit.kind !== 'none') return false;
  return node.offset.kind === 'rows' && node.offset.rows === 0n;
}

/** Names of stages that are read at and below it. */
export function stagesReadBy(node: PlanNode): readonly string[] {
  return node.kind === 'stage-read' ? [node.stage] : inputsOf(node).flatMap(stagesReadBy);
}

/**
 * The sides of a join whose rows may be divided while the other side stands whole: every row of the answer is made of one
 * row of such a side, and no row of the answer is there because of what that side does not have.
 */
export function divisibleSides(join: JoinNode): readonly ('left' | 'right')[] {
  if (join.flavour === 'delim') {
    const [outer, inner] = join.delimFlipped ? (['right', 'left'] as const) : (['left', 'right'] as const);
    return outerTypes[outer].has(join.joinType) && !picksRows(join[inner]) ? [outer] : [];
  }
  switch (join.joinType) {
    case 'INNER':
      return join.flavour === 'asof' ? ['left'] : ['left', 'right'];
    case 'LEFT':
    case 'SEMI':
    case 'ANTI':
    case 'MARK':
    case 'SINGLE':
      return ['left'];
    case 'RIGHT':
    case 'RIGHT_SEMI':
    case 'RIGHT_ANTI':
      return join.flavour === 'asof' ? [] : ['right'];
    case 'FULL':
      return [];
  }
}

/** Joins that answer for each row of their outer side, by where that stands. */
const outerTypes: Readonly<Record<'left' | 'right', ReadonlySet<JoinType>>> = {
  left: new Set<JoinType>(['INNER', 'LEFT', 'SEMI', 'ANTI', 'MARK', 'SINGLE']),
  right: new Set<JoinType>(['INNER', 'RIGHT', 'RIGHT_SEMI', 'RIGHT_ANTI']),
};

/** Whether computing it twice might answer different rows, all of them right. */
function picksRows(node: PlanNode): boolean {
  switch (node.kind) {
    case 'top-n':
    case 'window':
      return true;
    case 'limit':
      return !isBarrier(node) || picksRows(node.child);
    case 'aggregate':
      return node.aggregates.some(picksValue) || picksRows(node.child);
    case 'distinct':
      return node.on || picksRows(node.child);
    default:
      return inputsOf(node).some(picksRows);
  }
}

/** What they answer does not depend on the order of the rows, but for the last digits of floating-point sums. */
export const exactAggregates: ReadonlySet<string> = new Set([
  'count_star',
  'count',
  'sum',
  'avg',
  'min',
  'max',
  'bool_and',
  'bool_or',
]);

function picksValue(expression: PlanExpression): boolean {
  if (expression.kind !== 'aggregate') return true;
  // The one value of a scalar subquery, beside the count that says that there is no other.
  return !exactAggregates.has(expression.name) && expression.name !== 'first';
}

/** Cheap enough to be computed in every fragment, and the same in each. */
export function isRepeatable(node: PlanNode): boolean {
  switch (node.kind) {
    case 'get':
      return node.child === undefined;
    case 'stage-read':
    case 'expression-get':
    case 'chunk-get':
    case 'dummy-scan':
    case 'empty-result':
      return true;
    case 'projection':
    case 'filter':
      return isRepeatable(node.child);
    case 'limit':
      return isBarrier(node) && isRepeatable(node.child);
    case 'cross-product':
    case 'positional-join':
    case 'join':
      return (
        node.kind !== 'positional-join' &&
        (node.kind !== 'join' || (node.flavour !== 'delim' && node.joinType !== 'SINGLE')) &&
        stagesReadBy(node).length === 0 &&
        inputsOf(node).every(isRepeatable)
      );
    case 'set-operation':
      return node.operation === 'union' && node.all && node.children.every(isRepeatable);
    default:
      return false;
  }
}

/** Whether it has so many operators at most. */
export function isNoLarger(node: PlanNode, most: number): boolean {
  return operatorsUpTo(node, most + 1) <= most;
}

/** Counts no further than `enough`. */
function operatorsUpTo(node: PlanNode, enough: number): number {
  return inputsOf(node).reduce(
    (sum, input) => (sum >= enough ? sum : sum + operatorsUpTo(input, enough - sum)),
    1,
  );
}

/** Operators whose answer depends on where rows happen to be. The printer refuses the expressions that do. */
export function checkPlacement(node: PlanNode): void {
  if (node.kind === 'positional-join') throw new NotPrintable('a positional join');
  if (node.kind === 'sample') throw new NotPrintable('a sample');
  if (node.kind === 'recursive-cte') throw new NotPrintable('a recursive common table expression');
  for (const input of inputsOf(node)) checkPlacement(input);
}
