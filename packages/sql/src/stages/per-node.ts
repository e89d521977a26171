import type { PlanNode } from '../plan/plan-node.js';

/**
 * A fact of a plan's operators, each asked of once however often it is wanted: what asks it of an operator and, for itself, of
 * what stands below would otherwise take time that doubles with every join.
 */
export function perNode<T>(
  compute: (node: PlanNode, ofNode: (node: PlanNode) => T) => T,
): (node: PlanNode) => T {
  const known = new Map<PlanNode, T>();
  const ofNode = (node: PlanNode): T => {
    const found = known.get(node);
    if (found !== undefined || known.has(node)) return found as T;
    const computed = compute(node, ofNode);
    known.set(node, computed);
    return computed;
  };
  return ofNode;
}
