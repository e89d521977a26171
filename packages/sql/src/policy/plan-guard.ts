/**
 * What must hold of an optimised plan in which policies hide rows of tables. Policies are views; what the user says must not
 * be computed of rows that they hide. The plan of a view alone says what is the policy's own.
 */
import type { CastExpression, PlanExpression } from '../plan/plan-expression.js';
import type { PlanTableFilter } from '../plan/plan-filter.js';
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
  /** Whether these have any, named or not. */
  readonly hasConditions: boolean;
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
  const conditions = plain.flatMap((view) => conditionsBelow(view.plan));
  return {
    guarded: stubs,
    depths,
    plain: new Set(plain.flatMap((view) => guardedIn(view.plan, stubs))),
    own: new Set(views.flatMap((view) => conditionsOf(view.plan))),
    named: new Set(conditions.map(({ text }) => text).filter((text) => text !== '')),
    hasConditions: conditions.length > 0,
  };
}

/** Undefined: nothing of the user stands in or below a policy's filter. */
export function guardProblem(plan: PlanNode, facts: GuardFacts): GuardProblem | undefined {
  const { guarded, depths, plain, own } = facts;
  for (const { stub, path, hasCast } of guardedScans(plan, guarded)) {
    if (plain.has(stub)) continue;
    if (hasCast) return 'broken';
    const top = barrierAbove(path, depths.get(stub)?.least);
    if (top === undefined || !conditionsOf(top).every((condition) => own.has(condition))) return 'broken';
  }
  return isLeakproofAbove(plan, facts) ? undefined : 'needs-barrier';
}

/** What views without a barrier need of the plan around them. */
export function isLeakproofAbove(plan: PlanNode, { plain, named, hasConditions }: GuardFacts): boolean {
  if (plain.size === 0) return true;
  const casts = guardedScans(plan, plain).some(({ hasCast }) => hasCast);
  return !casts && !(hasConditions && castsField(plan)) && isLeakproofPlan(plan, named);
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

/** Each scan of these tables, with what stands above it, and whether something of the statement is computed in it. */
export function guardedScans(plan: PlanNode, guarded: Pick<ReadonlySet<string>, 'has'>) {
  return pathsToScans(plan).flatMap((path) => {
    const get = path.at(-1);
    const stub = get?.kind === 'get' && get.files[0] !== undefined ? stubOf(get.files[0]) : undefined;
    const hasCast = path.some((node) => node.kind === 'get' && hasCastField(node));
    return stub !== undefined && guarded.has(stub) ? [{ stub, path, hasCast }] : [];
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

/**
 * What is computed at and below a node, without regard to what references mean; but for what no value can fail, such as the
 * bound that the first rows in an order have reached, or a field of a struct.
 */
export function conditionsOf(node: PlanNode): readonly string[] {
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
