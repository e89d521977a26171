/** A real OpenID provider in this process: npm's `oidc-provider`, with the password grant that it has not of its own. */
import { createServer, type Server } from 'node:http';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider, { errors, type TokenEndpointGrantContext } from 'oidc-provider';

export interface ProviderUser {
  readonly password: string;
  readonly roles: readonly string[];
}

export interface OidcProvider extends AsyncDisposable {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Requests so far, by path. */
  readonly requests: ReadonlyMap<string, number>;
  /** Signs with a new key from now on; the old ones stay in the key set. */
  rotateKeys(): Promise<void>;
  /** Answers every request with 503 until it is told otherwise. */
  setDown(isDown: boolean): void;
  /** Tokens of a user, as a client of its own gets them. */
  tokensOf(username: string): Promise<{ readonly access_token: string; readonly refresh_token: string }>;
}

export interface OidcProviderOptions {
  readonly users: Readonly<Record<string, ProviderUser>>;
  readonly tokenSeconds?: number;
}

const clientId = 'svc';
const clientSecret = 'the secret of the client svc';
const resource = 'urn:svc';

export async function startOidcProvider(options: OidcProviderOptions): Promise<OidcProvider> {
  const requests = new Map<string, number>();
  const keys: JWK[] = [];
  let isDown = false;
  let handle: ReturnType<Provider['callback']> | undefined;
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.set(path, (requests.get(path) ?? 0) + 1);
    if (isDown || handle === undefined) response.writeHead(503).end('<html>down</html>');
    else void handle(request, response);
  });
  const url = await listen(server);
  const rotateKeys = async () => {
    keys.unshift(await newKey(`key-${keys.length + 1}`));
    handle = newProvider(url, keys, options).callback();
  };
  await rotateKeys();
  return {
    url,
    clientId,
    clientSecret,
    requests,
    rotateKeys,
    setDown(down) {
      isDown = down;
    },
    async tokensOf(username) {
      const password = options.users[username]?.password ?? '';
      const grant = { grant_type: 'password', username, password };
      const body = new URLSearchParams({ ...grant, client_id: clientId, client_secret: clientSecret });
      const response = await fetch(`${url}/token`, { method: 'POST', body });
      const tokens: { access_token: string; refresh_token: string } = JSON.parse(await response.text());
      return tokens;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

async function newKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' };
}

/** Tokens are JWTs for the audience `svc`. All instances of the process share one store of refresh tokens. */
function newProvider(url: string, keys: readonly JWK[], { users, tokenSeconds = 300 }: OidcProviderOptions) {
  const provider = new Provider(url, {
    jwks: { keys: [...keys] },
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['password', 'refresh_token', 'client_credentials'],
        response_types: [],
        redirect_uris: [],
      },
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => resourceServer(tokenSeconds),
      },
    },
    ttl: { RefreshToken: 3600, Grant: 3600 },
    rotateRefreshToken: true,
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    extraTokenClaims: (_context, token) => {
      const username = 'accountId' in token ? token.accountId : undefined;
      if (username === undefined) return undefined;
      return { preferred_username: username, realm_access: { roles: users[username]?.roles ?? [] } };
    },
  });
  provider.registerGrantType<Credentials>(
    'password',
    (context) => grantByPassword(provider, users, tokenSeconds, context),
    ['username', 'password'],
  );
  return provider;
}

interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

function resourceServer(accessTokenTTL: number) {
  return {
    scope: '',
    audience: clientId,
    accessTokenFormat: 'jwt' as const,
    accessTokenTTL,
    jwt: { sign: { alg: 'RS256' as const } },
  };
}

/** User names have no case here, as at Keycloak. */
async function grantByPassword(
  provider: Provider,
  users: OidcProviderOptions['users'],
  tokenSeconds: number,
  context: TokenEndpointGrantContext<Credentials>,
): Promise<void> {
  const { client, params } = context.oidc;
  const accountId = (params.username ?? '').toLowerCase();
  const user = Object.hasOwn(users, accountId) ? users[accountId] : undefined;
  if (user === undefined || user.password !== params.password)
    throw new errors.InvalidGrant('Invalid user credentials');
  const grant = new provider.Grant({ accountId, clientId });
  const grantId = await grant.save();
  const shared = { accountId, client, grantId, gty: 'password', scope: '' };
  const token = new provider.AccessToken({ ...shared });
  token.resourceServer = new provider.ResourceServer(resource, resourceServer(tokenSeconds));
  const refresh = new provider.RefreshToken({ ...shared, resource });
  context.body = {
    access_token: await token.save(),
    refresh_token: await refresh.save(),
    token_type: token.tokenType,
    expires_in: token.expiration,
  };
}
