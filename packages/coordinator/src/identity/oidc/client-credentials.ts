/**
 * The client-credentials mode: whoever may sign in acts as the service principal, and the catalog decides what that may
 * do (spec section 5.4). The user name is a label, and there are no roles.
 */
import { isSameSecret } from '../bearer.js';
import {
  type RenewTokens,
  renewalBufferMs,
  type SessionTokens,
  wrongCredentials,
} from '../identity-provider.js';
import type { CheckPassword } from '../sign-in-door.js';
import { type RetryClock, renewWithRetries } from './renew-with-retries.js';
import type { GrantedTokens, TokenEndpoint } from './token-endpoint.js';

export interface ClientCredentialsOptions {
  readonly endpoint: TokenEndpoint;
  readonly handshakePassword: string | undefined;
  readonly clock: RetryClock;
}

interface HeldToken {
  readonly tokens: SessionTokens;
  /** When it is too close to its expiry for a new session, by the monotonic clock: a step of the other one makes no token live longer. */
  readonly usableUntil: number;
}

export function createClientCredentials(options: ClientCredentialsOptions): CheckPassword {
  const { endpoint, handshakePassword, clock } = options;
  let held: HeldToken | undefined;
  let pending: Promise<SessionTokens> | undefined;

  async function request(): Promise<SessionTokens> {
    try {
      const askedAt = clock.elapsed();
      const granted = await endpoint.exchange({ grant_type: 'client_credentials' });
      const tokens = sharedTokens(granted);
      held = { tokens, usableUntil: askedAt + granted.lifetimeMs - renewalBufferMs };
      return tokens;
    } finally {
      pending = undefined;
    }
  }

  /** One token serves all sessions that need one while it is good for more than a minute. */
  async function currentTokens(): Promise<SessionTokens> {
    if (held !== undefined && clock.elapsed() < held.usableUntil) return held.tokens;
    pending ??= request();
    return await pending;
  }

  const renew: RenewTokens = async (old, signal) => {
    if (held?.tokens.accessToken === old.accessToken) held = undefined;
    return await renewWithRetries(currentTokens, signal, clock);
  };

  return async (username, password) => {
    if (handshakePassword !== undefined && !isSameSecret(password, handshakePassword))
      throw wrongCredentials();
    return { identity: { username, roles: [] }, tokens: await currentTokens(), renew };
  };
}

/** There is no refresh token in this mode, whatever the provider gives. */
function sharedTokens({ accessToken, expiresAtMs }: GrantedTokens): SessionTokens {
  return { accessToken, refreshToken: undefined, expiresAtMs };
}
