import { createHash } from 'node:crypto';
import { QueryError } from '@svc/base';
import type { CallContext, Credentials, FlightSqlBackend } from '../backend.js';

/** Bounds of the memory for clients that send Basic with every call. */
const MAX_BASIC_SESSIONS = 1024;
const BASIC_SESSION_MS = 5 * 60_000;

export interface Authenticated<S> {
  readonly session: S;
  readonly bearer: string;
}

export interface Authenticator<S> {
  /** A new session; its bearer. */
  signIn(credentials: Credentials, context: CallContext): Promise<string>;
  /** The session of a call. Throws UNAUTHENTICATED without credentials. */
  authenticate(credentials: Credentials | undefined, context: CallContext): Promise<Authenticated<S>>;
}

interface BasicSession {
  readonly bearer: Promise<string>;
  readonly expiresAt: number;
}

/**
 * Sign-in for one server. A client that sends Basic with every call keeps one session for five minutes, because its
 * prepared statements would otherwise belong to another session with each call; it is remembered by a hash of the
 * credentials, and only after the backend accepted them on a connection as confidential as this one.
 */
export function createAuthenticator<S>(
  backend: Pick<FlightSqlBackend<S>, 'signIn' | 'session'>,
  now: () => number = Date.now,
): Authenticator<S> {
  const basicSessions = new Map<string, BasicSession>();

  const remember = (key: string, credentials: Credentials, context: CallContext): Promise<string> => {
    const bearer = backend.signIn(credentials, context);
    for (const [oldest] of basicSessions) {
      if (basicSessions.size < MAX_BASIC_SESSIONS) break;
      basicSessions.delete(oldest);
    }
    const entry = { bearer, expiresAt: now() + BASIC_SESSION_MS };
    basicSessions.set(key, entry);
    bearer.catch(() => {
      if (basicSessions.get(key) === entry) basicSessions.delete(key);
    });
    return bearer;
  };

  const authenticateBasic = async (
    credentials: Credentials,
    context: CallContext,
  ): Promise<Authenticated<S>> => {
    const key = hashOf(credentials, context);
    const known = basicSessions.get(key);
    if (known !== undefined && known.expiresAt > now()) {
      try {
        const bearer = await known.bearer;
        return { bearer, session: await backend.session(bearer, context) };
      } catch (error) {
        // Ended or refused meanwhile, or another call's sign-in failed: this call tries for itself.
        if (context.signal.aborted) throw error;
        if (basicSessions.get(key) === known) basicSessions.delete(key);
      }
    }
    const bearer = await remember(key, credentials, context);
    return { bearer, session: await backend.session(bearer, context) };
  };

  return {
    signIn: (credentials, context) => backend.signIn(credentials, context),
    async authenticate(credentials, context) {
      if (credentials === undefined)
        throw new QueryError(
          'UNAUTHENTICATED',
          'No credentials: sign in by Handshake, or send an authorization header.',
        );
      if (credentials.kind === 'basic') return authenticateBasic(credentials, context);
      return { bearer: credentials.token, session: await backend.session(credentials.token, context) };
    },
  };
}

function hashOf(credentials: Credentials, context: CallContext): string {
  const secret =
    credentials.kind === 'basic' ? [credentials.username, credentials.password] : [credentials.token];
  return createHash('sha256')
    .update(JSON.stringify([context.isConfidential, context.clientAddress, ...secret]))
    .digest('base64');
}
