/**
 * Planning on stubs: the statement is bound and optimised by an engine host against views over zero-row Parquet files
 * that have the tables' types. No data is near it, and nothing of the optimiser's mind depends on data.
 */
import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { QueryError } from '@svc/base';
import type { EngineLease, StatementDescription } from '@svc/engine';
import {
  type FragmentJoinKeys,
  type FragmentKey,
  qualified,
  sessionStatements,
  stubFileSql,
  stubViewSql,
  viewSql,
} from '@svc/fragment-fn';
import {
  dependsOnTimeZone,
  executionSettings,
  type GuardFacts,
  type GuardingView,
  guardFacts,
  guardProblem,
  joinKeys,
  type KeyColumn,
  type PlainColumns,
  type PlanNode,
  PlanNotUnderstood,
  type PlannedJoinKeys,
  type PlannedScan,
  plainColumns,
  planQuery,
  planSettingStatements,
  readPlan,
  type ScanFilter,
  type ScanRequest,
  scanRequests,
  showsGatheredOrder,
} from '@svc/sql';
import type { SessionSettings } from '../identity/session-settings.js';
import { engineSchemaName } from '../information-schema/names.js';
import { notApplicable } from '../policy/compile-expressions.js';
import { fragmentViews, type GuardMode, hasBarrier, type ResolvedView } from '../policy/policy-view.js';
import { type KeptPlan, keepPlan } from './kept-plan.js';
import type { ResolvedTable } from './resolve-tables.js';

export interface StubPlan {
  readonly description: StatementDescription;
  /** One per table, in their order. */
  readonly requests: readonly ScanRequest[];
  /** What joins say of the tables' rows. */
  readonly joinKeys: readonly TableJoinKeys[];
  readonly withoutPushdown: string | undefined;
  /** Statements to be run before the statement itself. */
  readonly settings: readonly string[];
  /** Its rows come in the order in which the engine gathered those of a correlated subquery. */
  readonly showsGatheredOrder: boolean;
  /** The statement answers these columns of its only table, all rows and nothing else. */
  readonly wholeColumns: readonly string[] | undefined;
  /** Where it was asked for, and is understood. */
  readonly kept: KeptPlan | undefined;
  /** Why the plan does not keep hidden rows from the statement; the statement is not to be run so. */
  readonly guardProblem: string | undefined;
  /** Where policies hide rows and the plan keeps them from the statement: what that was shown by. */
  readonly guards: GuardFacts | undefined;
}

/** As the fragment will have them, whose tables are the statement's. */
export type TableJoinKeys = Pick<FragmentJoinKeys, 'target' | 'source'>;

/** What planning knows of a table. */
export type StubTable = Pick<
  ResolvedTable,
  'catalog' | 'schema' | 'table' | 'columns' | 'rowCount' | 'isGuarded'
>;

export interface StubPlanOptions {
  readonly lease: EngineLease;
  readonly sql: string;
  readonly tables: readonly StubTable[];
  readonly views: readonly ResolvedView[];
  /** How the views of policies keep hidden rows hidden. */
  readonly guardMode: GuardMode;
  readonly settings: SessionSettings;
  /** Trusted statements to run before the statement is bound. */
  readonly setup: readonly string[];
  /** Arrow IPC stream of one row; only its types matter here. */
  readonly parameters?: Uint8Array | undefined;
  /** The text with the parameters' values in it, so that the optimiser sees them. */
  readonly inlinedSql?: string | undefined;
  /** Whether the plan itself may be of use later. */
  readonly keepPlan: boolean;
  readonly signal: AbortSignal;
}

const everything: ScanRequest = { columns: undefined, filters: [] };
const nothingKnown = {
  ...{ joinKeys: [], withoutPushdown: undefined, settings: [], wholeColumns: undefined },
  ...{ kept: undefined, guardProblem: undefined, guards: undefined, showsGatheredOrder: true },
};

/**
 * Binds the statement (result schema, parameters), then asks the optimiser which columns and filters reach each table.
 * Throws BINDING_ERROR and the like.
 */
