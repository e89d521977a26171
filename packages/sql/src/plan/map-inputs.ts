import type { PlanNode } from './plan-node.js';

/** The operator with every operator directly below it replaced. */
export function mapInputs(node: PlanNode, map: (input: PlanNode) => PlanNode): PlanNode {
  switch (node.kind) {
    case 'get':
      return node.child === undefined ? node : { ...node, child: map(node.child) };
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
      return { ...node, child: map(node.child) };
    case 'join':
    case 'cross-product':
    case 'positional-join':
    case 'recursive-cte':
      return { ...node, left: map(node.left), right: map(node.right) };
    case 'materialized-cte':
      return { ...node, definition: map(node.definition), child: map(node.child) };
    case 'set-operation':
      return { ...node, children: node.children.map(map) };
    case 'delim-get':
    case 'cte-reference':
    case 'expression-get':
    case 'chunk-get':
    case 'dummy-scan':
    case 'empty-result':
    case 'stage-read':
      return node;
  }
}
