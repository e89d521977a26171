/** What policies say of rows that are added: a filter is a check on them, and what a mask hides is not written. */
import { randomUUID } from 'node:crypto';
import { QueryError } from '@svc/base';
import { engineColumns, engineType, type TargetColumn } from '@svc/fragment-fn';
import type { LoadedTable } from '@svc/lake';
import { quoteIdentifier, quoteString } from '@svc/sql';
import type { Session } from '../identity/session.js';
import { ownerOf, type PlannerDependencies } from '../planner/planner-dependencies.js';
import { compilePolicies } from './compile-expressions.js';
import type { RestrictedTable } from './policy.js';
import { bothDecisions, denied, hidesAnything, targetOf } from './policy-enforcer.js';

export interface InsertOptions {
  readonly session: Session;
  /** As SQL names it. */
  readonly catalog: string;
  readonly table: LoadedTable;
  readonly columns: readonly TargetColumn[];
  readonly signal: AbortSignal;
}

export interface InsertRules {
  /** The query of the rows, which fails on the first one that the user's filters would hide. */
  checked(sql: string): string;
  /** Says in words what such a failure is. */
  failure(error: unknown): unknown;
}

const noRules: InsertRules = { checked: (sql) => sql, failure: (error) => error };

/** Throws PERMISSION_DENIED, before anything is said of the table. */
export function permitInsert(
  { policies }: Pick<PlannerDependencies, 'policies'>,
  { session, catalog, table }: Pick<InsertOptions, 'session' | 'catalog' | 'table'>,
): void {
  if (policies === undefined) return;
  const { enforcer } = policies;
  const target = targetOf(catalog, table.identifier);
  const decision = enforcer.decide(enforcer.identityOf(session), target, 'INSERT');
  if (decision.kind === 'refused') throw denied(target, 'INSERT');
}

/** Throws PERMISSION_DENIED, and POLICY_NOT_APPLICABLE for filters that rows cannot be checked by. */
export async function insertRules(
  { policies }: Pick<PlannerDependencies, 'policies'>,
  { session, catalog, table, columns, signal }: InsertOptions,
): Promise<InsertRules> {
  if (policies === undefined) return noRules;
  const { enforcer, texts } = policies;
  const identity = enforcer.identityOf(session);
  const target = targetOf(catalog, table.identifier);
  const decision = bothDecisions(
    enforcer.decide(identity, target, 'INSERT'),
    enforcer.restrictionsOf?.(table),
  );
  if (decision.kind === 'refused') throw denied(target, 'INSERT');
  if (!hidesAnything(decision)) return noRules;
  const name = `${target.catalog}.${target.schema}.${target.table}`;
  refuseMasked(decision, columns, name);
  if (decision.filters.length === 0) return noRules;
  const fields = columns.map(({ field }) => field);
  const compiled = await compilePolicies({ filters: decision.filters, masks: new Map() }, name, {
    ...{ texts, identity, signal, table: target.table, owner: ownerOf(session, policies) },
    columns: engineColumns(fields).map((column) => column.name),
    mapping: async () => {
      throw new QueryError('NOT_SUPPORTED', 'Inserted rows are not checked by filters with subqueries.');
    },
  });
  const hasDefaults = columns.some(
    ({ field, position }) => position === undefined && (field.writeDefault ?? null) !== null,
  );
  // What cannot be seen here as it will be written is not written.
  if (compiled.usesStatementValues || hasDefaults)
    throw new QueryError(
      'POLICY_NOT_APPLICABLE',
      `A policy of ${name} cannot be applied; ask who administers it.`,
    );
  if (session.settings.timeZone !== 'UTC' && mayHaveZone(columns, compiled.filters))
    throw new QueryError(
      'POLICY_NOT_APPLICABLE',
      `A policy of ${name} may depend on the time zone: SET timezone = 'UTC' to add rows.`,
    );
  const mark = `svc policy check ${randomUUID()}`;
  return {
    checked: (sql) => checkedSql(sql, { columns, filters: compiled.filters, alias: target.table, mark }),
    failure: (error) =>
      error instanceof QueryError && error.message.includes(mark)
        ? new QueryError(
            'POLICY_CHECK_FAILED',
            `A row is not one that you may add to ${name}: nothing was written.`,
          )
        : error,
  };
}

const zoned = /TIME ZONE|TIMESTAMPTZ|TIMETZ|to_timestamp|strptime|\bnow\(/i;

/** Rows are checked in the session's zone, and policies speak of UTC. */
function mayHaveZone(columns: readonly TargetColumn[], filters: readonly string[]): boolean {
  return [...columns.map(({ field }) => engineType(field.type)), ...filters].some((text) => zoned.test(text));
}

/** His values of the column are not the table's: what he read and writes back would destroy them. */
function refuseMasked({ masks }: RestrictedTable, columns: readonly TargetColumn[], name: string): void {
  for (const { field, position } of columns)
    if (position !== undefined && masks.has(field.name.toLowerCase()))
      throw new QueryError(
        'PERMISSION_DENIED',
        `You may not write column ${JSON.stringify(field.name)} of ${name}, of which you see no values.`,
      );
}

interface Check {
  readonly columns: readonly TargetColumn[];
  readonly filters: readonly string[];
  readonly alias: string;
  readonly mark: string;
}

/** The filters see the row as the table will have it; the query's own columns are passed on by position. */
function checkedSql(sql: string, { columns, filters, alias, mark }: Check): string {
  const count = Math.max(0, ...columns.map(({ position = -1 }) => position + 1));
  const sources = Array.from({ length: count }, (_none, index) => quoteIdentifier(`svc source ${index}`));
  const values = columns.map(({ field, position }) => {
    const source = position === undefined ? 'NULL' : `q.${sources[position]}`;
    return `CAST(${source} AS ${engineType(field.type)}) AS ${quoteIdentifier(field.name)}`;
  });
  const inner = `SELECT ${[...sources.map((source) => `q.${source}`), ...values].join(', ')} FROM (${sql}\n) AS q(${sources.join(', ')})`;
  const condition = filters.map((filter) => `(${filter})`).join(' AND ');
  return (
    `SELECT ${sources.join(', ')} FROM (${inner}) AS ${quoteIdentifier(alias)} ` +
    `WHERE CASE WHEN ${condition} THEN true ELSE error(${quoteString(mark)}) END`
  );
}
