/**
 * What must hold of the text of a stage where policies hide rows: it is optimised again where it runs, so that what was shown
 * of the statement's plan has to be shown of each text.
 */
import type { PlanNode } from '../plan/plan-node.js';
import {
  barrierAbove,
  conditionsOf,
  type GuardFacts,
  type GuardProblem,
  guardedIn,
  guardedScans,
  isLeakproofAbove,
} from './plan-guard.js';

export interface StageToCheck {
  /** The stage's text as the engine plans it. */
  readonly plan: PlanNode;
  /** What it has of policies behind barriers, each planned alone, by the barriers that its rows had yet to pass. */
  readonly own: readonly { readonly level: number; readonly plan: PlanNode }[];
  /** By stub of what it reads, tables and stages: the barriers that its rows have to pass before anybody's conditions. */
  readonly levels: ReadonlyMap<string, number>;
  /** Whether some of them stand in stages behind it: then all of it is the policies'. */
  readonly isHidden: boolean;
}

/** As `guardProblem`. At each barrier above what is hidden there is nothing but what the policies say of it by themselves. */
export function stageGuardProblem(
  { plan, own, levels, isHidden }: StageToCheck,
  facts: GuardFacts,
): GuardProblem | undefined {
  const saidAt = (level: number): ReadonlySet<string> =>
    new Set(own.filter((each) => each.level >= level).flatMap((each) => conditionsOf(each.plan)));
  for (const { stub, path, hasCast } of guardedScans(plan, levels)) {
    const most = levels.get(stub) ?? 0;
    if (most > 0 && hasCast) return 'broken';
    for (let depth = 1; depth <= most; depth++) {
      const barrier = barrierAbove(path, depth);
      if (barrier === undefined) {
        if (isHidden) break;
        return 'broken';
      }
      const said = saidAt(most - depth + 1);
      if (!conditionsOf(barrier).every((condition) => said.has(condition))) return 'broken';
    }
  }
  const isOfPlain = guardedIn(plan, facts.plain).length > 0;
  return !isOfPlain || isLeakproofAbove(plan, facts) ? undefined : 'needs-barrier';
}
