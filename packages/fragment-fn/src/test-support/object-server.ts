import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ObjectRequest {
  readonly method: string;
  readonly path: string;
  /** None where an address is pre-signed. */
  readonly key: string | undefined;
  /** `bytes=0-9` */
  readonly range: string | undefined;
}

export interface ObjectServer extends AsyncDisposable {
  readonly url: string;
  /** By `/bucket/key`. */
  readonly objects: Map<string, Uint8Array>;
  /** In their order. */
  readonly requests: ObjectRequest[];
  /** Keys that open nothing. */
  readonly refused: Set<string>;
}

/** As much of S3 as reading takes; every access key but those of `refused` opens everything. */
export async function startObjectServer(): Promise<ObjectServer> {
  const objects = new Map<string, Uint8Array>();
  const requests: ObjectServer['requests'] = [];
  const refused = new Set<string>();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://x').pathname);
    const key = /Credential=([^/]+)/.exec(request.headers.authorization ?? '')?.[1];
    requests.push({ method: request.method ?? '', path, key, range: request.headers.range });
    const body = objects.get(path);
    if (key !== undefined && refused.has(key)) response.writeHead(403).end();
    else if (body === undefined) response.writeHead(404).end();
    else send(request, response, body);
  };
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests,
    refused,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(request: IncomingMessage, response: ServerResponse, body: Uint8Array): void {
  const etag = `"${createHash('md5').update(body).digest('hex')}"`;
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  const suffix = /^bytes=-(\d+)$/.exec(request.headers.range ?? '');
  const start = range ? Number(range[1]) : suffix ? Math.max(0, body.length - Number(suffix[1])) : 0;
  const end = range ? Math.min(Number(range[2]) + 1, body.length) : body.length;
  const isPart = range !== null || suffix !== null;
  response.writeHead(isPart ? 206 : 200, {
    etag,
    'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT',
    'accept-ranges': 'bytes',
    'content-length': end - start,
    ...(isPart && { 'content-range': `bytes ${start}-${end - 1}/${body.length}` }),
  });
  response.end(request.method === 'HEAD' ? undefined : body.subarray(start, end));
}
