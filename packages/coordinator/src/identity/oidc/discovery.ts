import { isOpenHttp } from '@svc/base';
import { createKeptDocument, type KeptDocument } from './kept-document.js';
import type { JsonObject, ProviderClient } from './provider-client.js';
import { unavailable } from './unavailable.js';

/** What is used of the provider's metadata (OpenID Connect Discovery 1.0, section 3). */
export interface ProviderMetadata {
  readonly issuer: string;
  readonly tokenEndpoint: string | undefined;
  readonly keysUrl: string;
}

export interface DiscoveryOptions {
  readonly client: ProviderClient;
  /** Where the provider is: the document lies below it. */
  readonly providerUrl: string;
  /** Who it must say it is. A slash at the end makes no difference here, but does in tokens. */
  readonly issuer: string;
  readonly allowHttp: boolean;
  readonly elapsed: () => number;
}

const freshMs = 60 * 60_000;
/** A provider that is down for a day has other tokens when it comes back. */
export const keptWhileDownMs = 24 * 60 * 60_000;

/** Nothing is asked before it is needed, so a provider that is down does not keep the service from starting. */
export function createDiscovery(options: DiscoveryOptions): KeptDocument<ProviderMetadata> {
  const url = `${withoutSlash(options.providerUrl)}/.well-known/openid-configuration`;
  return createKeptDocument({
    load: async () => readMetadata(await options.client.get('discovery', url), options),
    freshMs,
    keptMs: keptWhileDownMs,
    elapsed: options.elapsed,
  });
}

/** The realm's URL in Keycloak's layout; without a realm the base URL is the issuer's own. */
export function realmUrl(baseUrl: string, realm: string | undefined): string {
  return realm === undefined ? baseUrl : `${withoutSlash(baseUrl)}/realms/${encodeURIComponent(realm)}`;
}

function readMetadata(document: JsonObject, { issuer, allowHttp }: DiscoveryOptions): ProviderMetadata {
  const { issuer: given } = document;
  if (typeof given !== 'string' || withoutSlash(given) !== withoutSlash(issuer))
    throw unavailable(
      'names another issuer in its discovery document than the one configured: set `auth.issuer` to what it says',
      { retryable: false },
    );
  const endpoint = (name: string): string | undefined => {
    const value = document[name];
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || !URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
      throw unavailable(`has a \`${name}\` in its discovery document that is no URL`, { retryable: false });
    if (isOpenHttp(value) && !allowHttp)
      throw unavailable(`has a \`${name}\` in its discovery document that is not https`, {
        retryable: false,
      });
    return value;
  };
  const keysUrl = endpoint('jwks_uri');
  if (keysUrl === undefined)
    throw unavailable('has no `jwks_uri` in its discovery document', { retryable: false });
  return { issuer: given, tokenEndpoint: endpoint('token_endpoint'), keysUrl };
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
