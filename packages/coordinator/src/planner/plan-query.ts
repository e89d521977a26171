import { QueryError } from '@svc/base';
import type { StatementDescription } from '@svc/engine';
import {
  type FragmentRequest,
  type FragmentTable,
  fragmentProtocolVersion,
  type WholeColumns,
} from '@svc/fragment-fn';
import type { ObjectStore } from '@svc/lake';
import {
  deserializeQuery,
  hasSample,
  inlineParameters,
  isLeakproofQuery,
  writeSerializedSql,
} from '@svc/sql';
import { type ResolvedFiles, withFileTables } from '../files/file-relations.js';
import type { Session } from '../identity/session.js';
import type { SessionSettings } from '../identity/session-settings.js';
import { fragmentViews, type GuardMode, type ResolvedView } from '../policy/policy-view.js';
import { hasExecutors } from '../scheduler/executors.js';
import type { AnalyzedQuery } from './analyze.js';
import { linkBindingTime } from './binding-time.js';
import { chooseJoinKeys } from './choose-join-keys.js';
import type { AppliedPolicies } from './guard-relations.js';
import { parameterLiterals } from './parameter-literals.js';
import { planTables } from './plan-tables.js';
import { ownerOf, type PlannerDependencies } from './planner-dependencies.js';
import {
  type BoundParameters,
  describeAllParameters,
  engineParameters,
  pointsWithParameters,
} from './point-parameters.js';
import { resolveRelations } from './resolve-relations.js';
import { type ResolvedTable, storeOf } from './resolve-tables.js';
import { statementLane } from './statement-lane.js';
import { statementSetup } from './statement-setup.js';
import { planWithCache } from './stub-plan-cache.js';
import { engineSession, type StubPlan } from './stub-planning.js';
import { pinReferences, type TimeTravelOptions } from './time-travel.js';
import { withoutExcerpt } from './without-excerpt.js';

export interface QueryPlan {
  readonly fragment: Omit<FragmentRequest, 'queryId'>;
  /** One per table of the fragment. */
  readonly stores: readonly (ObjectStore | undefined)[];
  /** The tables of the fragment, as they were pinned. */
  readonly reads: readonly ResolvedTable[];
  readonly stub: StubPlan;
  readonly policies: AppliedPolicies;
  readonly settings: SessionSettings;
  /** The moment of the statement, in milliseconds since 1970. */
  readonly nowMs: number;
}

export interface PlanOptions {
  readonly query: AnalyzedQuery;
  readonly session: Session;
  /** Arrow IPC stream of one row. */
  readonly parameters?: Uint8Array | undefined;
  readonly signal: AbortSignal;
  /** The fragment's text will stand in another one, which asks conditions of what it answers. */
  readonly isWrapped?: boolean;
}

interface BoundQuery {
  readonly sql: string;
  /** Those of `sql`: all of the statement's but the ones that decide on points in time only. */
  readonly parameters: BoundParameters;
  /** What these are called in the statement. */
  readonly kept: readonly string[];
  readonly tables: readonly ResolvedTable[];
  readonly views: readonly ResolvedView[];
  readonly policies: AppliedPolicies;
  /** The session's as they were then: what is planned with them runs with them, whatever is SET meanwhile. */
  readonly settings: SessionSettings;
  /** Trusted statements that give now(), current_user and their kin one value for planning and running. */
  readonly setup: readonly string[];
  readonly nowMs: number;
}

/**
 * The statement's tables, pinned, and its text for the engine. Only time travel changes the text: otherwise it stays the
 * user's own, letter by letter.
 */
