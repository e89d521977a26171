import { QueryError } from '@svc/base';

/** Who may sign in, and as whom. Each way to tell is a folder or file beside this one; `open-identity.ts` chooses. */
export interface Identity {
  readonly username: string;
  /** Of `realm_access.roles`; empty in the client-credentials mode (spec section 5). */
  readonly roles: readonly string[];
}

/** What the token endpoint gave (spec sections 2.1, 2.2). Never leaves this process but to the provider and the catalog. */
export interface SessionTokens {
  readonly accessToken: string;
  /** Of the password grant only. */
  readonly refreshToken: string | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** Tokens that expire within so much time are replaced (spec sections 3.1, 5.4 and 8). */
export const renewalBufferMs = 60_000;

export interface SignedIn {
  readonly identity: Identity;
  /** None for the local user and for static tokens. */
  readonly tokens: SessionTokens | undefined;
  /** What the session's tokens are replaced with before they expire; without, it ends with them. */
  readonly renew: RenewTokens | undefined;
}

/**
 * New tokens in place of ones that are about to expire, retries included. Throws UNAUTHENTICATED when the provider
 * refuses, IDENTITY_PROVIDER_UNAVAILABLE when it does not answer or its circuit breaker is open.
 */
export type RenewTokens = (tokens: SessionTokens, signal: AbortSignal) => Promise<RenewedTokens>;

export interface RenewedTokens extends SessionTokens {
  /** What the new access token says of its user; where it says nothing, roles stay what they were. */
  readonly roles?: readonly string[] | undefined;
}

/** Where an attempt comes from. */
export interface SignInOrigin {
  readonly clientAddress: string;
  readonly signal: AbortSignal;
}

/** The owner of a bearer that was not issued here: an access token or a static token. */
export interface BearerOwner extends SignedIn {
  /** `iss` and `sub` of an access token; of a static token `static` and the user's name. */
  readonly issuer: string;
  readonly subject: string;
}

export interface IdentityProvider {
  readonly kind: 'local' | 'password' | 'client_credentials';
  /**
   * Throws UNAUTHENTICATED with one answer for every cause, SIGN_IN_LIMITED and IDENTITY_PROVIDER_UNAVAILABLE.
   */
  signIn(username: string, password: string, origin: SignInOrigin): Promise<SignedIn>;
  /** Throws UNAUTHENTICATED for a token that is none of its, whatever the reason, and IDENTITY_PROVIDER_UNAVAILABLE. */
  ownerOf(bearer: string, origin: SignInOrigin): Promise<BearerOwner>;
}

/** The one answer to a sign-in that is not right, whatever is wrong with it. */
export function wrongCredentials(cause?: unknown): QueryError {
  return new QueryError('UNAUTHENTICATED', 'The user name or the password is not right.', { cause });
}

/** The one answer to a bearer that is not right, whatever is wrong with it; the log says what. */
export function wrongBearer(cause?: unknown): QueryError {
  return new QueryError('UNAUTHENTICATED', 'The bearer token is not valid here: sign in again.', { cause });
}
