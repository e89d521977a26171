/**
 * Whether the texts of stages keep hidden rows from what a statement says. An engine elsewhere optimises each of them again,
 * so each is planned here on stubs before it is sent. What cannot be shown is not divided.
 */
import { join } from 'node:path';
import { QueryError } from '@svc/base';
import type { EngineLease } from '@svc/engine';
import { type EngineColumn, sessionStatements, stubFileSql, stubViewSql } from '@svc/fragment-fn';
import {
  type GuardFacts,
  type PlanNode,
  PlanNotUnderstood,
  planQuery,
  planSettingStatements,
  readPlan,
  type Stage,
  type StagedPlan,
  stageGuardProblem,
  stageNamespace,
  stubOf,
} from '@svc/sql';
import type { SessionSettings } from '../identity/session-settings.js';
import { stageName } from '../scheduler/planned-stages.js';
import { linkBindingTime } from './binding-time.js';
import type { PlannerDependencies } from './planner-dependencies.js';
import type { ResolvedTable } from './resolve-tables.js';
import { engineSession, exists, stubName } from './stub-planning.js';

export interface StagesToCheck {
  readonly staged: StagedPlan;
  readonly guards: GuardFacts;
  /** Of a scan, by the stub that it has in the statement's plan. */
  tableOf(stubFile: string): ResolvedTable | undefined;
  readonly owner: string;
  readonly settings: SessionSettings;
  readonly signal: AbortSignal;
}

/** For people, why the statement is not divided; undefined where nothing of it is computed of hidden rows. */
export async function stagesProblem(
  { pool }: Pick<PlannerDependencies, 'pool'>,
  { staged, guards, tableOf, owner, settings, signal }: StagesToCheck,
): Promise<string | undefined> {
  if ([...guards.plain].some((stub) => guards.depths.has(stub)))
    return 'a table is behind policies in two ways';
  const reading = staged.stages.filter((stage) => readsHidden(stage, staged, guards));
  const lease = await pool.lease({ owner, lane: 'small', signal });
  using link = linkBindingTime(signal);
  try {
    const stubs = await createStageStubs(lease, { staged, tableOf, settings, signal: link.signal });
    for (const stage of reading) {
      const problem = await checkStage(lease, { stage, stubs, guards, signal: link.signal });
      if (problem !== undefined)
        return `it cannot be shown that ${stage.name} computes nothing on hidden rows (${problem})`;
    }
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PlanNotUnderstood) return error.message;
    if (error instanceof QueryError) return 'its stages cannot be planned';
    throw error;
  } finally {
    await lease.release();
  }
}

/** Whether rows that are hidden from the user reach the stage. */
function readsHidden({ guard, split, scans }: Stage, staged: StagedPlan, { guarded }: GuardFacts): boolean {
  if (guard !== undefined) return true;
  const names = split === undefined ? scans : [split, ...scans];
  return staged.scans.some(({ name, stubFile }) => names.includes(name) && guarded.has(stubOf(stubFile)));
}

/** Names of scans and stages, and the stubs that they are in the plans of texts. */
type StageStubs = ReadonlyMap<string, string>;

async function createStageStubs(
  lease: EngineLease,
  { staged, tableOf, settings, signal }: Pick<StagesToCheck, 'staged' | 'tableOf' | 'settings' | 'signal'>,
): Promise<StageStubs> {
  const stubs = new Map<string, string>();
  const statements = [
    ...sessionStatements({ ...engineSession([], settings), tables: [stageNamespace] }),
    ...planSettingStatements,
  ];
  const add = async (name: string, stub: string, columns: readonly EngineColumn[], rowCount: bigint) => {
    const path = join(lease.inputDirectory, stub);
    if (![...stubs.values()].includes(stub) && !(await exists(path)))
      statements.push(stubFileSql(path, columns));
    stubs.set(name, stub);
    statements.push(stubViewSql(stageName(name), path, columns, rowCount));
  };
  for (const { name, stubFile } of staged.scans) {
    const table = tableOf(stubFile);
    if (table === undefined) throw new PlanNotUnderstood(`the scan ${name} of no table of the statement`);
    await add(name, stubOf(stubFile), table.columns, table.rowCount);
  }
  for (const { name, columns } of staged.stages.slice(0, -1))
    await add(name, stubName({ ...stageName(name), columns }), columns, stageRows);
  await lease.execute(statements, signal);
  return stubs;
}

/** Nobody knows how many rows there will be. */
const stageRows = 1000n;

async function checkStage(
  lease: EngineLease,
  {
    stage,
    stubs,
    guards,
    signal,
  }: {
    readonly stage: Stage;
    readonly stubs: StageStubs;
    readonly guards: GuardFacts;
    readonly signal: AbortSignal;
  },
): Promise<string | undefined> {
  const planOf = async (sql: string): Promise<PlanNode> =>
    readPlan(await lease.queryText(planQuery, [sql], signal));
  const { guard, sql } = stage;
  const own: { readonly level: number; readonly plan: PlanNode }[] = [];
  for (const { level, sql: text } of guard?.barriers ?? []) own.push({ level, plan: await planOf(text) });
  const levels = [...(guard?.reads ?? [])].flatMap(([name, level]) => {
    const stub = stubs.get(name);
    return stub === undefined ? [] : ([[stub, level]] as const);
  });
  return stageGuardProblem(
    { plan: await planOf(sql), own, levels: new Map(levels), isHidden: (guard?.level ?? 0) > 0 },
    guards,
  );
}
