import { QueryError } from '@svc/base';
import type { CallContext, Credentials } from '@svc/flight';
import type { IdentityProvider } from '../../identity/identity-provider.js';
import type { SessionStore } from '../../identity/session-store.js';

export interface SignInDependencies {
  readonly sessions: SessionStore;
  readonly identity: IdentityProvider;
}

/**
 * Answers the bearer of a session: a new one for a password, the same one for a bearer that is a session already
 * (JDBC's `token=`). Throws UNAUTHENTICATED, SESSION_EXPIRED or INSECURE_TRANSPORT.
 */
export async function signIn(
  { sessions, identity }: SignInDependencies,
  credentials: Credentials,
  context: CallContext,
): Promise<string> {
  if (credentials.kind === 'bearer') {
    sessions.find(credentials.token);
    return credentials.token;
  }
  if (!context.isConfidential) {
    throw new QueryError(
      'INSECURE_TRANSPORT',
      'Passwords are not taken over an unprotected connection: use TLS (server.tls_cert, server.tls_key), or set server.tls_terminated_upstream when a proxy ends it.',
    );
  }
  const who = await identity.signIn(credentials.username, credentials.password, context.signal);
  return sessions.create(who, context.clientAddress);
}
