import type { IdentityProvider } from '../identity/identity-provider.js';
import { decide, mayList } from './decide.js';
import type { Policies } from './open-policies.js';
import type { PolicyEnforcer } from './policy-enforcer.js';

export interface EnforcerOptions {
  readonly policies: Pick<Policies, 'current'>;
  /** `auth.admin_role`. */
  readonly adminRole: string;
  readonly identityKind: IdentityProvider['kind'];
}

/** The rules of this process, as statements ask for them. */
export function createEnforcer({ policies, adminRole, identityKind }: EnforcerOptions): PolicyEnforcer {
  return {
    version: () => policies.current().version,
    // With client credentials anybody may type any name.
    identityOf: ({ identity: { username, roles } }) => ({
      username,
      roles,
      isNameVerified: identityKind !== 'client_credentials',
    }),
    isAdmin: ({ roles }) => roles.includes(adminRole),
    decide: (identity, target, privilege) => decide(policies.current(), identity, target, privilege),
    mayList: (identity, target) => mayList(policies.current(), identity, target),
  };
}
