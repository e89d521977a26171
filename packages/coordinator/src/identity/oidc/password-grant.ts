/** The password-grant mode: users of the identity provider, each with tokens of their own (spec sections 5.3 and 3.1). */
import { QueryError } from '@svc/base';
import { type RenewTokens, wrongCredentials } from '../identity-provider.js';
import type { CheckPassword } from '../sign-in-door.js';
import type { AccessTokens, VerifiedToken } from './access-token.js';
import { isJwt } from './jwt-form.js';
import { type RetryClock, renewWithRetries } from './renew-with-retries.js';
import type { GrantedTokens, TokenEndpoint } from './token-endpoint.js';
import { unavailable } from './unavailable.js';

export interface PasswordGrantOptions {
  readonly endpoint: TokenEndpoint;
  readonly accessTokens: AccessTokens;
  readonly clock: RetryClock;
}

/**
 * The session's user is the one that the verified access token names, not the one that was typed: providers take names
 * in any case, and e-mail addresses too, and one person must be one user for caps, ownership and the catalog. Of a token
 * that is not a JWT nothing can be known: the user is then the name as given, with no roles.
 */
export function createPasswordGrant({ endpoint, accessTokens, clock }: PasswordGrantOptions): CheckPassword {
  const renew: RenewTokens = async (tokens, signal) => {
    const { refreshToken } = tokens;
    if (refreshToken === undefined)
      throw new QueryError('UNAUTHENTICATED', 'The identity provider gave no refresh token.');
    const renewed = await renewWithRetries(
      () => endpoint.exchange({ grant_type: 'refresh_token', refresh_token: refreshToken }),
      signal,
      clock,
    );
    return {
      ...sessionTokens(renewed),
      // RFC 6749 section 6: without a new one the old one goes on.
      refreshToken: renewed.refreshToken ?? refreshToken,
      roles: await rolesNow(accessTokens, renewed.accessToken),
    };
  };

  return async (username, password) => {
    // A directory behind the provider may take an empty password for a request to sign in as nobody.
    if (password === '') throw wrongCredentials();
    const granted = await grant(endpoint, username, password);
    const verified = isJwt(granted.accessToken) ? await verify(accessTokens, granted.accessToken) : undefined;
    return {
      identity: verified?.identity ?? { username, roles: [] },
      tokens: sessionTokens(granted),
      renew: granted.refreshToken === undefined ? undefined : renew,
    };
  };
}

async function grant(endpoint: TokenEndpoint, username: string, password: string): Promise<GrantedTokens> {
  try {
    return await endpoint.exchange({ grant_type: 'password', username, password });
  } catch (error) {
    if (error instanceof QueryError && error.code === 'UNAUTHENTICATED') throw wrongCredentials(error);
    throw error;
  }
}

/** Roles are authorization, so the provider's own answer is checked like any bearer. */
async function verify(accessTokens: AccessTokens, token: string): Promise<VerifiedToken> {
  try {
    return await accessTokens.verify(token, 'provider');
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== 'UNAUTHENTICATED') throw error;
    const reason = error.cause instanceof Error ? `: ${error.cause.message}` : '';
    throw unavailable(`gave an access token that is not valid here${reason}`, { retryable: false });
  }
}

/** Undefined where nobody can tell, since there are no keys to check with: a token that is not valid here is no answer. */
async function rolesNow(
  accessTokens: AccessTokens,
  accessToken: string,
): Promise<readonly string[] | undefined> {
  if (!isJwt(accessToken)) return undefined;
  try {
    return (await accessTokens.verify(accessToken, 'provider')).identity.roles;
  } catch (error) {
    if (error instanceof QueryError && error.code === 'IDENTITY_PROVIDER_UNAVAILABLE') return undefined;
    throw error;
  }
}

function sessionTokens({ accessToken, refreshToken, expiresAtMs }: GrantedTokens) {
  return { accessToken, refreshToken, expiresAtMs };
}
