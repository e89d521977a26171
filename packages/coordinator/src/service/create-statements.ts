import type { IngestTarget, UploadedRows } from '@svc/flight';
import { createTableAs } from '../writes/create-table-as.js';
import { type IngestOptions, ingestRows } from '../writes/ingest-rows.js';
import { insertRows } from '../writes/insert-rows.js';
import { createOrReplaceTable } from '../writes/replace-table.js';
import { analyzePlanned } from './analyze-query.js';
import type { createPlanning } from './create-planning.js';
import type { Lake } from './open-lake.js';
import type { QueryRunnerDependencies } from './query-runner.js';
import type { PolicyStatements, StatementPlannerDependencies } from './statement-planner.js';

export interface StatementsOptions {
  readonly planning: ReturnType<typeof createPlanning>;
  readonly runner: QueryRunnerDependencies;
  readonly lake: Lake;
  readonly policyStatements?: PolicyStatements;
  /** Said in the snapshots that statements make. */
  readonly version: string;
}

export interface Statements extends StatementPlannerDependencies {
  /** Rows that a client uploads; answers their number. */
  ingest(target: IngestTarget, rows: UploadedRows, options: IngestOptions): Promise<bigint>;
}

/** Everything a statement needs: planning, and running those that write, which is a part of planning them. */
export function createStatements({
  planning,
  runner,
  lake,
  policyStatements,
  version,
}: StatementsOptions): Statements {
  const { analyzer, catalogsToChange } = planning;
  // Rows that are to stay are made from tables as they are, not as they were a while ago.
  const planner = { ...planning, catalogsOf: catalogsToChange };
  const writing = { planner, analyzer, runner, manifests: lake.manifests, version };
  return {
    ...planning,
    policyStatements,
    divide: runner.scheduler?.divide,
    analyzePlanned: (planned, options) => analyzePlanned(runner, planned, options),
    writeRows: (statement, options) =>
      statement.kind === 'insert'
        ? insertRows(statement, writing, options)
        : createTableAs(statement, writing, options),
    replaceTable: (statement, options) => createOrReplaceTable(statement, writing, options),
    ingest: (target, rows, options) => ingestRows(target, rows, writing, options),
  };
}
