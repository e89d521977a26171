/** Access tokens: whether one is the provider's and meant for this service, and what it says of its user. */
import { QueryError } from '@svc/base';
import { errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyResult, jwtVerify } from 'jose';
import { type Identity, wrongBearer } from '../identity-provider.js';
import { isUserName } from '../user-name.js';
import type { ProviderMetadata } from './discovery.js';
import type { KeptDocument } from './kept-document.js';
import type { KeySet } from './key-set.js';
import { isJsonObject } from './provider-client.js';

export interface VerifiedToken {
  readonly issuer: string;
  readonly subject: string;
  readonly identity: Identity;
  /** Milliseconds since 1970, the allowed difference of clocks included. */
  readonly expiresAtMs: number;
}

/**
 * Where a token came from. A client's may be forged; one that the token endpoint gave in exchange for a right password
 * may bring the news that keys have changed.
 */
export type TokenSource = 'client' | 'provider';

export interface AccessTokens {
  /** Throws UNAUTHENTICATED, whose cause says why, and IDENTITY_PROVIDER_UNAVAILABLE when there are no keys to check with. */
  verify(token: string, source: TokenSource): Promise<VerifiedToken>;
}

export interface AccessTokensOptions {
  readonly metadata: KeptDocument<ProviderMetadata>;
  readonly keySet: KeptDocument<KeySet>;
  /** One of them must be in `aud` or be `azp`. */
  readonly audience: readonly string[];
  readonly algorithms: readonly string[];
  readonly clockSkewSecs: number;
  readonly usernameClaim: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * How often a key that is not known makes the keys be loaded again. A token from the provider itself needs no limit: it
 * has cost the provider a request already, and keys loaded a moment ago may be those from before they changed.
 */
const cooldownMs = { client: 30_000, provider: 0 } as const;

export function createAccessTokens(options: AccessTokensOptions): AccessTokens {
  const { metadata, keySet, algorithms, clockSkewSecs, now } = options;

  async function check(token: string, source: TokenSource): Promise<JWTVerifyResult> {
    const { issuer } = await metadata.get();
    return await jwtVerify(token, keyFinder(keySet, source), {
      issuer,
      algorithms: [...algorithms],
      requiredClaims: ['exp', 'sub'],
      clockTolerance: clockSkewSecs,
      currentDate: new Date(now()),
    });
  }

  return {
    async verify(token, source) {
      let result: JWTVerifyResult;
      try {
        result = await check(token, source);
      } catch (error) {
        if (error instanceof QueryError) throw error;
        // What jose says of a token quotes nothing of it; what others say might.
        throw refusal(error instanceof errors.JOSEError ? error.message : 'it is malformed');
      }
      return readClaims(result, options, source);
    },
  };
}

/** A key that is not known is looked for once more among the provider's present keys. */
function keyFinder(keySet: KeptDocument<KeySet>, source: TokenSource): JWTVerifyGetKey {
  return async (header, token) => {
    const keys = await keySet.get();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const renewed = await keySet.renewed(cooldownMs[source]);
      return await renewed(header, token);
    }
  };
}

function readClaims(
  { payload, protectedHeader }: JWTVerifyResult,
  options: AccessTokensOptions,
  source: TokenSource,
): VerifiedToken {
  const { iss, sub, exp, cnf } = payload;
  if (typeof iss !== 'string' || typeof exp !== 'number' || !isUserName(sub))
    throw refusal('its `iss`, `sub` or `exp` is not what it should be');
  if (!isAccessToken(payload, protectedHeader.typ)) throw refusal('it is another kind of token');
  if (cnf !== undefined) throw refusal('it is bound to its sender (`cnf`), which this service cannot check');
  // Without an audience no client's token is taken; the provider's own answer to us is for us.
  const isTrusted = source === 'provider' && options.audience.length === 0;
  if (!isTrusted && !isForUs(payload, options.audience)) throw refusal('it is for another audience');
  const claim = payload[options.usernameClaim];
  if (claim !== undefined && !isUserName(claim)) throw refusal('its claim of the user name is not one');
  return {
    issuer: iss,
    subject: sub,
    identity: { username: claim ?? sub, roles: rolesOf(payload) },
    expiresAtMs: Math.min((exp + options.clockSkewSecs) * 1000, Number.MAX_SAFE_INTEGER),
  };
}

/**
 * Refuses ID, refresh, logout and other tokens where they can be told: by the header's `typ` (RFC 9068 section 2.1), by
 * Keycloak's claim `typ`, and by the hashes that only ID tokens have (OpenID Connect Core 1.0, sections 3.1.3.6 and 3.3.2.11).
 */
function isAccessToken(payload: JWTPayload, headerType: string | undefined): boolean {
  const type = headerType?.toLowerCase().replace(/^application\//, '');
  const { typ } = payload;
  if (type === 'at+jwt') return typ === undefined || typ === 'Bearer';
  if (type !== undefined && type !== 'jwt') return false;
  if (typ !== undefined) return typ === 'Bearer';
  return !['at_hash', 'c_hash', 's_hash', 'nonce', 'events'].some((name) => name in payload);
}

function isForUs({ aud, azp }: JWTPayload, audience: readonly string[]): boolean {
  const named = [...(Array.isArray(aud) ? aud : [aud]), azp];
  return audience.some((each) => named.includes(each));
}

/** Spec section 5.3: `realm_access` is an object that holds a list of role names. What has another form gives none. */
function rolesOf({ realm_access: access }: JWTPayload): readonly string[] {
  const { roles } = isJsonObject(access) ? access : {};
  return Array.isArray(roles) ? roles.filter(isUserName) : [];
}

function refusal(reason: string): QueryError {
  return wrongBearer(new Error(`The access token was refused: ${reason}`));
}
