import { QueryError } from '@svc/base';
import { isOwnBearer } from './bearer.js';
import type { BearerOwner, Identity, IdentityProvider, SignInOrigin } from './identity-provider.js';
import type { Session } from './session.js';
import { type SessionStore, sessionLost } from './session-store.js';

/** Who is calling: the same for every door. */
export interface Authentication {
  /** A new session for a user name and a password; its bearer. Throws what the provider throws, and TOO_MANY_SESSIONS. */
  signIn(username: string, password: string, origin: SignInOrigin): Promise<string>;
  /**
   * The session of a bearer: of one that was issued here, or of an access token or a static token, whose session begins
   * with its first use. Throws SESSION_EXPIRED, SESSION_LOST, UNAUTHENTICATED, IDENTITY_PROVIDER_UNAVAILABLE and
   * TOO_MANY_SESSIONS.
   */
  sessionOf(bearer: string, origin: SignInOrigin): Promise<Session>;
  /**
   * Whose bearer it is, as `sessionOf` has it, for what is done without a session: none begins, and one that there is does
   * not count as used.
   */
  identityOf(bearer: string, origin: SignInOrigin): Promise<Identity>;
}

export function createAuthentication(sessions: SessionStore, identity: IdentityProvider): Authentication {
  return {
    async signIn(username, password, origin) {
      const signedIn = await identity.signIn(username, password, origin);
      return sessions.create(signedIn, origin.clientAddress);
    },
    async sessionOf(bearer, origin) {
      const session = sessions.find(bearer);
      if (session !== undefined) return session;
      return sessions.adopt(bearer, await ownerOf(identity, bearer, origin), origin.clientAddress);
    },
    async identityOf(bearer, origin) {
      const session = sessions.peek(bearer);
      return session?.identity ?? (await ownerOf(identity, bearer, origin)).identity;
    },
  };
}

/** Of a bearer that is none of a session here. */
async function ownerOf(
  identity: IdentityProvider,
  bearer: string,
  origin: SignInOrigin,
): Promise<BearerOwner> {
  try {
    return await identity.ownerOf(bearer, origin);
  } catch (error) {
    if (isOwnBearer(bearer) && error instanceof QueryError && error.code === 'UNAUTHENTICATED')
      throw sessionLost(error);
    throw error;
  }
}
