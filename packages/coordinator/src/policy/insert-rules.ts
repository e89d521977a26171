/** What policies say of rows that are added: a filter is a check on them, and what a mask hides is not written. */
import { QueryError } from '@svc/base';
import type { TargetColumn } from '@svc/fragment-fn';
import type { LoadedTable } from '@svc/lake';
import type { Session } from '../identity/session.js';
import type { QueryPlan } from '../planner/plan-query.js';
import type { PlannerDependencies } from '../planner/planner-dependencies.js';
import { guardedWriteError } from './guarded-error.js';
import { planCheck } from './insert-check.js';
import type { RestrictedTable, TableDecision } from './policy.js';
import { bothDecisions, denied, hidesAnything, targetOf } from './policy-enforcer.js';

/** A table that rows are added to, or one that is being made of them. */
export type TableOfRows = Pick<LoadedTable, 'identifier' | 'metadata' | 'readRestrictions'>;

export interface InsertOptions {
  readonly session: Session;
  /** As SQL names it. */
  readonly catalog: string;
  readonly table: TableOfRows;
  readonly columns: readonly TargetColumn[];
  /** The moment of the statement. */
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** A fragment that writes, without what it shares with others. */
export interface RowsToCheck extends Pick<QueryPlan, 'stores'> {
  readonly fragment: Omit<QueryPlan['fragment'], 'lane'>;
}

export interface InsertRules {
  /** The rows, which fail on the first one that the user's filters would hide. `isGuarded`: their query reads what is hidden in part. */
  checked(rows: RowsToCheck, isGuarded: boolean): RowsToCheck;
  /** Says in words what such a failure is, and of others no more than may be told. */
  failure(error: unknown): unknown;
  /** Names of the policies. */
  readonly applied: readonly string[];
}

const noRules: InsertRules = { checked: (rows) => rows, failure: (error) => error, applied: [] };

/** Throws PERMISSION_DENIED, before anything is said of the table. */
export function permitInsert(
  { policies }: Pick<PlannerDependencies, 'policies'>,
  { session, catalog, table }: Pick<InsertOptions, 'session' | 'catalog' | 'table'>,
): void {
  if (policies === undefined) return;
  const { enforcer } = policies;
  const target = targetOf(catalog, table.identifier);
  const decision = enforcer.decide(enforcer.identityOf(session), target, 'INSERT');
  if (decision.kind === 'refused') throw denied(target, 'INSERT', decision.reason);
}

/** Throws PERMISSION_DENIED, and POLICY_NOT_APPLICABLE for filters that rows cannot be checked by. */
export async function insertRules(
  dependencies: PlannerDependencies,
  { session, catalog, table, columns, nowMs, signal }: InsertOptions,
): Promise<InsertRules> {
  const { policies } = dependencies;
  if (policies === undefined) return noRules;
  const { enforcer } = policies;
  const target = targetOf(catalog, table.identifier);
  const decision: TableDecision = bothDecisions(
    enforcer.decide(enforcer.identityOf(session), target, 'INSERT'),
    enforcer.restrictionsOf?.(table),
  );
  if (decision.kind === 'refused') throw denied(target, 'INSERT', decision.reason);
  if (!hidesAnything(decision)) return noRules;
  const { filters, applied } = decision;
  const name = `${target.catalog}.${target.schema}.${target.table}`;
  refuseMasked(decision, columns, name);
  if (filters.length === 0) return { ...noRules, applied };
  const check = await planCheck(dependencies, { session, target, columns, filters, nowMs, signal });
  return {
    applied,
    checked: ({ fragment, stores }, isGuarded) => ({
      stores: [...stores, ...check.stores],
      fragment: {
        ...fragment,
        sql: check.checkedSql(fragment.sql, isGuarded),
        setup: [...check.setup, ...fragment.setup],
        tables: [...fragment.tables, ...check.tables],
      },
    }),
    failure(error) {
      if (error instanceof QueryError && error.message.includes(check.mark))
        return new QueryError(
          'POLICY_CHECK_FAILED',
          `A row is not one that you may add to ${name}: nothing was written.`,
        );
      return guardedWriteError(error, name, check.hasSubquery);
    },
  };
}

/** The rules for rows of a table that the same statement makes. Who could change the rules makes it as he likes. */
export async function newTableRules(
  dependencies: PlannerDependencies,
  options: InsertOptions,
): Promise<InsertRules> {
  const { policies } = dependencies;
  if (policies?.enforcer.isAdmin(policies.enforcer.identityOf(options.session)) === true) return noRules;
  return await insertRules(dependencies, options);
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
