/** Row filters as a check on rows that are added: they see each row as the table will have it, and the first that they would hide fails the query. */
import { randomUUID } from 'node:crypto';
import { QueryError } from '@svc/base';
import {
  engineColumns,
  engineType,
  type FragmentTable,
  leftOutSql,
  qualified,
  type TargetColumn,
} from '@svc/fragment-fn';
import type { ObjectStore } from '@svc/lake';
import { quoteIdentifier, quoteString, type TableReference, type TableTarget } from '@svc/sql';
import { loadingOnce } from '../catalogs/loading-once.js';
import type { Session } from '../identity/session.js';
import { hiddenTable, mappingTable, type Target } from '../planner/guard-relations.js';
import { planTables } from '../planner/plan-tables.js';
import { ownerOf, type PlannerDependencies } from '../planner/planner-dependencies.js';
import { type ResolvedTable, relationKey, storeOf } from '../planner/resolve-tables.js';
import { statementSetup } from '../planner/statement-setup.js';
import { planWithCache } from '../planner/stub-plan-cache.js';
import type { StubTable } from '../planner/stub-planning.js';
import { type CompiledPolicies, compilePolicies, notApplicable } from './compile-expressions.js';
import type { RestrictedTable } from './policy.js';
import { hiddenCatalog } from './policy-view.js';

