import type { IdentityProvider } from '../identity/identity-provider.js';
import { catalogRestrictions } from './catalog-restrictions.js';
import { decide, mayList } from './decide.js';
import type { Policies } from './open-policies.js';
import type { PolicyIdentity } from './policy.js';
import type { PolicyEnforcer } from './policy-enforcer.js';

export interface EnforcerOptions {
  readonly policies: Pick<Policies, 'current'>;
  /** `auth.admin_role`. */
  readonly adminRole: string;
  readonly identityKind: IdentityProvider['kind'];
}

/** The rules of this process, as statements ask for them. */
export function createEnforcer({ policies, adminRole, identityKind }: EnforcerOptions): PolicyEnforcer {
  const isAdmin = ({ roles }: Pick<PolicyIdentity, 'roles'>): boolean => roles.includes(adminRole);
  return {
    version: () => policies.current().version,
    // With client credentials anybody may type any name.
    identityOf: ({ identity: { username, roles } }) => ({
      username,
      roles,
      isNameVerified: identityKind !== 'client_credentials',
    }),
    isAdmin,
    decide: (identity, target, privilege) => decide(policies.current(), identity, target, privilege),
    restrictionsOf: catalogRestrictions,
    // Whoever makes the rules must see what they could be about.
    mayList: (identity, target) => isAdmin(identity) || mayList(policies.current(), identity, target),
    mayHideNames(identity) {
      if (isAdmin(identity)) return false;
      const { policies: all, grants, default: otherwise } = policies.current();
      return all.length + grants.length > 0 || otherwise === 'deny';
    },
  };
}
