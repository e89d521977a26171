/**
 * What must hold of an optimised plan in which policies hide rows of tables. Policies are views; what the user says must not
 * be computed of rows that they hide. The plan of a view alone says what is the policy's own.
 */
import type { CastExpression, PlanExpression } from '../plan/plan-expression.js';
import type { PlanTableFilter } from '../plan/plan-filter.js';
import type { GetNode, PlanNode } from '../plan/plan-node.js';
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
  for (const { file, path } of guardedScans(plan, guarded)) {
    if (plain.has(file)) continue;
    const depth = depths.get(file);
    const barriers = path.filter(isBarrier).toReversed();
    const top = depth === undefined ? undefined : barriers[depth - 1];
    if (top === undefined || !conditionsOf(top).every((condition) => own.has(condition))) problem = 'broken';
  }
  if (problem !== undefined) return problem;
  if (plain.size === 0) return undefined;
  const conditions = views.filter((view) => !view.hasBarrier).flatMap((view) => conditionsBelow(view.plan));
  if (conditions.length > 0 && castsField(plan)) return 'needs-barrier';
  const named = new Set(conditions.map(({ text }) => text).filter((text) => text !== ''));
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

/** From the root to each scan. */
function pathsToScans(node: PlanNode, above: readonly PlanNode[] = []): readonly (readonly PlanNode[])[] {
  const path = [...above, node];
  const below = inputsOf(node).flatMap((input) => pathsToScans(input, path));
  return node.kind === 'get' ? [path, ...below] : below;
}

/**
 * What is computed at and below a node, without regard to what references mean; but for what no value can fail, such as the
 * bound that the first rows in an order have reached, or a field of a struct.
 */
function conditionsOf(node: PlanNode): readonly string[] {
  const filters = node.kind === 'get' ? scanConditions(node) : [];
  return [
    ...expressionsOf(node)
      .filter((each) => !isLeakproof(each))
      .map((each) => conditionText(each)),
    ...filters.filter(({ filter }) => !isLeakproofFilter(filter)).map(({ filter }) => conditionText(filter)),
    ...inputsOf(node).flatMap(conditionsOf),
  ];
}

/**
 * Whether all conditions of the plan are leakproof, or a policy's own: then it does not matter which of them a row meets
 * first. What groups and aggregates compute they compute of rows that are left. So do projections, unless a filter stands
 * above them, which may be the policy's: the engine takes filters up through INTERSECT and EXCEPT, and leaves them there.
 */
function isLeakproofPlan(node: PlanNode, own: ReadonlySet<string>, isBelowFilter = false): boolean {
  const here = (): boolean => {
    switch (node.kind) {
      case 'projection':
        return !isBelowFilter || node.expressions.every(isLeakproof);
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
  // No filter is taken through an aggregate.
  const isBelow = node.kind === 'filter' || (isBelowFilter && node.kind !== 'aggregate');
  return here() && inputsOf(node).every((input) => isLeakproofPlan(input, own, isBelow));
}

/**
 * Of all that a plan is made of. The engine takes casts of a struct's fields down to the scan, below filters that the scan does
 * not take itself; which these are the files of the table decide, not the stubs.
 */
function castsField(part: unknown): boolean {
  if (Array.isArray(part)) return part.some(castsField);
  if (typeof part !== 'object' || part === null) return false;
  if (isFallibleCast(part) && part.child.kind === 'function' && part.child.name.startsWith('struct_extract'))
    return true;
  return Object.values(part).some(castsField);
}

function isFallibleCast(part: object): part is CastExpression {
  return 'kind' in part && part.kind === 'cast' && !isLeakproof(part as CastExpression);
}

interface NamedCondition {
  /** The columns of the table in it are told by name; empty where it is not of columns only. */
  readonly text: string;
  readonly isSafe: boolean;
  readonly condition?: PlanExpression;
}

/** One by one: the engine joins what a policy and a statement say of one column. */
function scanConditions({ filters }: GetNode): GetNode['filters'] {
  return filters.flatMap(({ column, filter }) =>
    conjunctsOf(filter).map((each) => ({ column, filter: each })),
  );
}

function conjunctsOf(filter: PlanTableFilter): readonly PlanTableFilter[] {
  return filter.kind === 'and' ? filter.children.flatMap(conjunctsOf) : [filter];
}

/** Of a scan and of a filter; nothing that is computed between a condition and its table has a name. */
function namedConditions(node: PlanNode): readonly NamedCondition[] {
  if (node.kind === 'get')
    return scanConditions(node).map(({ column, filter }) => ({
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

function conditionsBelow(node: PlanNode): readonly NamedCondition[] {
  return [...namedConditions(node), ...inputsOf(node).flatMap(conditionsBelow)];
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
