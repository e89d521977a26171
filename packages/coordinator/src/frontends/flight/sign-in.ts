import { QueryError } from '@svc/base';
import type { CallContext, Credentials } from '@svc/flight';
import type { Authentication } from '../../identity/authentication.js';

/**
 * Answers the bearer of a session: a new one for a password, the same one for a bearer that has a session, or gets one
 * by being an access token (JDBC's `token=`). Throws INSECURE_TRANSPORT, and what authentication throws.
 */
export async function signIn(
  authentication: Authentication,
  credentials: Credentials,
  context: CallContext,
): Promise<string> {
  if (credentials.kind === 'bearer') {
    await authentication.sessionOf(credentials.token, context);
    return credentials.token;
  }
  if (!context.isConfidential) {
    throw new QueryError(
      'INSECURE_TRANSPORT',
      'Passwords are not taken over an unprotected connection: use TLS (server.tls_cert, server.tls_key), or set server.tls_terminated_upstream when a proxy ends it.',
    );
  }
  return await authentication.signIn(credentials.username, credentials.password, context);
}
