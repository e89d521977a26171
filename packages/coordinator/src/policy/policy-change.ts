/** Changes of the rules that SQL made, as functions from rules to rules. */
import { QueryError } from '@svc/base';
import { targetKey } from './index-policies.js';
import type { Policy, PrivilegeGrant } from './policy.js';
import { maxExpressionLength, type Rules } from './store/rule-document.js';

export type PolicyMutation =
  | { readonly kind: 'create-policy'; readonly policy: Policy; readonly orReplace: boolean }
  | { readonly kind: 'drop-policy'; readonly name: string; readonly ifExists: boolean }
  | { readonly kind: 'grant' | 'revoke'; readonly grants: readonly PrivilegeGrant[] };

const maxRules = 100_000;

/** Answers the rules that it was given where there is nothing to change. Throws ALREADY_EXISTS, POLICY_NOT_FOUND, INVALID_ARGUMENT. */
export function changedRules(rules: Rules, mutation: PolicyMutation): Rules {
  switch (mutation.kind) {
    case 'create-policy':
      return withPolicy(rules, mutation.policy, mutation.orReplace);
    case 'drop-policy':
      return withoutPolicy(rules, mutation.name, mutation.ifExists);
    case 'grant':
      return withGrants(rules, mutation.grants);
    case 'revoke':
      return withoutGrants(rules, mutation.grants);
  }
}

function withPolicy(rules: Rules, policy: Policy, orReplace: boolean): Rules {
  if (policy.rule.expression.length > maxExpressionLength)
    throw new QueryError(
      'INVALID_ARGUMENT',
      `The expression of a policy has at most ${maxExpressionLength} characters.`,
    );
  const index = rules.policies.findIndex((each) => isSameName(each.name, policy.name));
  if (index >= 0 && !orReplace)
    throw new QueryError(
      'ALREADY_EXISTS',
      `There is a policy ${JSON.stringify(policy.name)} already: write CREATE OR REPLACE POLICY to change it.`,
    );
  const policies = index >= 0 ? rules.policies.with(index, policy) : [...rules.policies, policy];
  return bounded({ ...rules, policies });
}

function withoutPolicy(rules: Rules, name: string, ifExists: boolean): Rules {
  const policies = rules.policies.filter((each) => !isSameName(each.name, name));
  if (policies.length < rules.policies.length) return { ...rules, policies };
  if (ifExists) return rules;
  throw new QueryError('POLICY_NOT_FOUND', `There is no policy ${JSON.stringify(name)} that SQL made.`);
}

function withGrants(rules: Rules, grants: readonly PrivilegeGrant[]): Rules {
  const known = new Set(rules.grants.map(grantKey));
  const added = grants.filter((each) => !known.has(grantKey(each)));
  return added.length === 0 ? rules : bounded({ ...rules, grants: [...rules.grants, ...added] });
}

function withoutGrants(rules: Rules, revoked: readonly PrivilegeGrant[]): Rules {
  const keys = new Set(revoked.map(grantKey));
  const grants = rules.grants.filter((each) => !keys.has(grantKey(each)));
  return grants.length === rules.grants.length ? rules : { ...rules, grants };
}

function bounded(rules: Rules): Rules {
  if (rules.policies.length + rules.grants.length <= maxRules) return rules;
  throw new QueryError(
    'INVALID_ARGUMENT',
    `There are ${maxRules} policies and grants, and no more can be made.`,
  );
}

function grantKey({ privilege, target, role }: PrivilegeGrant): string {
  return `${privilege} ${targetKey(target)} ${role}`;
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
