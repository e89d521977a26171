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
  /** Of calls that have not been answered: a flood of wrong passwords must not push out those that were right. */
  const underWay = new Map<string, BasicSession>();
  const accepted = new Map<string, BasicSession>();

  const keep = (key: string, entry: BasicSession): void => {
    accepted.delete(key);
    for (const [oldest] of accepted) {
      if (accepted.size < MAX_BASIC_SESSIONS) break;
      accepted.delete(oldest);
    }
    accepted.set(key, entry);
  };

  const signInBasic = (key: string, credentials: Credentials, context: CallContext): Promise<string> => {
    const bearer = backend.signIn(credentials, context);
    const entry = { bearer, expiresAt: now() + BASIC_SESSION_MS };
    const leave = () => {
      if (underWay.get(key) === entry) underWay.delete(key);
    };
    underWay.set(key, entry);
    bearer.then(() => {
      leave();
      keep(key, entry);
    }, leave);
    return bearer;
  };

  const knownOf = (key: string): BasicSession | undefined => {
    const known = accepted.get(key);
    return known !== undefined && known.expiresAt > now() ? known : underWay.get(key);
  };

  const authenticateBasic = async (
    credentials: Credentials,
    context: CallContext,
  ): Promise<Authenticated<S>> => {
    const key = hashOf(credentials, context);
    const known = knownOf(key);
    if (known !== undefined) {
      try {
        const bearer = await known.bearer;
        return { bearer, session: await backend.session(bearer, context) };
      } catch (error) {
        // Ended or refused meanwhile, or another call's sign-in failed: this call tries for itself.
        if (context.signal.aborted) throw error;
        if (accepted.get(key) === known) accepted.delete(key);
      }
    }
    const bearer = await signInBasic(key, credentials, context);
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
