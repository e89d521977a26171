/** Who owns a bearer that was not issued here: a program with a static token, or a user with an access token. */
import { hash } from 'node:crypto';
import { abortable } from '@svc/base';
import { type BearerOwner, type SignInOrigin, wrongBearer } from './identity-provider.js';
import type { AccessTokens } from './oidc/access-token.js';
import { isJwt } from './oidc/jwt-form.js';
import type { StaticTokens } from './static-tokens.js';

export interface BearerOwners {
  ownerOf(bearer: string, origin: SignInOrigin): Promise<BearerOwner>;
}

/** Longer ones are refused before anything looks into them. */
const maxBearerLength = 16 * 1024;

/**
 * Calls that come at the same time with the same token wait for one verification. A wrong bearer costs no request to
 * the provider, so that nothing limits how many a client may try.
 */
export function createBearerOwners(
  staticTokens: StaticTokens,
  accessTokens: AccessTokens | undefined,
): BearerOwners {
  const underWay = new Map<string, Promise<BearerOwner>>();

  async function verify(tokens: AccessTokens, bearer: string): Promise<BearerOwner> {
    const { issuer, subject, identity, expiresAtMs } = await tokens.verify(bearer, 'client');
    return {
      issuer,
      subject,
      identity,
      tokens: { accessToken: bearer, refreshToken: undefined, expiresAtMs },
      renew: undefined,
    };
  }

  return {
    async ownerOf(bearer, { signal }) {
      if (bearer.length > maxBearerLength) throw wrongBearer(new Error('The bearer is longer than 16 KiB.'));
      const program = staticTokens.ownerOf(bearer);
      if (program !== undefined) return program;
      if (accessTokens === undefined || !isJwt(bearer)) throw wrongBearer();
      const key = hash('sha256', bearer, 'base64');
      let verification = underWay.get(key);
      if (verification === undefined) {
        verification = verify(accessTokens, bearer).finally(() => underWay.delete(key));
        underWay.set(key, verification);
      }
      return await abortable(verification, signal);
    },
  };
}
