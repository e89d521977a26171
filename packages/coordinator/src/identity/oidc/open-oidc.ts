/** The parts that speak with an identity provider, put together by the configuration. */
import type { Config, Metrics } from '@svc/base';
import type { CheckPassword } from '../sign-in-door.js';
import { type AccessTokens, createAccessTokens } from './access-token.js';
import { createClientCredentials } from './client-credentials.js';
import { createDiscovery, type ProviderMetadata, realmUrl } from './discovery.js';
import type { KeptDocument } from './kept-document.js';
import { createKeySet } from './key-set.js';
import { createPasswordGrant } from './password-grant.js';
import { createProviderClient, type ProviderClient } from './provider-client.js';
import { createTokenEndpoint } from './token-endpoint.js';
import { unavailable } from './unavailable.js';

/** Access tokens as bearers. */
export interface OidcBearers {
  /** Absent where no access token is taken as a bearer. */
  readonly accessTokens: AccessTokens | undefined;
  close(): void;
}

export interface Oidc extends OidcBearers {
  readonly checkPassword: CheckPassword;
}

export interface OidcOptions {
  readonly config: Config;
  readonly metrics: Metrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
}

/** Users sign in with their own passwords, at the realm's token endpoint. */
export function openPasswordGrant(options: OidcOptions, idpUrl: string): Oidc {
  const { config, elapsed } = options;
  const client = openClient(options);
  const providerUrl = realmUrl(idpUrl, config['auth.realm']);
  const metadata = openDiscovery(options, client, providerUrl);
  const accessTokens = openAccessTokens(options, client, metadata);
  const endpoint = createTokenEndpoint({
    client,
    url: async () => {
      const { tokenEndpoint } = await metadata.get();
      if (tokenEndpoint === undefined)
        throw unavailable('has no `token_endpoint` in its discovery document', { retryable: false });
      return tokenEndpoint;
    },
    ...clientOf(options),
  });
  const clock = { elapsed, random: Math.random };
  return {
    checkPassword: createPasswordGrant({ endpoint, accessTokens, clock }),
    accessTokens: config['auth.audience'].length === 0 ? undefined : accessTokens,
    close: client.close,
  };
}

/** Every session acts as the service principal. Access tokens are taken of `auth.issuer`, where there is one. */
export function openClientCredentials(options: OidcOptions, tokenEndpoint: string): Oidc {
  const { config, elapsed } = options;
  const client = openClient(options);
  return {
    checkPassword: createClientCredentials({
      endpoint: createTokenEndpoint({ client, url: async () => tokenEndpoint, ...clientOf(options) }),
      handshakePassword: config['auth.handshake_password'],
      clock: { elapsed, random: Math.random },
    }),
    ...bearersOfIssuer(options, client),
  };
}

/** Access tokens of `auth.issuer`, beside users who are not the provider's. */
export function openBearers(options: OidcOptions): OidcBearers {
  return bearersOfIssuer(options, openClient(options));
}

function bearersOfIssuer(options: OidcOptions, client: ProviderClient): OidcBearers {
  const issuer = options.config['auth.issuer'];
  return {
    accessTokens:
      issuer === undefined
        ? undefined
        : openAccessTokens(options, client, openDiscovery(options, client, issuer)),
    close: client.close,
  };
}

function openClient({ config, metrics, elapsed }: OidcOptions): ProviderClient {
  const client = createProviderClient({
    timeoutMs: config['auth.idp_timeout_secs'] * 1000,
    metrics,
    elapsed,
  });
  metrics.identityBreaker.readFrom(() => {
    const { state } = client.breaker;
    return {
      closed: Number(state === 'closed'),
      half_open: Number(state === 'half_open'),
      open: Number(state === 'open'),
    };
  });
  return client;
}

function openDiscovery(
  { config, elapsed }: OidcOptions,
  client: ProviderClient,
  providerUrl: string,
): KeptDocument<ProviderMetadata> {
  return createDiscovery({
    client,
    providerUrl,
    issuer: config['auth.issuer'] ?? providerUrl,
    allowHttp: config['auth.allow_http'],
    elapsed,
  });
}

function openAccessTokens(
  { config, now, elapsed }: OidcOptions,
  client: ProviderClient,
  metadata: KeptDocument<ProviderMetadata>,
): AccessTokens {
  return createAccessTokens({
    metadata,
    keySet: createKeySet({ client, metadata, elapsed }),
    audience: config['auth.audience'],
    algorithms: config['auth.algorithms'],
    clockSkewSecs: config['auth.clock_skew_secs'],
    usernameClaim: config['auth.username_claim'],
    now,
  });
}

function clientOf({ config, now }: OidcOptions) {
  return { clientId: config['auth.client_id'] ?? '', clientSecret: config['auth.client_secret'], now };
}