export async function planOnStubs(options: StubPlanOptions): Promise<StubPlan> {
  const { lease, sql, tables, parameters, signal } = options;
  const planned = options.inlinedSql ?? sql;
  const stubs = await createStubs(options);
  const description = await lease.describe({ sql, ...(parameters && { parameters }) }, signal);
  if (tables.length === 0) return { ...nothingKnown, description, requests: [] };
  await lease.execute(planSettingStatements, signal);
  const answer = await lease.queryText(planQuery, [planned], signal);
  const pushdown = readPushdown(answer);
  if (pushdown.kind === 'unknown') {
    const requests = tables.map(() => everything);
    const settings = executionSettings(undefined);
    const guardProblem = options.views.some(({ guard }) => guard !== undefined) ? pushdown.reason : undefined;
    return {
      ...nothingKnown,
      description,
      requests,
      settings,
      withoutPushdown: pushdown.reason,
      guardProblem,
    };
  }
  const requests = stubs.map((stub) =>
    mergeRequests(pushdown.scans.filter((scan) => scan.stubFile === stub)),
  );
  const plain = tables.length === 1 ? pushdown.plain : undefined;
  const wholeColumns = plain?.stubFile === stubs[0] ? plain?.columns : undefined;
  const keys = tableJoinKeys(pushdown, stubs);
  const { settings } = pushdown;
  // What is planned with a parameter in it is a plan for any value.
  const isComplete = parameters === undefined || options.inlinedSql !== undefined;
  const kept = options.keepPlan && isComplete ? keepPlan(answer, stubs) : undefined;
  return {
    ...{ description, requests, joinKeys: keys, settings, wholeColumns, kept },
    withoutPushdown: undefined,
    showsGatheredOrder: showsGatheredOrder(pushdown.plan),
    ...(await checkGuards(options, pushdown.plan, stubs)),
  };
}

/** A table that is scanned several times is no target: what one join does not need another may. */
function tableJoinKeys(
  { scans, keys }: Extract<Pushdown, { kind: 'known' }>,
  stubs: readonly string[],
): readonly TableJoinKeys[] {
  const tableKey = ({ stubFile, name, type }: KeyColumn): FragmentKey => ({
    table: stubs.indexOf(stubFile),
    name,
    type,
  });
  return keys.flatMap(({ target, source }) => {
    const isScannedOnce = scans.filter(({ stubFile }) => stubFile === target.stubFile).length === 1;
    const [into, from] = [tableKey(target), tableKey(source)];
    return isScannedOnce && into.table !== -1 && from.table !== -1 ? [{ target: into, source: from }] : [];
  });
}

type Pushdown =
  | {
      readonly kind: 'known';
      readonly plan: PlanNode;
      readonly scans: readonly PlannedScan[];
      readonly keys: readonly PlannedJoinKeys[];
      readonly plain: PlainColumns | undefined;
      readonly settings: readonly string[];
    }
  | { readonly kind: 'unknown'; readonly reason: string };

function readPushdown(answer: string): Pushdown {
  try {
    const plan = readPlan(answer);
    return {
      kind: 'known',
      plan,
      scans: scanRequests(plan),
      keys: joinKeys(plan),
      plain: plainColumns(plan),
      settings: executionSettings(plan),
    };
  } catch (error) {
    if (error instanceof PlanNotUnderstood) return { kind: 'unknown', reason: error.message };
    throw error;
  }
}

/**
 * One request for a table that the plan may scan several times: all columns that any scan reads, and rows that any
 * scan may want. A table that the plan does not scan at all is read whole: planning saw no data, so an empty part may
 * only be empty for reasons that hold without it, but reading too much is never wrong.
 */
function mergeRequests(scans: readonly PlannedScan[]): ScanRequest {
  const [first, ...more] = scans.map((scan) => scan.request);
  if (first === undefined) return everything;
  if (more.length === 0) return first;
  const all = [first, ...more];
  const columns = all.some((request) => request.columns === undefined)
    ? undefined
    : [
        ...new Map(
          all.flatMap((request) => request.columns ?? []).map((path) => [JSON.stringify(path), path]),
        ).values(),
      ];
  const filters: readonly ScanFilter[] = all.some((request) => request.filters.length === 0)
    ? []
    : [
        {
          kind: 'or',
          filters: all.map((request): ScanFilter => ({ kind: 'and', filters: request.filters })),
        },
      ];
  return { columns, filters };
}

/** Makes the session and the stub views of the statement; answers the stub files in the order of the tables. */
async function createStubs({
  lease,
  tables,
  views,
  settings,
  setup,
  guardMode,
  signal,
}: StubPlanOptions): Promise<readonly string[]> {
  const files: string[] = [];
  const statements: string[] = [];
  for (const table of tables) {
    const path = join(lease.inputDirectory, stubName(table));
    files.push(path);
    if (!(await exists(path))) statements.push(stubFileSql(path, table.columns));
  }
  statements.push(
    ...sessionStatements({ ...engineSession(tables, settings), tables: [...tables, ...views] }),
  );
  tables.forEach((table, index) => {
    const path = files[index];
    if (path !== undefined) statements.push(stubViewSql(table, path, table.columns, table.rowCount));
  });
  statements.push(...setup);
  if (views.every(({ guard }) => guard === undefined)) statements.push(...views.map(viewSql));
  if (statements.length > 0) await lease.execute(statements, signal);
  if (views.some(({ guard }) => guard !== undefined)) await createGuards(lease, { views, guardMode, signal });
  return files;
}

