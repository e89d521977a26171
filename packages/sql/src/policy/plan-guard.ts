/**
 * What must hold of an optimised plan in which policies hide rows of tables. Policies are views; what the user says must not
 * be computed of rows that they hide. The plan of a view alone says what is the policy's own.
 */
import type { PlanExpression } from '../plan/plan-expression.js';
import type { PlanNode } from '../plan/plan-node.js';
import { inputsOf } from '../plan/read-plan.js';
import { originsOf } from '../scan/column-origin.js';
import { referencesOf } from '../stages/narrow-plan.js';
import { isBarrier } from '../stages/plan-facts.js';
import { conditionText, isLeakproof, isLeakproofFilter } from './plan-conditions.js';

/** The view of a policy, planned alone. */
export interface GuardingView {
  readonly plan: PlanNode;
  /** Whether it ends in `OFFSET 0`. */
  readonly hasBarrier: boolean;
}

export type GuardProblem =
  /** A view for everybody's order of conditions has conditions around it that need a barrier. */
  | 'needs-barrier'
  /** The barrier itself does not hold. */
  | 'broken';

export interface BarrierDepth {
  readonly least: number;
  readonly most: number;
}

/** What the views of a statement's policies say by themselves. Scans are told by the names of their stubs. */
export interface GuardFacts {
  /** Tables whose rows are not all the user's to see. */
  readonly guarded: ReadonlySet<string>;
  /** How many barriers stand above its scan, in the views that have it behind the fewest and the most. */
  readonly depths: ReadonlyMap<string, BarrierDepth>;
  /** Those that views without a barrier read. */
  readonly plain: ReadonlySet<string>;
  /** All that views compute. */
  readonly own: ReadonlySet<string>;
  /** Conditions of views without a barrier, on columns by their names. */
  readonly named: ReadonlySet<string>;
}

/** `guarded`: stub files. Undefined where a barrier is not where it is to be. */
export function guardFacts(
  views: readonly GuardingView[],
  guarded: Iterable<string>,
): GuardFacts | undefined {
  const stubs = new Set([...guarded].map(stubOf));
  const plain = views.filter((view) => !view.hasBarrier);
  const depths = barrierDepths(views, stubs);
  if (depths === undefined) return undefined;
  return {
    guarded: stubs,
    depths,
    plain: new Set(plain.flatMap((view) => guardedIn(view.plan, stubs))),
    own: new Set(views.flatMap((view) => conditionsOf(view.plan))),
    named: new Set(plain.flatMap((view) => namedBelow(view.plan))),
  };
}

/** Undefined: nothing of the user stands in or below a policy's filter. */
export function guardProblem(plan: PlanNode, facts: GuardFacts): GuardProblem | undefined {
  const { guarded, depths, plain, own } = facts;
  for (const { stub, path } of guardedScans(plan, guarded)) {
    if (plain.has(stub)) continue;
    const top = barrierAbove(path, depths.get(stub)?.least);
    if (top === undefined || !conditionsOf(top).every((condition) => own.has(condition))) return 'broken';
  }
  return isLeakproofAbove(plan, facts) ? undefined : 'needs-barrier';
}

/** What views without a barrier need of the plan around them. */
export function isLeakproofAbove(plan: PlanNode, { plain, named }: GuardFacts): boolean {
  return plain.size === 0 || isLeakproofPlan(plan, named);
}

/** Stub files have names of their own, in whatever folder of whichever host they lie. */
export function stubOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

/** The one of so many barriers, from below. */
export function barrierAbove(path: readonly PlanNode[], depth: number | undefined): PlanNode | undefined {
  return depth === undefined ? undefined : path.filter(isBarrier).toReversed()[depth - 1];
}

function barrierDepths(
  views: readonly GuardingView[],
  guarded: ReadonlySet<string>,
): ReadonlyMap<string, BarrierDepth> | undefined {
  const depths = new Map<string, BarrierDepth>();
  for (const { plan, hasBarrier } of views) {
    if (!hasBarrier) continue;
    for (const { stub, path } of guardedScans(plan, guarded)) {
      const count = path.filter(isBarrier).length;
      if (count === 0) return undefined;
      const { least, most } = depths.get(stub) ?? { least: count, most: count };
      depths.set(stub, { least: Math.min(count, least), most: Math.max(count, most) });
    }
  }
  return depths;
}

export function guardedIn(plan: PlanNode, guarded: ReadonlySet<string>): readonly string[] {
  if (plan.kind === 'get') return plan.files.map(stubOf).filter((stub) => guarded.has(stub));
  return inputsOf(plan).flatMap((input) => guardedIn(input, guarded));
}

