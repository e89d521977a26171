import type { JoinNode, PlanNode } from './plan-node.js';

/** How many columns an operator answers; undefined where it is not known. */
export function columnCount(node: PlanNode): number | undefined {
  switch (node.kind) {
    case 'get':
      return node.child === undefined ? (node.projection ?? node.columns).length : undefined;
    case 'projection':
      return node.expressions.length;
    case 'filter':
    case 'order':
      return node.projection?.length ?? columnCount(node.child);
    case 'aggregate':
      return node.groups.length + node.aggregates.length + node.groupingFunctions.length;
    case 'top-n':
    case 'limit':
    case 'distinct':
    case 'sample':
    case 'materialized-cte':
      return columnCount(node.child);
    case 'window':
    case 'unnest':
      return plus(columnCount(node.child), node.expressions.length);
    case 'join':
      return joinColumnCount(node);
    case 'cross-product':
      return plus(columnCount(node.left), columnCount(node.right));
    case 'delim-get':
    case 'cte-reference':
    case 'expression-get':
    case 'chunk-get':
    case 'empty-result':
    case 'stage-read':
      return node.types.length;
    case 'set-operation':
      return node.children[0] && columnCount(node.children[0]);
    case 'dummy-scan':
      return 1;
    default:
      return undefined;
  }
}

/** The columns of its left side that a join answers; those of the right side stand behind them. */
export function leftColumnCount({ left, leftProjection }: JoinNode): number | undefined {
  return leftProjection?.length ?? columnCount(left);
}

function joinColumnCount(node: JoinNode): number | undefined {
  const right = node.rightProjection?.length ?? columnCount(node.right);
  switch (node.joinType) {
    case 'SEMI':
    case 'ANTI':
      return leftColumnCount(node);
    case 'MARK':
      return plus(leftColumnCount(node), 1);
    case 'RIGHT_SEMI':
    case 'RIGHT_ANTI':
      return right;
    default:
      return plus(leftColumnCount(node), right);
  }
}

function plus(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? undefined : left + right;
}
