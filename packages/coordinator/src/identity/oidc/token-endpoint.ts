/** The token endpoint exchange of spec section 2.2. */
import { QueryError } from '@svc/base';
import type { SessionTokens } from '../identity-provider.js';
import { isGranted, type JsonObject, type ProviderAnswer, type ProviderClient } from './provider-client.js';
import { unavailable } from './unavailable.js';

export interface GrantedTokens extends SessionTokens {
  readonly lifetimeMs: number;
}

export interface TokenEndpoint {
  /**
   * Throws UNAUTHENTICATED when the provider refuses what was given (`invalid_grant`) and IDENTITY_PROVIDER_UNAVAILABLE
   * for everything else, retryable unless only another configuration would help.
   */
  exchange(grant: Grant): Promise<GrantedTokens>;
}

/** The fields of spec section 2.2 beside `client_id` and `client_secret`. */
export type Grant =
  | { readonly grant_type: 'password'; readonly username: string; readonly password: string }
  | { readonly grant_type: 'refresh_token'; readonly refresh_token: string }
  | { readonly grant_type: 'client_credentials' };

export interface TokenEndpointOptions {
  readonly client: ProviderClient;
  readonly url: () => Promise<string>;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const maxTokenLength = 64 * 1024;
/** No token lives that long; a greater number is a mistake, such as milliseconds or a point in time. */
const maxLifetimeSecs = 10 * 366 * 86_400;

/** The reasons of RFC 6749 section 5.2: only these are repeated in messages, never another text of an answer. */
const knownErrors: ReadonlySet<unknown> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
]);

/** No `scope` is sent: providers then give a client its default ones, and an ID token (`openid`) has no use here. */
export function createTokenEndpoint(options: TokenEndpointOptions): TokenEndpoint {
  const { client, clientId, clientSecret, now } = options;
  return {
    async exchange(grant) {
      const form = new URLSearchParams({
        ...grant,
        client_id: clientId,
        ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      });
      const url = await options.url();
      // The lifetime began at the provider after this: the expiry is never told too late.
      const askedAtMs = now();
      const answer = await client.post(grant.grant_type, url, form);
      if (!isGranted(answer.status) || answer.body === undefined) throw refusal(answer, grant);
      return readTokens(answer.body, askedAtMs);
    },
  };
}

function refusal({ status, body }: ProviderAnswer, grant: Grant): QueryError {
  const { error } = body ?? {};
  const reason = knownErrors.has(error) ? String(error) : 'no reason';
  // Where the grant is this service's own secret, no user can give a better one.
  if (reason === 'invalid_grant' && grant.grant_type !== 'client_credentials')
    return new QueryError('UNAUTHENTICATED', 'The identity provider refused the credentials.');
  if (status === 429) return unavailable('has too many requests to answer: try again in a moment');
  return unavailable(
    `refuses this service with status ${status} (${reason}): check \`auth.client_id\` and \`auth.client_secret\`, and that the client may use this grant`,
    { retryable: false },
  );
}

function readTokens(body: JsonObject, askedAtMs: number): GrantedTokens {
  const { access_token: accessToken, refresh_token: given, token_type: type, expires_in } = body;
  // Some providers write null for what they do not give.
  const refreshToken = given ?? undefined;
  if (!isToken(accessToken)) throw unavailable('gave no access token');
  if (refreshToken !== undefined && !isToken(refreshToken))
    throw unavailable('gave a refresh token that is none');
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw unavailable('gave a token whose `token_type` is not Bearer');
  const lifetimeMs = readLifetime(expires_in) * 1000;
  return { accessToken, refreshToken, lifetimeMs, expiresAtMs: askedAtMs + lifetimeMs };
}

function readLifetime(seconds: unknown): number {
  if (seconds === undefined) throw unavailable('gave a token without `expires_in`');
  if (typeof seconds !== 'number' || !(seconds >= 1) || seconds > maxLifetimeSecs)
    throw unavailable(
      `gave a token whose \`expires_in\` is not a number of seconds from 1 to ${maxLifetimeSecs}`,
    );
  return seconds;
}

/** It will stand in a header, so it must fit into one. */
function isToken(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxTokenLength && /^[\x21-\x7e]+$/.test(value);
}
