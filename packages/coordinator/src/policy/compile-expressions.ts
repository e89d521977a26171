/** What policies say of one table, as SQL over that table for one identity. */
import { QueryError } from '@svc/base';
import {
  type PolicyContext,
  readPolicyExpression,
  rewriteTables,
  type TableReference,
  type TableTarget,
  tableKey,
  writeSerializedSql,
} from '@svc/sql';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { SessionSettings } from '../identity/session-settings.js';
import { isInformationSchema } from '../information-schema/names.js';
import { placeOf, type TablePlace } from '../planner/names.js';
import type { AppliedExpression, PolicyIdentity, RestrictedTable } from './policy.js';
import type { PolicyTexts } from './policy-texts.js';

export interface CompileOptions {
  readonly texts: PolicyTexts;
  readonly identity: PolicyIdentity;
  readonly table: string;
  readonly columns: readonly string[];
  readonly owner: string;
  readonly signal: AbortSignal;
  /** Makes a mapping table readable; answers where. */
  mapping(reference: TableReference): Promise<TableTarget>;
}

/** Where a table lies that a policy of a table of this place reads. Throws NOT_SUPPORTED for what is made by the service. */
export function mappingPlace(
  reference: TableReference,
  settings: SessionSettings,
  catalogs: CatalogDirectory,
): TablePlace {
  const place = placeOf(reference, settings, catalogs);
  if (isInformationSchema(place.identifier.namespace))
    throw new QueryError('NOT_SUPPORTED', 'A policy reads tables only, and none of information_schema.');
  return place;
}

export interface CompiledExpression {
  readonly sql: string;
  /** It asks for the moment of the statement. */
  readonly usesStatementValues: boolean;
  readonly hasSubquery: boolean;
}

/** Throws what reading the expression throws, and what `mapping` throws. */
export async function compileExpression(
  expression: string,
  { texts, identity, table, columns, owner, signal, mapping }: CompileOptions,
): Promise<CompiledExpression> {
  const context: PolicyContext = {
    ...{ table, columns },
    user: identity.isNameVerified ? identity.username : undefined,
    hasRole: (role) => identity.roles.includes(role),
  };
  const answer = await texts.parse(expression, owner, signal);
  const { parsed, gated } = readPolicyExpression(expression, answer, context);
  const targets = new Map<string, TableTarget>();
  for (const reference of gated.tables) targets.set(tableKey(reference), await mapping(reference));
  const query = rewriteTables(parsed, (reference) => targets.get(tableKey(reference)));
  const sql = await texts.print(writeSerializedSql(parsed, query), owner, signal);
  return { sql, usesStatementValues: gated.usesStatementValues, hasSubquery: gated.tables.length > 0 };
}

export interface CompiledPolicies {
  readonly filters: readonly string[];
  /** By column name in lower case. */
  readonly masks: ReadonlyMap<string, string>;
  readonly usesStatementValues: boolean;
  readonly hasSubquery: boolean;
}

/**
 * Throws POLICY_NOT_APPLICABLE, which names the table and nothing else: what a policy says is for admins. Where the failure
 * may pass (a catalog that does not answer), its code is kept.
 */
export async function compilePolicies(
  { filters, masks }: Pick<RestrictedTable, 'filters' | 'masks'>,
  tableName: string,
  options: CompileOptions,
): Promise<CompiledPolicies> {
  const compile = async ({ expression, policy }: AppliedExpression) => {
    try {
      return await compileExpression(expression, options);
    } catch (error) {
      options.signal.throwIfAborted();
      throw notApplicable(error, tableName, policy);
    }
  };
  const all: CompiledExpression[] = [];
  const found: string[] = [];
  for (const filter of filters) {
    const compiled = await compile(filter);
    all.push(compiled);
    found.push(compiled.sql);
  }
  const columns = new Set(options.columns.map((name) => name.toLowerCase()));
  const maskSql = new Map<string, string>();
  for (const [column, mask] of masks) {
    if (!columns.has(column))
      throw notApplicable(
        new QueryError('BINDING_ERROR', `There is no column ${column}.`),
        tableName,
        mask.policy,
      );
    const compiled = await compile(mask);
    all.push(compiled);
    maskSql.set(column, compiled.sql);
  }
  return {
    filters: found,
    masks: maskSql,
    usesStatementValues: all.some((each) => each.usesStatementValues),
    hasSubquery: all.some((each) => each.hasSubquery),
  };
}

/** The cause is for the log. */
export function notApplicable(cause: unknown, tableName: string, policy?: string): QueryError {
  const error = QueryError.from(cause);
  const message = `A policy of ${tableName} cannot be applied; ask who administers it.`;
  const detail = new Error(`${policy ?? 'a policy'}: ${error.message}`, { cause });
  if (error.code === 'CANCELLED' || error.code === 'QUERY_TIMEOUT') return error;
  const passes = error.category === 'external' && error.retryable;
  return new QueryError(passes ? error.code : 'POLICY_NOT_APPLICABLE', message, { cause: detail });
}