/** Each scan of these tables, with what stands above it. */
export function guardedScans(plan: PlanNode, guarded: Pick<ReadonlySet<string>, 'has'>) {
  return pathsToScans(plan).flatMap((path) => {
    const get = path.at(-1);
    const stub = get?.kind === 'get' && get.files[0] !== undefined ? stubOf(get.files[0]) : undefined;
    return stub !== undefined && guarded.has(stub) ? [{ stub, path }] : [];
  });
}

/** From the root to each scan. */
function pathsToScans(node: PlanNode, above: readonly PlanNode[] = []): readonly (readonly PlanNode[])[] {
  const path = [...above, node];
  const below = inputsOf(node).flatMap((input) => pathsToScans(input, path));
  return node.kind === 'get' ? [path, ...below] : below;
}

/** All that is computed at and below a node, without regard to what references mean. */
export function conditionsOf(node: PlanNode): readonly string[] {
  return [
    ...expressionsOf(node)
      .filter(({ kind }) => kind !== 'reference' && kind !== 'constant')
      .map((each) => conditionText(each)),
    ...(node.kind === 'get' ? node.filters.map(({ filter }) => conditionText(filter)) : []),
    ...inputsOf(node).flatMap(conditionsOf),
  ];
}

/**
 * Whether all conditions of the plan are leakproof, or a policy's own: then it does not matter which of them a row meets
 * first. What projections, groups and aggregates compute they compute of rows that are left; a condition above that asks
 * for it would have been moved below, where it is seen.
 */
function isLeakproofPlan(node: PlanNode, own: ReadonlySet<string>): boolean {
  const here = (): boolean => {
    switch (node.kind) {
      case 'get':
      case 'filter':
        return namedConditions(node).every(
          ({ text, isSafe, condition }) =>
            isSafe || own.has(text) || (condition !== undefined && isOfAggregates(condition, node)),
        );
      case 'join':
        return (
          node.flavour !== 'asof' &&
          node.conditions.every(({ left, right }) => isLeakproof(left) && isLeakproof(right)) &&
          (node.condition === undefined || isLeakproof(node.condition))
        );
      case 'positional-join':
      case 'recursive-cte':
      case 'sample':
        return false;
      default:
        return true;
    }
  };
  return here() && inputsOf(node).every((input) => isLeakproofPlan(input, own));
}

interface NamedCondition {
  /** The columns of the table in it are told by name; empty where it is not of columns only. */
  readonly text: string;
  readonly isSafe: boolean;
  readonly condition?: PlanExpression;
}

/** Of a scan and of a filter; nothing that is computed between a condition and its table has a name. */
function namedConditions(node: PlanNode): readonly NamedCondition[] {
  if (node.kind === 'get')
    return node.filters.map(({ column, filter }) => ({
      text: JSON.stringify([node.files.map(stubOf), node.names[column], conditionText(filter)]),
      isSafe: isLeakproofFilter(filter),
    }));
  if (node.kind !== 'filter') return [];
  const origins = originsOf(node.child);
  return node.expressions.map((condition) => {
    let isNamed = true;
    const text = conditionText(condition, (index) => {
      const origin = origins(index);
      isNamed &&= origin !== undefined;
      return JSON.stringify([origin?.get.files.map(stubOf), origin?.path]);
    });
    return { text: isNamed ? text : '', isSafe: isLeakproof(condition), condition };
  });
}

function namedBelow(node: PlanNode): readonly string[] {
  const texts = namedConditions(node).flatMap(({ text }) => (text === '' ? [] : [text]));
  return [...texts, ...inputsOf(node).flatMap(namedBelow)];
}

/** A condition on what an aggregate answers stays above it, whatever it computes. */
function isOfAggregates(condition: PlanExpression, node: PlanNode): boolean {
  if (node.kind !== 'filter' || node.child.kind !== 'aggregate') return false;
  const groups = node.child.groups.length;
  return [...referencesOf([condition])].every((index) => index >= groups);
}

/** What a node computes itself. */
function expressionsOf(node: PlanNode): readonly PlanExpression[] {
  switch (node.kind) {
    case 'projection':
    case 'filter':
    case 'window':
    case 'unnest':
      return node.expressions;
    case 'aggregate':
      return [...node.groups, ...node.aggregates];
    case 'join':
      return [
        ...node.conditions.flatMap(({ left, right }) => [left, right]),
        ...(node.condition === undefined ? [] : [node.condition]),
        ...node.delimColumns,
      ];
    case 'order':
    case 'top-n':
      return node.orders.map(({ expression }) => expression);
    case 'distinct':
      return [...node.targets, ...node.orders.map(({ expression }) => expression)];
    case 'expression-get':
      return node.rows.flat();
    default:
      return [];
  }
}
