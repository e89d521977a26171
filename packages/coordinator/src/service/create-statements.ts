import { writeStatementRows } from '../writes/write-rows.js';
import type { createPlanning } from './create-planning.js';
import type { Lake } from './open-lake.js';
import type { QueryRunnerDependencies } from './query-runner.js';
import type { StatementPlannerDependencies } from './statement-planner.js';

export interface StatementsOptions {
  readonly planning: ReturnType<typeof createPlanning>;
  readonly runner: QueryRunnerDependencies;
  readonly lake: Lake;
  /** Said in the snapshots that statements make. */
  readonly version: string;
}

/** Everything a statement needs: planning, and running those that write, which is a part of planning them. */
export function createStatements({
  planning,
  runner,
  lake,
  version,
}: StatementsOptions): StatementPlannerDependencies {
  const { analyzer } = planning;
  const writing = { planner: planning, analyzer, runner, manifests: lake.manifests, version };
  return {
    ...planning,
    writeRows: (statement, options) => writeStatementRows(statement, writing, options),
  };
}