export interface CheckToPlan {
  readonly session: Session;
  readonly target: Target;
  readonly columns: readonly TargetColumn[];
  readonly filters: RestrictedTable['filters'];
  /** Of the statement: `now()` of its query is that of the check. */
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

export interface PlannedCheck {
  /** Mapping tables, and what opens their files. */
  readonly tables: readonly FragmentTable[];
  readonly stores: readonly (ObjectStore | undefined)[];
  /** Trusted statements to be run before the query. */
  readonly setup: readonly string[];
  readonly hasSubquery: boolean;
  /** In the message of the failure. */
  readonly mark: string;
  /** The query of the rows with the check around it. `isGuarded`: it reads tables whose rows are hidden in part. */
  checkedSql(sql: string, isGuarded: boolean): string;
}

/** Loads the mapping tables as the session's user. Throws POLICY_NOT_APPLICABLE, and what passes as it is. */
export async function planCheck(
  dependencies: PlannerDependencies,
  check: CheckToPlan,
): Promise<PlannedCheck> {
  const { session, target, columns, filters, signal } = check;
  const { policies } = dependencies;
  if (policies === undefined) throw new QueryError('INTERNAL_ERROR', 'There are no policies to check by.');
  const mappings = new Map<string, ResolvedTable>();
  const options = { session, catalogs: loadingOnce(dependencies.catalogsOf(session)), signal };
  const mapping = async (reference: TableReference): Promise<TableTarget> => {
    const table = checkTable(await mappingTable(reference, target, options));
    mappings.set(relationKey(table.schema, table.table), table);
    return { catalog: table.catalog, schema: table.schema, table: table.table };
  };
  const compiled = await compilePolicies({ filters, masks: new Map() }, nameOf(target), {
    texts: policies.texts,
    identity: policies.enforcer.identityOf(session),
    table: target.table,
    columns: columns.map(({ field }) => field.name),
    owner: ownerOf(session, policies),
    signal,
    mapping,
  });
  const tables = [...mappings.values()];
  const types = [
    ...columns.map(({ field }) => engineType(field.type)),
    ...tables.flatMap((table) => table.columns.map(({ type }) => type)),
  ];
  if (session.settings.timeZone !== 'UTC' && [...types, conditionOf(compiled)].some(mayHaveZone))
    throw new QueryError(
      'POLICY_NOT_APPLICABLE',
      `A policy of ${nameOf(target)} may depend on the time zone: SET timezone = 'UTC' to add rows.`,
    );
  const mark = `svc policy check ${randomUUID()}`;
  return {
    ...(await planBound(dependencies, check, compiled, tables)),
    hasSubquery: compiled.hasSubquery,
    mark,
    checkedSql: (sql, isGuarded) =>
      checkedSql(sql, {
        columns,
        condition: conditionOf(compiled),
        alias: target.table,
        mark,
        barrier: isGuarded ? ' OFFSET 0' : '',
      }),
  };
}

/** In a schema of its own: the query may read the same table, and other columns and rows of it. */
function checkTable(table: ResolvedTable): ResolvedTable {
  return { ...hiddenTable(table), schema: JSON.stringify(['check', table.catalog, table.schema]) };
}

/**
 * Binds the check to the table's columns before there is any row, so that one that does not fit them says so as on reading; and what it
 * reads of mapping tables, as the optimiser sees it then.
 */
async function planBound(
  dependencies: PlannerDependencies,
  { session, target, columns, nowMs, signal }: CheckToPlan,
  compiled: CompiledPolicies,
  mappings: readonly ResolvedTable[],
): Promise<Pick<PlannedCheck, 'tables' | 'stores' | 'setup'>> {
  const { pool, plans, policies } = dependencies;
  const setup = compiled.usesStatementValues
    ? statementSetup({ session, settings: session.settings, nowMs })
    : [];
  const added: StubTable = {
    catalog: hiddenCatalog,
    schema: 'added',
    table: target.table,
    columns: engineColumns(columns.map(({ field }) => field)),
    rowCount: 1000n,
  };
  try {
    const { requests } = await planWithCache({
      // In a conjunction the engine binds it as the condition that it is.
      sql: `SELECT ${conditionOf(compiled)} AND true FROM ${qualified(added)} AS ${quoteIdentifier(target.table)}`,
      tables: [...mappings, added],
      views: [],
      guardMode: 'plain',
      settings: session.settings,
      setup,
      keepPlan: false,
      cache: plans,
      onLease: async (body) => {
        const lease = await pool.lease({ owner: ownerOf(session, policies), lane: 'small', signal });
        try {
          return await body(lease, signal);
        } finally {
          await lease.release();
        }
      },
    });
    const tables = await planTables(dependencies, mappings, requests, signal);
    return { tables, stores: mappings.map(storeOf), setup };
  } catch (error) {
    signal.throwIfAborted();
    throw notApplicable(error, nameOf(target));
  }
}

/** Rows are checked in the session's zone, and policies speak of UTC. */
function mayHaveZone(text: string): boolean {
  return /TIME ZONE|TIMESTAMPTZ|TIMETZ|to_timestamp|strptime|\bnow\(/i.test(text);
}

function nameOf({ catalog, schema, table }: Target): string {
  return `${catalog}.${schema}.${table}`;
}

function conditionOf({ filters }: CompiledPolicies): string {
  return filters.map((filter) => `(${filter})`).join(' AND ');
}

interface CheckText {
  readonly columns: readonly TargetColumn[];
  readonly condition: string;
  readonly alias: string;
  readonly mark: string;
  /** Keeps the engine from checking rows that the query does not answer. */
  readonly barrier: string;
}

/** The filters see the row as the table will have it; the query's own columns are passed on by position. */
function checkedSql(sql: string, { columns, condition, alias, mark, barrier }: CheckText): string {
  const count = Math.max(0, ...columns.map(({ position = -1 }) => position + 1));
  const sources = Array.from({ length: count }, (_none, index) => quoteIdentifier(`svc source ${index}`));
  const values = columns.map(({ field, position }) => {
    const source = position === undefined ? leftOutSql(field) : `q.${sources[position]}`;
    return `CAST(${source} AS ${engineType(field.type)}) AS ${quoteIdentifier(field.name)}`;
  });
  const rows = `SELECT * FROM (${sql}\n)${barrier}`;
  const inner = `SELECT ${[...sources.map((source) => `q.${source}`), ...values].join(', ')} FROM (${rows}) AS q(${sources.join(', ')})`;
  return (
    `SELECT ${sources.join(', ')} FROM (${inner}) AS ${quoteIdentifier(alias)} ` +
    `WHERE CASE WHEN ${condition} THEN true ELSE error(${quoteString(mark)}) END`
  );
}
