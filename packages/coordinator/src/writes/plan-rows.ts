import { planQuery, type QueryPlan } from '../planner/plan-query.js';
import { ownerOf } from '../planner/planner-dependencies.js';
import { pointsWithParameters } from '../planner/point-parameters.js';
import { oneRowOnly, parameterRowCount, rowsByParameters } from './parameter-rows.js';
import type { RowsToWrite, WriteDependencies, WriteOptions } from './write-rows.js';

export interface PlannedRows extends QueryPlan {
  readonly fill?: RowsToWrite['fill'];
}

/**
 * Plans the query whose rows are written: what writes them, and checks them by policies, is no part of what is planned. With
 * several rows of parameters it runs once for each.
 */
export async function planRows(
  sql: string,
  { planner, analyzer }: WriteDependencies,
  { session, parameters, signal }: WriteOptions,
): Promise<PlannedRows> {
  const query = await analyzer.analyze(sql, ownerOf(session, planner.policies), signal);
  if (parameters === undefined || parameterRowCount(parameters) === 1)
    return await planQuery(planner, { query, session, parameters, signal, isWrapped: true });
  if (pointsWithParameters(query.gated).length > 0) throw oneRowOnly();
  const plan = await planQuery(planner, { query, session, signal, isWrapped: true });
  const { sql: rowsSql, fill } = rowsByParameters(plan, query.gated.parameters, parameters);
  return { ...plan, fragment: { ...plan.fragment, sql: rowsSql, lane: 'query' }, fill };
}
