/** A web server of a test's own, on a free port of this machine. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  /** All requests so far. */
  readonly requests: SeenRequest[];
  /** Connections that clients have opened so far. */
  connections(): number;
  /** Of GETs only: bytes sent as bodies. */
  bytesSent(): number;
}

export type Answer = (
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
) => void | Promise<void>;

export async function startTestServer(answer: Answer): Promise<TestServer> {
  const requests: SeenRequest[] = [];
  let connections = 0;
  let bytesSent = 0;
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, headers });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    await answer(request, response, Buffer.concat(chunks));
  };
  const server = createServer((request, response) => {
    const end = response.end.bind(response) as (chunk?: unknown) => ServerResponse;
    response.end = ((chunk?: unknown) => {
      if (request.method === 'GET' && chunk instanceof Uint8Array) bytesSent += chunk.length;
      return end(chunk);
    }) as typeof response.end;
    respond(request, response).catch(() => response.destroy());
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    bytesSent: () => bytesSent,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The half-open range that a request asks for; `undefined` when it asks for all. */
export function askedRange(
  { headers }: Pick<IncomingMessage, 'headers'>,
  size: number,
): { readonly start: number; readonly end: number } | undefined {
  const match = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '');
  return match === null ? undefined : { start: Number(match[1]), end: Math.min(Number(match[2]) + 1, size) };
}

/** Bytes of which each part differs from every other. */
export function sampleBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE((at * 2654435761) >>> 0, at);
  return bytes;
}
