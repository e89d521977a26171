/** CREATE POLICY, DROP POLICY, GRANT and REVOKE: by admins, and only on what the catalog shows them. */
import { type Logger, QueryError } from '@svc/base';
import type { CreatePolicy, PolicyChange, WrittenTarget } from '@svc/sql';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { Session } from '../identity/session.js';
import { isInformationSchema } from '../information-schema/names.js';
import { loadRelation } from '../planner/load-relation.js';
import { namespaceOf, placeOf, schemaName, writtenName } from '../planner/names.js';
import type { Policies } from './open-policies.js';
import type { Policy, PolicyTarget, PrivilegeGrant } from './policy.js';
import type { PolicyMutation } from './policy-change.js';

export interface PolicyStatementDependencies {
  readonly policies: Policies;
  /** `auth.admin_role`. */
  readonly adminRole: string;
  /**
   * Whether the expression can be applied to the target, as the session's user sees it: throws SYNTAX_ERROR, BINDING_ERROR and the like, written
   * for the admin.
   */
  validate(policy: Policy, session: Session, signal: AbortSignal): Promise<void>;
  /** Asked of the catalog itself: what is to be protected is there now. */
  catalogsOf(session: Session): CatalogDirectory;
  readonly logger: Logger;
}

export interface PolicyStatementOptions {
  readonly session: Session;
  readonly signal: AbortSignal;
}

export function isPolicyAdmin({ identity }: Session, adminRole: string): boolean {
  return identity.roles.includes(adminRole);
}

/** Does what the statement says, durably; answers a line that says what was done. Throws PERMISSION_DENIED before anything is looked at. */
export async function changePolicies(
  statement: PolicyChange,
  dependencies: PolicyStatementDependencies,
  options: PolicyStatementOptions,
): Promise<string> {
  const { policies, adminRole, logger } = dependencies;
  const { session, signal } = options;
  if (!isPolicyAdmin(session, adminRole))
    throw new QueryError('PERMISSION_DENIED', 'Policies and privileges are changed by admins only.');
  const { mutation, done, names } = await planChange(statement, dependencies, options);
  const before = policies.current().version;
  await policies.change(mutation, signal);
  const isChanged = policies.current().version !== before;
  // Names only: expressions may hold values.
  if (isChanged)
    logger.log('info', 'an admin changed policies', {
      username: session.identity.username,
      session_id: session.label,
      change: statement.kind,
      ...names,
    });
  return isChanged ? done : `${done.replace(/\.$/, '')}: nothing had to be changed.`;
}

interface PlannedChange {
  readonly mutation: PolicyMutation;
  readonly done: string;
  readonly names: Readonly<Record<string, string>>;
}

async function planChange(
  statement: PolicyChange,
  dependencies: PolicyStatementDependencies,
  options: PolicyStatementOptions,
): Promise<PlannedChange> {
  switch (statement.kind) {
    case 'create-policy': {
      const { name, orReplace } = statement;
      const policy = await newPolicy(statement, dependencies, options);
      return {
        mutation: { kind: 'create-policy', policy, orReplace },
        done: `Policy ${name} holds on ${targetText(policy.target)}.`,
        names: { policy: name, target: targetText(policy.target) },
      };
    }
    case 'drop-policy': {
      const { name, ifExists } = statement;
      return {
        mutation: { kind: 'drop-policy', name, ifExists },
        done: `Policy ${name} was dropped.`,
        names: { policy: name },
      };
    }
    case 'grant':
    case 'revoke': {
      const { kind, privileges, roles } = statement;
      const { session, signal } = options;
      const catalogs = dependencies.catalogsOf(session);
      // What is gone can still be revoked.
      const target =
        kind === 'grant'
          ? await existingTarget(statement.on, session, catalogs, signal)
          : writtenTarget(statement.on, session, catalogs);
      const grants = roles.flatMap((role) =>
        privileges.map((privilege): PrivilegeGrant => ({ privilege, target, role, origin: 'sql' })),
      );
      const list = privileges.join(', ');
      const [verb, preposition] = kind === 'grant' ? ['granted', 'to'] : ['revoked', 'from'];
      return {
        mutation: { kind, grants },
        done: `${list} on ${targetText(target)} was ${verb} ${preposition} ${roles.join(', ')}.`,
        names: { privileges: list, target: targetText(target), roles: roles.join(', ') },
      };
    }
  }
}

async function newPolicy(
  { name, on, rule, roles, except }: CreatePolicy,
  { catalogsOf, validate }: PolicyStatementDependencies,
  { session, signal }: PolicyStatementOptions,
): Promise<Policy> {
  const catalogs = catalogsOf(session);
  const target = await existingTarget(on, session, catalogs, signal);
  const policy: Policy = { name, origin: 'sql', target, rule, roles, except };
  await validate(policy, session, signal);
  return policy;
}

/** As the catalog spells it. Throws TABLE_NOT_FOUND, SCHEMA_NOT_FOUND, CATALOG_NOT_FOUND. */
async function existingTarget(
  on: WrittenTarget,
  session: Session,
  catalogs: CatalogDirectory,
  signal: AbortSignal,
): Promise<PolicyTarget> {
  if (on.kind === 'schema') {
    const target = writtenTarget(on, session, catalogs);
    const { catalog } = catalogs.get(target.catalog);
    if (!(await catalog.namespaceExists(namespaceOf(target.schema), { signal })))
      throw new QueryError(
        'SCHEMA_NOT_FOUND',
        `There is no schema ${JSON.stringify(target.schema)} in catalog ${JSON.stringify(target.catalog)}.`,
      );
    return target;
  }
  const relation = await loadRelation(on.name, session.settings, catalogs, signal);
  const [catalog, schema, table] = relation.path;
  if (relation.kind === 'computed')
    throw new QueryError(
      'INVALID_ARGUMENT',
      `${catalog}.${schema}.${table} is made by the service: what it shows follows the policies of the tables that it is about.`,
    );
  return { catalog, schema, table };
}

/** Completed by the session's defaults, whether it is there or not. */
export function writtenTarget(
  on: WrittenTarget,
  { settings }: Session,
  catalogs: CatalogDirectory,
): PolicyTarget {
  if (on.kind === 'relation') {
    const { catalog, identifier } = placeOf(writtenName(on.name), settings, catalogs);
    return { catalog, schema: schemaName(identifier.namespace), table: identifier.name };
  }
  const [schema = '', catalog = settings.catalog] = [...on.name].reverse();
  if (isInformationSchema(namespaceOf(schema)))
    throw new QueryError('INVALID_ARGUMENT', 'information_schema follows the policies of what it shows.');
  return { catalog: catalogs.get(catalog).name, schema };
}

export function targetText({ catalog, schema, table }: PolicyTarget): string {
  return [catalog, schema, table].filter((part) => part !== undefined).join('.');
}
