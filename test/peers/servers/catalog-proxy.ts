/**
 * A proxy in front of a REST catalog that says no: it knows users by their tokens and asks the test what each may do. It
 * records which token came with which call, and which access keys were given out to whom.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CatalogCall {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly user: string | undefined;
  readonly headers: IncomingMessage['headers'];
  /** Of the answer, once there is one. */
  status?: number;
}

export interface VendedKey {
  readonly user: string;
  /** The location that the keys are for. */
  readonly prefix: string;
  readonly vendedMs: number;
  readonly expiresMs: number;
}

/** What happens to a call: `before` the catalog has seen it, or `after` it has done it. */
export type CatalogFault =
  | { readonly when: 'before' | 'after'; readonly status: number }
  | { readonly when: 'before' | 'after'; readonly status: 'lost' };

export interface CatalogProxy extends AsyncDisposable {
  readonly url: string;
  readonly calls: CatalogCall[];
  /** By access key. */
  readonly keys: ReadonlyMap<string, VendedKey>;
  /** What came with these keys and with calls, and is to be seen nowhere. */
  readonly secrets: string[];
  /** Status of a refusal. */
  refuse: (call: CatalogCall) => number | undefined;
  fault: (call: CatalogCall) => CatalogFault | undefined;
}

/** `userOf`: undefined for a token that is nobody's, which is answered 401. */
export async function startCatalogProxy(
  target: string,
  userOf: (token: string) => string | undefined,
): Promise<CatalogProxy> {
  const keys = new Map<string, VendedKey>();
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = incoming;
    const body = await bodyOf(incoming);
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const user = userOf(token);
    if (token !== '' && !proxy.secrets.includes(token)) proxy.secrets.push(token);
    const path = decodeURIComponent(url.split('?')[0] ?? '');
    const call: CatalogCall = { method, path, user, headers };
    proxy.calls.push(call);
    const answer = (status: number, headers: IncomingMessage['headers'], body: Buffer | string) => {
      call.status = status;
      response.writeHead(status, headers).end(body);
    };
    const refusal = user === undefined ? 401 : proxy.refuse(call);
    if (refusal !== undefined) return answer(refusal, {}, problem(refusal));
    const fault = proxy.fault(call);
    if (fault?.when === 'before') {
      if (fault.status === 'lost') response.destroy();
      else answer(fault.status, {}, problem(fault.status));
      return;
    }
    const forwarded = await forward(new URL(url, target), { method, headers, body });
    if (user !== undefined) noteKeys(proxy.secrets, keys, user, forwarded.body);
    if (fault?.status === 'lost') response.destroy();
    else if (fault !== undefined) answer(fault.status, {}, problem(fault.status));
    else answer(forwarded.status, forwarded.headers, forwarded.body);
  };
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: CatalogProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    keys,
    secrets: [],
    refuse: () => undefined,
    fault: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

function problem(status: number): string {
  return JSON.stringify({ error: { message: 'Said by the proxy', type: 'ProxyException', code: status } });
}

interface Forwarded {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

function forward(
  url: URL,
  { method, headers, body }: { method: string; headers: IncomingMessage['headers']; body: Buffer },
): Promise<Forwarded> {
  return new Promise((resolve, reject) => {
    const onward = request(url, {
      method,
      headers: { ...headers, host: url.host, 'accept-encoding': 'identity' },
    });
    onward.once('error', reject).once('response', (answer) => {
      bodyOf(answer).then((read) => {
        const { 'transfer-encoding': _chunked, ...kept } = answer.headers;
        resolve({ status: answer.statusCode ?? 0, headers: kept, body: read });
      }, reject);
    });
    onward.end(body);
  });
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

interface Credential {
  readonly prefix?: string;
  readonly config?: Readonly<Record<string, string>>;
}

function noteKeys(secrets: string[], keys: Map<string, VendedKey>, user: string, body: Buffer): void {
  let credentials: readonly Credential[] = [];
  try {
    credentials = JSON.parse(body.toString())['storage-credentials'] ?? [];
  } catch {
    // Not JSON: then there are none.
  }
  for (const { prefix = '', config = {} } of credentials) {
    const key = config['s3.access-key-id'];
    const expiresMs = Number(config['s3.session-token-expires-at-ms'] ?? Number.NaN);
    for (const name of ['s3.secret-access-key', 's3.session-token'])
      if (config[name] !== undefined) secrets.push(config[name]);
    if (key !== undefined) keys.set(key, { user, prefix, vendedMs: Date.now(), expiresMs });
  }
}
