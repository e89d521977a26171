/** How far rows of a plan are behind barriers: rows that policies hide must pass these before anybody else asks of them. */
import type { GetNode, PlanNode } from '../plan/plan-node.js';
import { inputsOf } from '../plan/read-plan.js';
import { isBarrier } from './plan-facts.js';

/** So many barriers stand above the scan in the view of its policy: 0 for what is everybody's, and behind no barrier. */
export type LevelOfScan = (get: GetNode) => number;

export interface HiddenRows {
  /** Barriers that the rows of a node have yet to pass. */
  levelOf(node: PlanNode): number;
  /** Those at and below a node that rows pass, with their levels below. */
  barriersOf(node: PlanNode): readonly { readonly barrier: PlanNode; readonly level: number }[];
  /** Rows of this level come from the stage. */
  define(stage: string, level: number): void;
}

export function createHiddenRows(levelOfScan: LevelOfScan): HiddenRows {
  const stages = new Map<string, number>();

  const visit = (node: PlanNode, ctes: Map<bigint, number>, passed: Passed[]): number => {
    if (node.kind === 'cte-reference') return ctes.get(node.cteIndex) ?? 0;
    if (node.kind === 'stage-read') return stages.get(node.stage) ?? 0;
    if (node.kind === 'materialized-cte') {
      const defined = visit(node.definition, ctes, passed);
      return visit(node.child, new Map([...ctes, [node.cteIndex, defined]]), passed);
    }
    const below = inputsOf(node).map((input) => visit(input, ctes, passed));
    const level = Math.max(0, node.kind === 'get' ? levelOfScan(node) : 0, ...below);
    if (level === 0 || !isBarrier(node)) return level;
    passed.push({ barrier: node, level });
    return level - 1;
  };

  return {
    levelOf: (node) => visit(node, new Map(), []),
    barriersOf: (node) => {
      const passed: Passed[] = [];
      visit(node, new Map(), passed);
      return passed;
    },
    define: (stage, level) => stages.set(stage, level),
  };
}

interface Passed {
  readonly barrier: PlanNode;
  readonly level: number;
}
