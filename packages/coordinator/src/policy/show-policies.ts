/**
 * SHOW POLICIES and SHOW GRANTS: everything for admins; for others what names one of their roles and is about what is listed to
 * them, and no expression.
 */
import type { ShowGrants, ShowPolicies } from '@svc/sql';
import type { Session } from '../identity/session.js';
import { type TextAnswer, type TextColumn, textAnswer } from '../results/text-answer.js';
import { mayList } from './decide.js';
import { rolesWithPublic, schemaKey, targetKey } from './index-policies.js';
import type { Policy, PolicyTarget, PrivilegeGrant } from './policy.js';
import { isPolicyAdmin, type PolicyStatementDependencies, writtenTarget } from './policy-statements.js';

const targetColumns: readonly TextColumn[] = [
  { name: 'catalog_name', isNullable: false },
  { name: 'schema_name', isNullable: false },
  { name: 'table_name', isNullable: true },
];
const policyColumns: readonly TextColumn[] = [
  { name: 'policy_name', isNullable: false },
  ...targetColumns,
  { name: 'kind', isNullable: false },
  { name: 'column_name', isNullable: true },
  { name: 'expression', isNullable: true },
  { name: 'roles', isNullable: false },
  { name: 'except_roles', isNullable: false },
  { name: 'origin', isNullable: false },
];
const grantColumns: readonly TextColumn[] = [
  { name: 'privilege', isNullable: false },
  ...targetColumns,
  { name: 'role', isNullable: false },
  { name: 'origin', isNullable: false },
];

type Row = readonly (string | null)[];

export function showPolicies(
  statement: ShowPolicies | ShowGrants,
  {
    policies,
    adminRole,
    catalogsOf,
  }: Pick<PolicyStatementDependencies, 'policies' | 'adminRole' | 'catalogsOf'>,
  session: Session,
): TextAnswer {
  const target = statement.on && writtenTarget(statement.on, session, catalogsOf(session));
  const current = policies.current();
  const isAdmin = isPolicyAdmin(session, adminRole);
  // A policy for a role gives it no privilege: it may name a table that is not listed to who has the role.
  const identity = { ...session.identity, isNameVerified: false };
  const isListed = (each: PolicyTarget): boolean => isAdmin || mayList(current, identity, each);
  const concerns = (each: PolicyTarget): boolean =>
    (target === undefined || holdsOf(each, target)) && isListed(each);
  // Others are told of their own roles only, and not who else there is.
  const own = new Set(rolesWithPublic(session.identity.roles));
  const isTold = isAdmin ? () => true : (role: string) => own.has(role);
  if (statement.kind === 'show-grants') {
    const grants = current.grants.filter((each) => concerns(each.target) && isTold(each.role));
    return textAnswer(grantColumns, sorted(grants.map(grantRow)));
  }
  const rows = current.policies.flatMap((policy) => {
    if (!concerns(policy.target)) return [];
    const roles = policy.roles.filter(isTold);
    const except = policy.except.filter(isTold);
    if (roles.length + except.length === 0) return [];
    const expression = isAdmin ? policy.rule.expression : null;
    return [policyRow({ ...policy, roles, except }, expression)];
  });
  return textAnswer(policyColumns, sorted(rows));
}

/** Of a table: what is on it and on its schema. Of a schema: what is on it and on anything in it. */
function holdsOf(rule: PolicyTarget, asked: PolicyTarget): boolean {
  if (schemaKey(rule) !== schemaKey(asked)) return false;
  return asked.table === undefined || rule.table === undefined || targetKey(rule) === targetKey(asked);
}

function policyRow({ name, origin, target, rule, roles, except }: Policy, expression: string | null): Row {
  return [
    name,
    ...targetCells(target),
    rule.kind === 'row-filter' ? 'ROW FILTER' : 'COLUMN MASK',
    rule.kind === 'row-filter' ? null : rule.column,
    expression,
    roles.join(', '),
    except.join(', '),
    origin,
  ];
}

function grantRow({ privilege, target, role, origin }: PrivilegeGrant): Row {
  return [privilege, ...targetCells(target), role, origin];
}

function targetCells({ catalog, schema, table }: PolicyTarget): Row {
  return [catalog, schema, table ?? null];
}

/** By code points, whatever the machine's language is. */
function sorted(rows: readonly Row[]): readonly Row[] {
  const keyed = rows.map((row) => ({ row, key: JSON.stringify(row) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ row }) => row);
}
