/** What rows take that would be divided, and what those take that would be handed to every part of them. */
import type { GetNode, JoinNode, PlanNode } from '../plan/plan-node.js';
import { inputsOf } from '../plan/read-plan.js';
import { perNode } from './per-node.js';
import { divisibleSides, isBarrier } from './plan-facts.js';

export interface ScanSize {
  readonly bytes: number;
  readonly rowBytes: number;
}

export interface RowSizeRules {
  readonly sizes: ReadonlyMap<GetNode, ScanSize>;
  readonly mayBroadcastBytes: number;
  readonly readWholeBytes: number;
  isCorrelated(node: PlanNode): boolean;
}

export type TwoSided = JoinNode | Extract<PlanNode, { readonly kind: 'cross-product' | 'positional-join' }>;

export interface RowSizes {
  /** What the rows of the largest scan take by which the rows of `node` can be divided; 0 when there is none. */
  reach(node: PlanNode): number;
  /** By which a join's rows are divided. */
  dividedSide(node: TwoSided): 'left' | 'right' | undefined;
  /** From now on a common table expression weighs what its rows do; nothing, as long as it is not defined. */
  define(cteIndex: bigint, definition: PlanNode): void;
}

export function createRowSizes(rules: RowSizeRules): RowSizes {
  const { sizes, mayBroadcastBytes, readWholeBytes, isCorrelated } = rules;
  const cteBytes = new Map<bigint, number>();
  const readsCte = perNode<boolean>(
    (node, below) => node.kind === 'cte-reference' || inputsOf(node).some(below),
  );
  const forgotten: (() => void)[] = [];

  /** As `perNode`; what depends on common table expressions is asked again when one more is defined. */
  function perDefinition(compute: (node: PlanNode) => number): (node: PlanNode) => number {
    const settled = perNode(compute);
    let open = perNode(compute);
    forgotten.push(() => {
      open = perNode(compute);
    });
    return (node) => (readsCte(node) ? open(node) : settled(node));
  }

  const reach = perDefinition((node) => {
    if (isCorrelated(node)) return 0;
    switch (node.kind) {
      case 'get': {
        const { bytes = 0, rowBytes = 0 } = sizes.get(node) ?? {};
        return bytes > readWholeBytes ? Math.max(1, rowBytes) : 0;
      }
      case 'projection':
      case 'filter':
      case 'unnest':
      case 'materialized-cte':
        return reach(node.child);
      case 'limit':
        return isBarrier(node) ? reach(node.child) : 0;
      case 'set-operation':
        return node.operation === 'union' && node.all ? Math.max(...node.children.map(reach)) : 0;
      case 'join':
      case 'cross-product': {
        const side = dividedSide(node);
        return side === undefined ? 0 : reach(node[side]);
      }
      default:
        return 0;
    }
  });

  function dividedSide(node: TwoSided): 'left' | 'right' | undefined {
    const sides = node.kind === 'join' ? divisibleSides(node) : (['left', 'right'] as const);
    const legal = sides
      .map((side) => ({
        side,
        size: reach(node[side]),
        other: weight(side === 'left' ? node.right : node.left),
      }))
      .filter(({ size, other }) => size > 0 && other <= mayBroadcastBytes);
    return legal.reduce<(typeof legal)[number] | undefined>(
      (best, each) => (best === undefined || each.size > best.size ? each : best),
      undefined,
    )?.side;
  }

  /** What the rows take that are scanned for rows that may all have to be handed on: a few rows weigh nothing. */
  const weight = perDefinition((node) => {
    switch (node.kind) {
      case 'get':
        return sizes.get(node)?.rowBytes ?? 0;
      case 'aggregate':
        return node.groups.length === 0 ? 0 : weight(node.child);
      case 'top-n':
        return 0;
      case 'limit':
        return node.limit.kind === 'rows' ? 0 : weight(node.child);
      case 'materialized-cte':
        return weight(node.child) + weight(node.definition);
      case 'cte-reference':
        return cteBytes.get(node.cteIndex) ?? 0;
      case 'join':
        if (node.joinType === 'SEMI' || node.joinType === 'ANTI' || node.joinType === 'MARK')
          return weight(node.left);
        if (node.joinType === 'RIGHT_SEMI' || node.joinType === 'RIGHT_ANTI') return weight(node.right);
        return weight(node.left) + weight(node.right);
      default:
        return inputsOf(node).reduce((sum, input) => sum + weight(input), 0);
    }
  });

  return {
    reach,
    dividedSide,
    define: (cteIndex, definition) => {
      cteBytes.set(cteIndex, weight(definition));
      for (const forget of forgotten) forget();
    },
  };
}
