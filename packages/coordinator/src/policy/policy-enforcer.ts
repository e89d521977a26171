/** What statements ask of the rules: who the session's user is to them, and what holds of a table for him. */
import { QueryError } from '@svc/base';
import type { LoadedTable, TableIdentifier } from '@svc/lake';
import type { Session } from '../identity/session.js';
import { schemaName } from '../planner/names.js';
import type { RestrictionOptions } from './catalog-restrictions.js';
import type { PolicyIdentity, PolicyTarget, Privilege, RestrictedTable, TableDecision } from './policy.js';

export interface PolicyEnforcer {
  /** Of the rules; other rules have another one. */
  version(): string;
  identityOf(session: Session): PolicyIdentity;
  /** Only they are told what policies say. */
  isAdmin(identity: PolicyIdentity): boolean;
  /** Of a schema: what holds of a table in it that no rule names. */
  decide(identity: PolicyIdentity, target: PolicyTarget, privilege: Privilege): TableDecision;
  /** Of a table, view or schema. */
  mayList(identity: PolicyIdentity, target: PolicyTarget): boolean;
  /** Whether there may be a table or schema that is not listed to the identity. */
  mayHideNames(identity: PolicyIdentity): boolean;
  /** What the table's own catalog asks for, which is applied beside our rules, and where they are not asked. */
  restrictionsOf?(
    loaded: Pick<LoadedTable, 'metadata' | 'readRestrictions'>,
    reading?: RestrictionOptions,
  ): TableDecision | undefined;
}

/** `catalog` is its name in SQL. */
export function targetOf(catalog: string, { namespace, name }: TableIdentifier): Required<PolicyTarget> {
  return { catalog, schema: schemaName(namespace), table: name };
}

/** One text for everybody who may not, whatever the reason, which is for the log: it must not tell whether there are policies. */
export function denied(
  { catalog, schema, table }: PolicyTarget,
  privilege: Privilege,
  reason?: string,
): QueryError {
  const text =
    table === undefined
      ? `${privilege === 'INSERT' ? 'make' : 'drop'} schema ${catalog}.${schema}`
      : `${deeds[privilege]} ${catalog}.${schema}.${table}`;
  const cause = reason === undefined ? {} : { cause: new Error(reason) };
  return new QueryError('PERMISSION_DENIED', `You may not ${text}.`, cause);
}

const deeds: Readonly<Record<Privilege, string>> = {
  SELECT: 'read',
  INSERT: 'add rows to',
  UPDATE: 'change',
  DELETE: 'change',
};

/** What both say must hold. */
export function bothDecisions(first: TableDecision, second: TableDecision | undefined): TableDecision {
  if (second === undefined || second.kind === 'unrestricted' || first.kind === 'refused') return first;
  if (second.kind === 'refused' || first.kind === 'unrestricted') return second;
  const masks = new Map(first.masks);
  for (const [column, mask] of second.masks) {
    const other = masks.get(column);
    if (other !== undefined && other.expression !== mask.expression)
      return { kind: 'refused', reason: `${other.policy} and ${mask.policy} mask the column differently` };
    if (other === undefined) masks.set(column, mask);
  }
  return {
    kind: 'restricted',
    filters: [...first.filters, ...second.filters],
    masks,
    applied: [...first.applied, ...second.applied],
  };
}

/** Whether anything of the table is hidden; policies that leave a user out hide nothing of it. */
export function hidesAnything(decision: TableDecision): decision is RestrictedTable {
  return decision.kind === 'restricted' && decision.filters.length + decision.masks.size > 0;
}
