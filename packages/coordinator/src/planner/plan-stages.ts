/** From a planned statement to its stages, where it is to be run elsewhere. */
import type { FragmentScan } from '@svc/fragment-fn';
import {
  PlanNotUnderstood,
  type PlannedScan,
  type StagedPlan,
  type StageScan,
  stagePlan,
  stubOf,
} from '@svc/sql';
import type { ExecutionPlace } from '../identity/session-settings.js';
import { arrowFields } from '../results/arrow-fields.js';
import type { ExecutorKinds } from '../scheduler/executors.js';
import {
  type PlannedStageScan,
  type PlannedStages,
  stageName,
  wholePlan,
} from '../scheduler/planned-stages.js';
import { stagesProblem } from './check-stages.js';
import { choosePlace } from './choose-place.js';
import { type KeptPlan, keptPlan } from './kept-plan.js';
import type { QueryPlan } from './plan-query.js';
import { planTables } from './plan-tables.js';
import type { DistributionRules, PlannerDependencies } from './planner-dependencies.js';
import { rowBytes } from './row-bytes.js';

export interface StageDecision {
  /** Nothing: the statement runs here, as one fragment. */
  readonly stages: PlannedStages | undefined;
  readonly reason: string;
}

/** Throws NO_EXECUTOR, and what planning scans throws. */
export async function planStages(
  dependencies: PlannerDependencies,
  plan: QueryPlan,
  execution: ExecutionPlace,
  signal: AbortSignal,
): Promise<StageDecision> {
  const { fragment, stores, stub } = plan;
  const { distribution: rules } = dependencies;
  const place = choosePlace({
    ...{ execution, rules, stores, tables: fragment.tables },
    isWholeColumns: fragment.wholeColumns !== undefined,
    idleHosts: () => dependencies.pool.stats().idle,
  });
  // Whether another place is worth it depends on what is hidden, and so would the reason.
  const placeReason = plan.policies.isGuarded ? 'policies hide rows of its tables' : place.reason;
  if (place.kind === 'here' || rules === undefined) return { stages: undefined, reason: placeReason };
  const isForced = execution !== 'auto';
  const whole = (reason: string): StageDecision => ({
    stages: { plan: wholePlan(fragment.sql), isWhole: true, scans: new Map(), kinds: ['workers'], isForced },
    reason,
  });
  if (isOneWorker(rules, place.kinds)) return whole(`${placeReason}, and there is one worker only`);
  // Where it was asked for, what cannot be divided is some worker's.
  const undivided = (reason: string): StageDecision =>
    execution === 'workers' ? whole(reason) : { stages: undefined, reason };
  const { kept } = stub;
  if (kept === undefined)
    return undivided(stub.withoutPushdown ?? 'its plan has parameters whose values are not in it');
  try {
    const staged = stagedPlan(plan, kept, { mayBroadcastBytes: rules.broadcastBytes, isForced });
    const problem = plan.policies.isGuarded
      ? await hiddenRowsProblem(dependencies, plan, { staged, kept }, signal)
      : undefined;
    if (problem !== undefined) return undivided(problem);
    const scans = await planStageScans(dependencies, plan, { staged, kept }, signal);
    return {
      stages: { plan: withoutGuards(staged), scans, kinds: place.kinds, isForced },
      reason: placeReason,
    };
  } catch (error) {
    if (!(error instanceof PlanNotUnderstood)) throw error;
    return undivided(error.message);
  }
}

/** What was needed to check them is not kept with a planned statement. */
function withoutGuards({ scans, stages }: StagedPlan): StagedPlan {
  return { scans, stages: stages.map(({ guard: _guard, ...stage }) => stage) };
}

