/** An identity provider that a test makes misbehave: every answer can be replaced, every request is kept. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

type Form = Readonly<Partial<Record<string, string>>>;

export interface FaultProvider extends AsyncDisposable {
  /** Its issuer, too. */
  readonly url: string;
  /** Forms sent to the token endpoint, in order. */
  readonly grants: readonly Form[];
  /** Requests for the document of discovery and of the keys. */
  readonly documents: { readonly discovery: number; readonly keys: number };
  /** Replaces answers; `undefined` gives the right one back. */
  readonly answers: { discovery?: Answer | undefined; keys?: Answer | undefined; token?: Answer | undefined };
  /** The keys that the document of keys has. */
  publicKeys: readonly JWK[];
  readonly key: SigningKey;
  /** A right access token, or one that differs by the claims given. */
  sign(claims?: Readonly<Record<string, unknown>>, options?: SignOptions): Promise<string>;
}

export interface SignOptions {
  readonly key?: SigningKey;
  readonly header?: Readonly<Record<string, unknown>>;
}

export interface SigningKey {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly jwk: JWK;
}

export async function newSigningKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export function json(body: unknown, status = 200): Answer {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export function text(body: string, status = 200): Answer {
  return (response) => response.writeHead(status, { 'content-type': 'text/html' }).end(body);
}

/** Making a key of this kind takes long on a busy machine: the providers of one process share it. */
let sharedKey: Promise<SigningKey> | undefined;

/** Users are right whose password is `right`. Claims are those of the user `ada` unless given. */
export async function startFaultProvider(): Promise<FaultProvider> {
  sharedKey ??= newSigningKey('key-1');
  const key = await sharedKey;
  const grants: Form[] = [];
  const documents = { discovery: 0, keys: 0 };
  const answers: FaultProvider['answers'] = {};
  let issued = 0;

  const sign: FaultProvider['sign'] = async (claims = {}, options = {}) => {
    const { privateKey, jwk } = options.key ?? key;
    const now = Math.floor(Date.now() / 1000);
    const payload = { iss: url, sub: 'id-of-ada', azp: 'svc', iat: now, exp: now + 300, ...ada, ...claims };
    return await new SignJWT(payload)
      .setProtectedHeader({ alg: jwk.alg ?? '', kid: jwk.kid ?? '', typ: 'JWT', ...options.header })
      .sign(privateKey);
  };

  const rightToken = async ({ grant_type, username, password }: Form): Promise<Answer> => {
    if (grant_type === 'password' && password !== 'right')
      return json({ error: 'invalid_grant', error_description: 'Invalid user credentials' }, 401);
    issued += 1;
    const claims = { jti: `token-${issued}`, preferred_username: username?.toLowerCase() ?? 'ada' };
    const refresh = grant_type === 'client_credentials' ? {} : { refresh_token: `refresh-${issued}` };
    return json({ access_token: await sign(claims), token_type: 'Bearer', expires_in: 300, ...refresh });
  };

  const server = createServer((request, response) => {
    const respond = async () => {
      if (request.url?.endsWith('/.well-known/openid-configuration')) {
        documents.discovery += 1;
        const document = { issuer: url, token_endpoint: `${url}/token`, jwks_uri: `${url}/keys` };
        (answers.discovery ?? json(document))(response, request);
      } else if (request.url === '/keys') {
        documents.keys += 1;
        (answers.keys ?? json({ keys: provider.publicKeys }))(response, request);
      } else {
        const form = Object.fromEntries(new URLSearchParams(await bodyOf(request)));
        grants.push(form);
        (answers.token ?? (await rightToken(form)))(response, request);
      }
    };
    respond().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const provider: FaultProvider = {
    url,
    grants,
    documents,
    answers,
    publicKeys: [key.jwk],
    key,
    sign,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}

const ada = { typ: 'Bearer', preferred_username: 'ada', realm_access: { roles: ['analyst'] } };

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}
