import { QueryError } from '@svc/base';
import type { Authentication } from './authentication.js';
import type { Identity, IdentityProvider, SignInOrigin } from './identity-provider.js';

/** Answers whose bearer it is, where that is an admin's. */
export type AdminGate = (bearer: string, origin: SignInOrigin) => Promise<Identity>;

/**
 * Spec sections 5.6 and 7. Throws UNAUTHENTICATED for everybody while no identity provider is configured (the local user
 * is an admin in SQL only), PERMISSION_DENIED without the role, and what `Authentication.identityOf` throws.
 */
export function createAdminGate(
  authentication: Pick<Authentication, 'identityOf'>,
  { kind }: Pick<IdentityProvider, 'kind'>,
  adminRole: string,
): AdminGate {
  return async (bearer, origin) => {
    if (kind === 'local')
      throw new QueryError(
        'UNAUTHENTICATED',
        'Nobody is an admin here: no identity provider is configured (`auth.idp_url`, `auth.token_endpoint`).',
      );
    const identity = await authentication.identityOf(bearer, origin);
    if (!identity.roles.includes(adminRole))
      throw new QueryError(
        'PERMISSION_DENIED',
        `This endpoint is for users with the role ${JSON.stringify(adminRole)} (\`auth.admin_role\`).`,
      );
    return identity;
  };
}