/** Where policies hide rows: why the texts of the stages might tell of them. */
async function hiddenRowsProblem(
  dependencies: PlannerDependencies,
  { stub, reads, fragment, settings }: QueryPlan,
  { staged, kept }: { readonly staged: StagedPlan; readonly kept: KeptPlan },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (stub.guards === undefined) return 'policies hide rows of its tables';
  return await stagesProblem(dependencies, {
    ...{ staged, settings, signal, guards: stub.guards, owner: fragment.owner },
    tableOf: (stubFile) => reads[kept.stubFiles.indexOf(stubFile)],
  });
}

/** Its engine has threads for all of a statement: parts of it would only cost what brings them together. */
function isOneWorker({ executors }: DistributionRules, kinds: ExecutorKinds): boolean {
  return !kinds.includes('lambda') && executors.workers().length === 1;
}

interface StagingRules {
  readonly mayBroadcastBytes: number;
  readonly isForced: boolean;
}

/** Where it is forced, also what is not worth it is divided. */
function stagedPlan({ fragment, stub }: QueryPlan, kept: KeptPlan, rules: StagingRules): StagedPlan {
  const plan = keptPlan(kept);
  const tableOf = (stubFile: string): FragmentScan | undefined => {
    const table = fragment.tables[kept.stubFiles.indexOf(stubFile)];
    return table?.kind === 'scan' ? table : undefined;
  };
  const options = {
    names: arrowFields(stub.description.schema).map(({ name }) => name),
    bytesOf: ({ stubFile }: PlannedScan) => tableOf(stubFile)?.scan.counts.bytesPlanned ?? 0,
    rowBytesOf: ({ stubFile, request }: PlannedScan) => {
      const table = tableOf(stubFile);
      return table === undefined ? 0 : rowBytes(table, request.columns);
    },
    mayBroadcastBytes: rules.mayBroadcastBytes,
    levelOfScan: ({ files }: { readonly files: readonly string[] }) =>
      stub.guards?.depths.get(stubOf(files[0] ?? ''))?.most ?? 0,
  };
  try {
    return stagePlan(plan, options);
  } catch (error) {
    if (!rules.isForced || !(error instanceof PlanNotUnderstood)) throw error;
    return stagePlan(plan, { ...options, readWholeBytes: 0 });
  }
}

/** Each scan is pruned by its own filters: what one of several of a table leaves out, another may want. */
async function planStageScans(
  dependencies: PlannerDependencies,
  { fragment, stores, reads, stub }: QueryPlan,
  { staged, kept }: { readonly staged: StagedPlan; readonly kept: KeptPlan },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PlannedStageScan>> {
  const planned = await Promise.all(
    staged.scans.map(async (scan): Promise<readonly [string, PlannedStageScan]> => {
      const index = kept.stubFiles.indexOf(scan.stubFile);
      const [known, read, merged] = [fragment.tables[index], reads[index], stub.requests[index]];
      if (known?.kind !== 'scan' || read === undefined)
        throw new PlanNotUnderstood(`the scan ${scan.name} of no table of the statement`);
      const table =
        merged !== undefined && merged.use === undefined && isSameRequest(merged, scan.request)
          ? known
          : await planScan(dependencies, read, scan, signal);
      return [
        scan.name,
        { table: { ...table, ...stageName(scan.name), filters: scan.request.filters }, store: stores[index] },
      ];
    }),
  );
  return new Map(planned);
}

async function planScan(
  dependencies: PlannerDependencies,
  table: QueryPlan['reads'][number],
  scan: StageScan,
  signal: AbortSignal,
): Promise<FragmentScan> {
  const [planned] = await planTables(dependencies, [table], [scan.request], signal);
  if (planned?.kind !== 'scan') throw new PlanNotUnderstood(`the scan ${scan.name} of no files`);
  return planned;
}

function isSameRequest(left: StageScan['request'], right: StageScan['request']): boolean {
  return requestText(left) === requestText(right);
}

function requestText({ columns, filters }: StageScan['request']): string {
  return JSON.stringify([columns ?? null, filters], (_key, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  });
}
