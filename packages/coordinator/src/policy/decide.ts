/** What holds of a table for an identity. Pure: whoever asks says who, what and by which rules. */
import {
  type IndexedPolicies,
  looksRuled,
  rolesWithPublic,
  schemaKey,
  type TargetRules,
  targetKey,
} from './index-policies.js';
import {
  type AppliedExpression,
  type Policy,
  type PolicyIdentity,
  type PolicyTarget,
  type Privilege,
  privileges,
  type TableDecision,
} from './policy.js';

/** `origin:name`, as audit log, EXPLAIN and messages to admins name it. */
export function policyLabel({ origin, name }: Pick<Policy, 'origin' | 'name'>): string {
  return `${origin}:${name}`;
}

/**
 * Privileges come first: where any grant names the table or its schema, the identity needs one. Then filters and masks: those of all
 * policies for one of its roles, less those that except one, hold together; where there are some and none is for it, it is refused,
 * unless one excepts it. The default is for what nothing names. `target` is a table or view as its catalog spells it.
 */
export function decide(
  policies: IndexedPolicies,
  identity: PolicyIdentity,
  target: PolicyTarget,
  privilege: Privilege,
): TableDecision {
  const rules = rulesFor(policies, target);
  if (rules === undefined)
    return refused('its catalog may take it for another that a rule names, and none names this one');
  if (rules.length === 0)
    return policies.default === 'allow'
      ? { kind: 'unrestricted' }
      : refused('nothing names the table, and policy.default is deny');
  const roles = rolesWithPublic(identity.roles);
  if (hasGrants(rules) && !isGranted(rules, roles, privilege))
    return refused(`no role of the user has the privilege ${privilege}`);
  return restrictions(rules, roles);
}

/**
 * Whether the name of a table, a view or a schema is told to the identity: where it may do anything with it. Of a schema that is
 * asked of the rules alone: a table in it that they do not name may be there, or may be made.
 */
export function mayList(policies: IndexedPolicies, identity: PolicyIdentity, target: PolicyTarget): boolean {
  if (hasAnyPrivilege(policies, identity, target)) return true;
  if (target.table !== undefined) return false;
  // What the schema's own rules keep from it, only rules that name one of its roles can open again.
  const tablesOfRole = policies.tablesInSchema.get(schemaKey(target));
  if (tablesOfRole === undefined) return false;
  for (const role of rolesWithPublic(identity.roles))
    for (const table of tablesOfRole.get(role)?.values() ?? [])
      if (hasAnyPrivilege(policies, identity, table)) return true;
  return false;
}

function hasAnyPrivilege(policies: IndexedPolicies, identity: PolicyIdentity, target: PolicyTarget): boolean {
  return privileges.some((each) => decide(policies, identity, target, each).kind !== 'refused');
}

/**
 * What is said of the schema and of the table. Undefined where they do not name one of the two as it was asked for, and the catalog
 * may answer another by its name that they do name.
 */
function rulesFor(policies: IndexedPolicies, target: PolicyTarget): readonly TargetRules[] | undefined {
  const { catalog, schema, table } = target;
  const found: TargetRules[] = [];
  for (const each of table === undefined ? [target] : [{ catalog, schema }, target]) {
    const rules = policies.rulesOf.get(targetKey(each));
    if (rules !== undefined) found.push(rules);
    else if (looksRuled(policies, each)) return undefined;
  }
  return found;
}

function hasGrants(rules: readonly TargetRules[]): boolean {
  return rules.some(({ privilegesOfRole }) => privilegesOfRole.size > 0);
}

function isGranted(rules: readonly TargetRules[], roles: readonly string[], privilege: Privilege): boolean {
  return rules.some(({ privilegesOfRole }) =>
    roles.some((role) => privilegesOfRole.get(role)?.has(privilege) === true),
  );
}

function restrictions(rules: readonly TargetRules[], roles: readonly string[]): TableDecision {
  if (rules.every(({ policiesOfRole }) => policiesOfRole.size === 0)) return { kind: 'unrestricted' };
  const excepting = policiesOf(rules, roles, 'exceptionsOfRole');
  const matching = [...policiesOf(rules, roles, 'policiesOfRole')].filter((each) => !excepting.has(each));
  if (matching.length === 0 && excepting.size === 0)
    return refused(
      'the table has filters or masks, and none of them is for a role of the user or excepts one',
    );
  return combined(matching);
}

function policiesOf(
  rules: readonly TargetRules[],
  roles: readonly string[],
  by: 'policiesOfRole' | 'exceptionsOfRole',
): ReadonlySet<Policy> {
  const found = new Set<Policy>();
  for (const each of rules)
    for (const role of roles) for (const policy of each[by].get(role) ?? []) found.add(policy);
  return found;
}

/** All filters, and one mask for each column: of two that differ nobody could say which of them hides enough. */
function combined(matching: readonly Policy[]): TableDecision {
  const filters = new Map<string, AppliedExpression>();
  const masks = new Map<string, AppliedExpression>();
  for (const policy of matching) {
    const { rule } = policy;
    const applied = { policy: policyLabel(policy), expression: rule.expression };
    if (rule.kind === 'row-filter') {
      if (!filters.has(rule.expression)) filters.set(rule.expression, applied);
      continue;
    }
    const column = rule.column.toLowerCase();
    const other = masks.get(column);
    if (other !== undefined && other.expression !== rule.expression)
      return refused(`the masks of ${other.policy} and ${applied.policy} for one column differ`);
    if (other === undefined) masks.set(column, applied);
  }
  return { kind: 'restricted', filters: [...filters.values()], masks, applied: matching.map(policyLabel) };
}

function refused(reason: string): TableDecision {
  return { kind: 'refused', reason };
}