async function bindQuery(
  dependencies: PlannerDependencies,
  { query, session, signal, parameters }: PlanOptions,
  isDescribed = false,
): Promise<BoundQuery> {
  const { settings } = session;
  const given: BoundParameters = { identifiers: query.gated.parameters, values: parameters };
  const files = await resolveFiles(dependencies, query, session, signal);
  const parsed = withFileTables(query.parsed, files);
  const times: TimeTravelOptions = {
    ...{ session, signal, nowMs: dependencies.now().getTime() },
    parameters: isDescribed ? 'not bound yet' : given,
  };
  const { references, rewritten } = await pinReferences(dependencies, { parsed, gated: query.gated }, times);
  const relations = await resolveRelations(dependencies, { ...times, requests: references });
  const { views, policies, usesStatementValues } = relations;
  if (policies.isGuarded && (policies.hasSample || hasSample(parsed)))
    throw new QueryError('NOT_SUPPORTED', 'A sample cannot be taken where policies hide rows of a table.');
  if (query.gated.hasUnnamedColumns) refuseRowLineage(relations.tables);
  const tables = [...relations.tables, ...files.map(({ table }) => table)];
  const setup =
    query.gated.usesStatementValues || usesStatementValues ? statementSetup({ ...times, settings }) : [];
  const changed = rewritten ?? (files.length === 0 ? undefined : writeSerializedSql(parsed, parsed.query));
  const { nowMs } = times;
  const bound = {
    tables,
    views,
    policies,
    settings,
    setup,
    nowMs,
    parameters: given,
    kept: given.identifiers,
  };
  if (changed === undefined) return { ...bound, sql: query.parsed.sql };
  const lease = await dependencies.pool.lease({
    owner: ownerOf(session, dependencies.policies),
    lane: 'small',
    signal,
  });
  try {
    const sql = await lease.queryText(deserializeQuery, [changed], signal);
    return {
      ...bound,
      ...(pointsWithParameters(query.gated).length === 0 ? { sql } : engineParameters(sql, given)),
    };
  } finally {
    await lease.release();
  }
}

/** The engine would take the columns of row lineage for columns like all others. */
function refuseRowLineage(tables: readonly ResolvedTable[]): void {
  for (const { schema, table, source } of tables)
    if (source.kind === 'iceberg' && source.lineage.length > 0)
      throw new QueryError(
        'NOT_SUPPORTED',
        `A statement that reads ${source.lineage.map(({ name }) => name).join(' or ')} of ${schema}.${table} lists columns by name only, without *, COLUMNS or NATURAL JOIN.`,
      );
}

/** The files that the statement names, as tables. */
async function resolveFiles(
  { files, policies }: PlannerDependencies,
  { gated }: AnalyzedQuery,
  session: Session,
  signal: AbortSignal,
): Promise<readonly ResolvedFiles[]> {
  const { fileReads } = gated;
  if (fileReads.length === 0) return [];
  if (files === undefined) throw new QueryError('INTERNAL_ERROR', 'Files are read by the command line only.');
  return await files.resolve(fileReads, { owner: ownerOf(session, policies), signal });
}

/** Result schema and parameters of a query, without planning its scans. */
export async function describeQueryStatement(
  dependencies: PlannerDependencies,
  options: PlanOptions,
): Promise<StatementDescription> {
  const { query, session, signal } = options;
  const bound = await bindQuery(dependencies, options, true);
  const description = await describeBound(dependencies, options, bound);
  if (pointsWithParameters(query.gated).length === 0) return description;
  const lease = await dependencies.pool.lease({
    owner: ownerOf(session, dependencies.policies),
    lane: 'small',
    signal,
  });
  try {
    const { kept } = bound;
    return await describeAllParameters(lease, { description, kept, gated: query.gated }, signal);
  } finally {
    await lease.release();
  }
}

/**
 * A table at a point that a parameter will tell is taken for what it is now. That is a guess, which Flight SQL allows and
 * JDBC needs: its driver takes a statement that announces no columns for an update. Where columns are named that the
 * table does not have now, those that it had are taken too.
 */
async function describeBound(
  dependencies: PlannerDependencies,
  options: PlanOptions,
  bound: BoundQuery,
): Promise<StatementDescription> {
  try {
    return (await planBound(dependencies, options, bound)).stub.description;
  } catch (error) {
    const isGuess = bound.tables.some((table) => table.everyColumn !== undefined);
    if (!isGuess || !(error instanceof QueryError) || error.code !== 'BINDING_ERROR') throw error;
    const tables = bound.tables.map((table) => ({ ...table, columns: table.everyColumn ?? table.columns }));
    return await planBound(dependencies, options, { ...bound, tables }).then(
      ({ stub }) => stub.description,
      () => Promise.reject(error),
    );
  }
}

interface BoundPlan {
  readonly stub: StubPlan;
  readonly guardMode: GuardMode;
}

/**
 * Where policies hide rows, they are hidden by a view like any other only if nothing of the statement can tell of them, in
 * the text and in the plan; else by one that the engine moves no condition into.
 */
