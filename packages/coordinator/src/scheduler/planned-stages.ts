/** A statement in stages, with what its scans read: pinned and pruned. */
import type { FragmentRequest, FragmentScan } from '@svc/fragment-fn';
import type { ObjectStore } from '@svc/lake';
import { type Stage, type StagedPlan, stageNamespace } from '@svc/sql';
import type { ExecutorKinds } from './executors.js';

export interface PlannedStages {
  readonly plan: StagedPlan;
  /** Its one stage is the statement as the user wrote it, as one fragment on one executor. */
  readonly isWhole?: true;
  /** By their names in the plan. */
  readonly scans: ReadonlyMap<string, PlannedStageScan>;
  readonly kinds: ExecutorKinds;
  /** SET svc.execution asks for it: where it cannot be, that is an error. */
  readonly isForced: boolean;
}

export interface PlannedStageScan {
  readonly table: FragmentScan;
  /** Opens its files with what the user was granted. Never leaves the process but as a grant. */
  readonly store: ObjectStore | undefined;
}

/** The plan of a statement that is not divided, for the places that show it. */
export function wholePlan(sql: string): StagedPlan {
  const stage: Stage = { name: 'statement', sql, columns: [], split: undefined, scans: [], inputs: [] };
  return { scans: [], stages: [stage] };
}

/** What fragments of a statement have of it, whatever stage they are of. */
export type StatementContext = Pick<
  FragmentRequest,
  'queryId' | 'lane' | 'owner' | 'settings' | 'setup' | 'limits' | 'traceparent'
>;

/** A fragment of a stage; its rows are those of its own SQL over the plan's names only. */
export function stageRequest(
  stage: Stage,
  context: StatementContext,
  { fragmentId, tables, arrow }: Pick<FragmentRequest, 'fragmentId' | 'tables' | 'arrow'>,
  protocolVersion: number,
): FragmentRequest {
  return {
    ...context,
    ...{ protocolVersion, fragmentId, tables, arrow },
    sql: stage.sql,
    views: [],
    defaultCatalog: stageNamespace.catalog,
    defaultSchema: stageNamespace.schema,
  };
}

/** The name of a stage or a scan as the stages' texts have it. */
export function stageName(name: string) {
  return { catalog: stageNamespace.catalog, schema: stageNamespace.schema, table: name };
}