/** The views one by one, so that a policy that does not fit its table is told from what the user says. */
async function createGuards(
  lease: EngineLease,
  { views, guardMode, signal }: Pick<StubPlanOptions, 'views' | 'guardMode' | 'signal'>,
): Promise<void> {
  const texts = fragmentViews(views, guardMode);
  for (const [index, { guard, catalog, schema, table }] of views.entries()) {
    const view = texts[index];
    if (view === undefined) continue;
    try {
      await lease.execute([viewSql(view)], signal);
    } catch (error) {
      if (guard === undefined) throw error;
      signal.throwIfAborted();
      throw notApplicable(error, guard.shown ?? `${catalog}.${schema}.${table}`);
    }
  }
}

/**
 * What the plan says against the views of policies, as far as they are there: each of them planned alone says what is its
 * own.
 */
async function checkGuards(
  options: StubPlanOptions,
  plan: PlanNode,
  stubs: readonly string[],
): Promise<Pick<StubPlan, 'guardProblem' | 'guards'>> {
  const { views, tables, guardMode } = options;
  const guarding = views.filter(({ guard }) => guard !== undefined);
  if (guarding.length === 0) return { guardProblem: undefined, guards: undefined };
  try {
    const alone: PlannedView[] = [];
    for (const view of guarding) {
      const text = await planAlone(options, view);
      alone.push({ view, text, plan: readPlan(text), hasBarrier: hasBarrier(view, guardMode) });
    }
    await refuseTimeZone(options, alone);
    const hidden = stubs.filter((_stub, index) => tables[index]?.isGuarded === true);
    const guards = guardFacts(alone, hidden);
    return { guardProblem: guards === undefined ? 'broken' : guardProblem(plan, guards), guards };
  } catch (error) {
    if (error instanceof PlanNotUnderstood) return { guardProblem: error.message, guards: undefined };
    throw error;
  }
}

interface PlannedView extends GuardingView {
  readonly view: ResolvedView;
  /** Of its plan. */
  readonly text: string;
}

function planAlone({ lease, signal }: StubPlanOptions, view: ResolvedView): Promise<string> {
  return lease.queryText(planQuery, [`SELECT * FROM ${qualified(view)}`], signal);
}

/**
 * What a policy says of times it says in UTC. Elsewhere it would hide other rows, and whoever may choose where could ask hour by
 * hour for what a mask leaves of a day. Throws POLICY_NOT_APPLICABLE where it would.
 */
async function refuseTimeZone(options: StubPlanOptions, guarding: readonly PlannedView[]): Promise<void> {
  const { lease, settings, signal } = options;
  if (settings.timeZone === 'UTC') return;
  // Nothing is planned on this lease any more.
  await lease.execute(["SET TimeZone = 'UTC'"], signal);
  for (const { view, text, plan } of guarding) {
    if (view.guard?.isPolicy !== true) continue;
    if ((await planAlone(options, view)) === text && !dependsOnTimeZone(plan)) continue;
    const name = view.guard.shown ?? `${view.catalog}.${view.schema}.${view.table}`;
    throw new QueryError(
      'POLICY_NOT_APPLICABLE',
      `A policy of ${name} depends on the time zone: SET timezone = 'UTC' to read it.`,
    );
  }
}

/** What the session means for the engine; also what the fragment gets. */
export function engineSession<T extends Pick<StubTable, 'catalog' | 'schema'>>(
  tables: readonly T[],
  settings: SessionSettings,
) {
  return {
    tables,
    defaultCatalog: settings.catalog,
    defaultSchema: settings.schema === undefined ? undefined : engineSchemaName(settings.schema),
    // An instance starts in UTC: a session that stays there costs it no statement.
    settings: settings.timeZone === 'UTC' ? {} : { TimeZone: settings.timeZone },
  };
}

/** One file per table, so that a scan in the plan names its table; and per column list, so that it may be kept. */
export function stubName(table: Pick<ResolvedTable, 'catalog' | 'schema' | 'table' | 'columns'>): string {
  const columns = table.columns.map(({ name, type }) => [name, type]);
  const identity = JSON.stringify([table.catalog, table.schema, table.table, columns]);
  return `stub-${createHash('sha256').update(identity).digest('hex').slice(0, 32)}.parquet`;
}

export async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