async function planBound(
  dependencies: PlannerDependencies,
  options: PlanOptions,
  bound: BoundQuery,
): Promise<BoundPlan> {
  const { query } = options;
  const plan = (guardMode: GuardMode) => planGuarded(dependencies, options, { ...bound, guardMode });
  if (!bound.policies.isGuarded) return { stub: await plan('plain'), guardMode: 'plain' };
  const isLeakproof =
    options.isWrapped !== true &&
    isLeakproofQuery(query.parsed, { isView: false }) &&
    bound.views.every((view) => view.isLeakproof !== false);
  if (isLeakproof) {
    const stub = await plan('plain');
    if (stub.guardProblem === undefined) return { stub, guardMode: 'plain' };
  }
  const stub = await plan('barrier');
  if (stub.guardProblem === undefined) return { stub, guardMode: 'barrier' };
  dependencies.policies?.logger.log('error', 'statement refused: its plan may compute on hidden rows', {
    error_detail: stub.guardProblem,
  });
  throw new QueryError(
    'NOT_SUPPORTED',
    'The statement cannot be run where policies hide rows: it cannot be shown that it looks at none of them. Write it in a simpler way.',
  );
}

async function planGuarded(
  { pool, plans, distribution, policies }: PlannerDependencies,
  { query, session, signal }: PlanOptions,
  bound: BoundQuery & { readonly guardMode: GuardMode },
): Promise<StubPlan> {
  const { identifiers, values: parameters } = bound.parameters;
  const literals =
    parameters === undefined || bound.tables.length === 0
      ? undefined
      : parameterLiterals(parameters, identifiers);
  return await planWithCache({
    ...bound,
    cache: plans,
    parameters,
    keepPlan: distribution !== undefined && hasExecutors(distribution.executors),
    inlinedSql: literals && inlineParameters(bound.sql, literals),
    onLease: async (body) => {
      const lease = await pool.lease({ owner: ownerOf(session, policies), lane: 'small', signal });
      using link = linkBindingTime(signal);
      try {
        return await body(lease, link.signal);
      } catch (error) {
        throw bound.sql === query.parsed.sql ? error : withoutExcerpt(error);
      } finally {
        await lease.release();
      }
    },
  });
}

/** Plans a query against the tables as they are now. The answer reads exactly the snapshots pinned here. */
export async function planQuery(dependencies: PlannerDependencies, options: PlanOptions): Promise<QueryPlan> {
  const { session, signal } = options;
  const bound = await bindQuery(dependencies, options);
  const { values: parameters } = bound.parameters;
  const owner = ownerOf(session, dependencies.policies);
  const { stub, guardMode } = await planBound(dependencies, options, bound);
  const { isGuarded } = bound.policies;
  const tables = await planTables(dependencies, bound.tables, stub.requests, signal);
  const { settings } = bound;
  const wholeColumns = isGuarded ? undefined : wholeColumnsOf(stub, tables);
  const stores = bound.tables.map(storeOf);
  // How much of a table is read must not depend on rows that are hidden.
  const joinKeys = await chooseJoinKeys(isGuarded ? [] : stub.joinKeys, {
    tables,
    stores,
    pruning: dependencies.keyPruning,
    signal,
  });
  return {
    stub,
    settings,
    nowMs: bound.nowMs,
    stores,
    reads: bound.tables,
    policies: bound.policies,
    fragment: {
      ...engineSession(bound.tables, settings),
      views: fragmentViews(bound.views, guardMode, stub.showsGatheredOrder),
      protocolVersion: fragmentProtocolVersion,
      fragmentId: 0,
      lane: statementLane(options.query),
      owner,
      sql: bound.sql,
      setup: [...stub.settings, ...bound.setup],
      tables,
      ...(joinKeys.length > 0 && { joinKeys }),
      ...(parameters === undefined ? {} : { parameters }),
      arrow: 'client',
      ...(wholeColumns && { wholeColumns }),
      limits: {
        ...dependencies.limits,
        timeoutMs: settings.queryTimeoutMs ?? dependencies.limits.timeoutMs,
        resultBytes: settings.maxResultBytes ?? dependencies.limits.resultBytes,
      },
    },
  };
}

function wholeColumnsOf(
  { wholeColumns, description }: StubPlan,
  tables: readonly FragmentTable[],
): WholeColumns | undefined {
  const [table] = tables;
  // Rows that are in no file have no pages.
  const all = table?.kind === 'scan' && table.scan.counted === undefined ? table.scan.columns : [];
  // The engine keeps the case in which a name was declared, and no two names differ in case only.
  const columns = wholeColumns?.map((name) => all.findIndex((column) => column.name === name));
  return columns === undefined || columns.includes(-1) ? undefined : { columns, schema: description.schema };
}
