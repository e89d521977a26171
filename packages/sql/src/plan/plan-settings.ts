import { exactAggregates, isBarrier } from '../stages/plan-facts.js';
import { quoteString } from '../text/literals.js';
import type { PlanNode } from './plan-node.js';
import { inputsOf } from './read-plan.js';

/**
 * Optimisers that are off while a statement is planned on stubs. With them the plan names things that only exist inside
 * the engine (shared subplans, compressed columns), moves conditions where no scan can use them, or is not serialised.
 * Statistics stay on, and the skip_* options are never used.
 */
const disabledOptimizers: readonly string[] = [
  'column_lifetime',
  'common_aggregate',
  'compressed_materialization',
  'join_filter_pushdown',
  'late_materialization',
  'top_n_window_elimination',
  'in_clause',
  'sampling_pushdown',
  'common_subplan',
];

/** To be run on the planning connection before `planStatement`, and undone by `RESET disabled_optimizers`. */
export const planSettingStatements: readonly string[] = [
  `SET disabled_optimizers = ${quoteString(disabledOptimizers.join(','))}`,
];

/** The one-value query that answers the plan of `$1`, for `readPlan`. */
export const planQuery = 'SELECT json_serialize_plan($1::VARCHAR, optimize := true)';

/** The one-value queries of the parser: SQL text into a tree for `readSerializedSql`, and back; `$1` is the input. */
export const serializeQuery = 'SELECT json_serialize_sql($1::VARCHAR)';
export const deserializeQuery = 'SELECT json_deserialize_sql($1::JSON)';

/** The view that stands for a table while planning: a zero-row Parquet file with the table's columns. */
export function stubScan(stubFile: string, rowCount: bigint): string {
  return `read_parquet(${quoteString(stubFile)}, explicit_cardinality => ${rowCount})`;
}

const withoutJoinFilters = "SET disabled_optimizers = 'join_filter_pushdown'";

/** Keeping the rows of a barrier in the order of the table's has it collect them all: twice the processor time and more. */
const inAnyOrder = 'SET preserve_insertion_order = false';

/**
 * To be run before the statement of the plan. DuckDB 1.5.5 hands the keys of a join down to the scan of its other side, below
 * what picks some of the rows there (LIMIT, DISTINCT ON, a sample), which then picks other ones: not where there is such a
 * join, or may be one, as the plan is not understood. A barrier picks none: it may have them.
 */
export function executionSettings(plan: PlanNode | undefined): readonly string[] {
  if (plan === undefined) return [withoutJoinFilters];
  return [
    ...(picksBelowJoin(plan, false) ? [withoutJoinFilters] : []),
    ...(hasBarrier(plan) && isOrderLost(plan) && !showsGatheredOrder(plan) ? [inAnyOrder] : []),
  ];
}

function picksBelowJoin(node: PlanNode, isBelowJoin: boolean): boolean {
  const isBelow = isBelowJoin || node.kind === 'join' || node.kind === 'cross-product';
  return (isBelow && picksRows(node)) || inputsOf(node).some((input) => picksBelowJoin(input, isBelow));
}

function picksRows(node: PlanNode): boolean {
  switch (node.kind) {
    case 'limit':
      return !isBarrier(node);
    case 'top-n':
    case 'sample':
      return true;
    case 'distinct':
      return node.on;
    default:
      return false;
  }
}

/**
 * Whether the order in which a correlated subquery's outer rows are gathered shows. DuckDB 1.5.5 gathers them thread by thread, and
 * takes them for as many as they are: rows that the subquery then leaves out have a say in the order of the others.
 */
export function showsGatheredOrder(plan: PlanNode): boolean {
  return hasCorrelation(plan) && !isOrderLost(plan, { groupsShow: true });
}

function hasCorrelation(node: PlanNode): boolean {
  return (node.kind === 'join' && node.delimColumns.length > 0) || inputsOf(node).some(hasCorrelation);
}

function hasBarrier(node: PlanNode): boolean {
  return isBarrier(node) || inputsOf(node).some(hasBarrier);
}

interface OrderUse {
  readonly isLostAbove?: boolean;
  /** Groups come in the order of their first rows, which counts. */
  readonly groupsShow?: boolean;
}

/** Whether no scan's rows come in their order to whom they are answered, or to what picks some by it. */
function isOrderLost(node: PlanNode, { isLostAbove = false, groupsShow = false }: OrderUse = {}): boolean {
  const below = (isLost: boolean) =>
    inputsOf(node).every((input) => isOrderLost(input, { isLostAbove: isLost, groupsShow }));
  switch (node.kind) {
    case 'aggregate':
      return below(
        (isLostAbove || !groupsShow || node.groups.length === 0) &&
          node.aggregates.every((each) => each.kind === 'aggregate' && exactAggregates.has(each.name)),
      );
    case 'order':
    case 'top-n':
      return below(true);
    case 'window':
    case 'sample':
    case 'positional-join':
    case 'recursive-cte':
      return below(false);
    case 'materialized-cte':
      return (
        isOrderLost(node.definition, { groupsShow }) && isOrderLost(node.child, { isLostAbove, groupsShow })
      );
    case 'distinct':
      return below(isLostAbove && !node.on);
    case 'limit':
      return below(isLostAbove && isBarrier(node));
    default:
      return inputsOf(node).length === 0 ? isLostAbove : below(isLostAbove);
  }
}
