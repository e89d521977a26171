/** A folder over HTTP, with ranges; counts what is asked of it. */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

export interface FolderServer extends AsyncDisposable {
  readonly url: string;
  bytesSent(): number;
  requests(method: string, path: string): number;
  forget(): void;
}

export async function serveFolder(folder: string): Promise<FolderServer> {
  let asked: string[] = [];
  let bytes = 0;
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    asked.push(`${request.method} ${path}`);
    const file = join(folder, path);
    const size = await stat(file).then(
      (info) => info.size,
      () => undefined,
    );
    if (size === undefined) return response.writeHead(404).end();
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const start = Number(first ?? 0);
    const end = last === undefined || last === '' ? size - 1 : Math.min(size - 1, Number(last));
    const headers = {
      'accept-ranges': 'bytes',
      etag: '"1"',
      'content-length': size === 0 ? 0 : end - start + 1,
    };
    if (first === undefined) response.writeHead(200, headers);
    else response.writeHead(206, { ...headers, 'content-range': `bytes ${start}-${end}/${size}` });
    if (request.method === 'HEAD' || size === 0) return response.end();
    bytes += end - start + 1;
    // A client that has what it wants may leave.
    return await pipeline(createReadStream(file, { start, end }), response).catch(() => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytesSent: () => bytes,
    requests: (method, path) => asked.filter((each) => each === `${method} ${path}`).length,
    forget() {
      asked = [];
      bytes = 0;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
