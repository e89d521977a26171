/**
 * What must hold of an optimised plan in which policies hide rows of tables. Policies are views; what the user says must not
 * be computed of rows that they hide. The plan of a view alone says what is the policy's own.
 */
import type { PlanExpression } from '../plan/plan-expression.js';
import type { GetNode, PlanNode, ScanColumn, ScanField } from '../plan/plan-node.js';
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

/**
 * Undefined: nothing of the user stands in or below a policy's filter. `guarded`: stub files of tables whose rows are not all
 * the user's to see.
 */
export function guardProblem(
  plan: PlanNode,
  views: readonly GuardingView[],
  guarded: ReadonlySet<string>,
): GuardProblem | undefined {
  const own = new Set(views.flatMap((view) => conditionsOf(view.plan)));
  const plain = new Set(
    views.filter((view) => !view.hasBarrier).flatMap((view) => guardedIn(view.plan, guarded)),
  );
  const depths = barrierDepths(views, guarded);
  if (depths === undefined) return 'broken';
  let problem: GuardProblem | undefined;
  let hasCast = false;
  for (const { file, path } of guardedScans(plan, guarded)) {
    const isCast = path.some((node) => node.kind === 'get' && hasCastField(node));
    if (plain.has(file)) {
      hasCast ||= isCast;
      continue;
    }
    if (isCast) return 'broken';
    const depth = depths.get(file);
    const barriers = path.filter(isBarrier).toReversed();
    const top = depth === undefined ? undefined : barriers[depth - 1];
    if (top === undefined || !conditionsOf(top).every((condition) => own.has(condition))) problem = 'broken';
  }
  if (problem !== undefined) return problem;
  if (hasCast) return 'needs-barrier';
  if (plain.size === 0) return undefined;
  const named = new Set(views.filter((view) => !view.hasBarrier).flatMap((view) => namedBelow(view.plan)));
  return isLeakproofPlan(plan, named) ? undefined : 'needs-barrier';
}

/** By stub file, how many barriers stand above its scan in the view that has it with the fewest. */
function barrierDepths(
  views: readonly GuardingView[],
  guarded: ReadonlySet<string>,
): ReadonlyMap<string, number> | undefined {
  const depths = new Map<string, number>();
  for (const { plan, hasBarrier } of views)
    for (const { file, path } of guardedScans(plan, guarded)) {
      const count = path.filter(isBarrier).length;
      if (hasBarrier && count === 0) return undefined;
      depths.set(file, Math.min(count, depths.get(file) ?? count));
    }
  return depths;
}

function guardedIn(plan: PlanNode, guarded: ReadonlySet<string>): readonly string[] {
  if (plan.kind === 'get') return plan.files.filter((file) => guarded.has(file));
  return inputsOf(plan).flatMap((input) => guardedIn(input, guarded));
}

/** Each scan of a guarded table, with what stands above it. */
function guardedScans(plan: PlanNode, guarded: ReadonlySet<string>) {
  return pathsToScans(plan).flatMap((path) => {
    const get = path.at(-1);
    const file = get?.kind === 'get' ? get.files[0] : undefined;
    return file !== undefined && guarded.has(file) ? [{ file, path }] : [];
  });
}

/**
 * A cast of a struct's field goes down with the field, past filters and barriers, to where the scan is. In this plan a filter may have
 * gone into the scan, before it; in the one that is run over other files it may not.
 */
function hasCastField({ columns }: GetNode): boolean {
  const isCast = (read: ScanColumn | ScanField): boolean => read.isCast || read.children.some(isCast);
  return columns.some(isCast);
}

/** From the root to each scan. */
function pathsToScans(node: PlanNode, above: readonly PlanNode[] = []): readonly (readonly PlanNode[])[] {
  const path = [...above, node];
  const below = inputsOf(node).flatMap((input) => pathsToScans(input, path));
  return node.kind === 'get' ? [path, ...below] : below;
}

/** All that is computed at and below a node, without regard to what references mean. */
function conditionsOf(node: PlanNode): readonly string[] {
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
      text: JSON.stringify([node.files, node.names[column], conditionText(filter)]),
      isSafe: isLeakproofFilter(filter),
    }));
  if (node.kind !== 'filter') return [];
  const origins = originsOf(node.child);
  return node.expressions.map((condition) => {
    let isNamed = true;
    const text = conditionText(condition, (index) => {
      const origin = origins(index);
      isNamed &&= origin !== undefined;
      return JSON.stringify([origin?.get.files, origin?.path]);
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
