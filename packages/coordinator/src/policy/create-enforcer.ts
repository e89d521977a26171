import { schemaById } from '@svc/lake';
import type { IdentityProvider } from '../identity/identity-provider.js';
import { catalogRestrictions } from './catalog-restrictions.js';
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
    // At another point of its history the table may have other columns: then what does not fit is refused when it is applied.
    restrictionsOf: (loaded) =>
      loaded.readRestrictions &&
      catalogRestrictions(loaded, { fields: schemaById(loaded.metadata, undefined).fields }),
    mayList: (identity, target) => mayList(policies.current(), identity, target),
    mayHideNames() {
      const { policies: all, grants, default: otherwise } = policies.current();
      return all.length + grants.length > 0 || otherwise === 'deny';
    },
  };
}
