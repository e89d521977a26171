/** A bucket over HTTP that takes what is signed, as far as a spool needs it. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type LambdaExecutorOptions, LateObjects } from '@svc/coordinator';
import { createS3Signer, createS3Store, type S3Access } from '@svc/lake';

export interface SpoolServer extends AsyncDisposable {
  readonly spool: LambdaExecutorOptions['spool'];
  /** By bucket and key. */
  readonly objects: Map<string, Buffer>;
  /** Method and path of every request. */
  readonly requests: string[];
  /** Looked at before an object is answered: may change or remove it. */
  onRead: ((path: string) => void) | undefined;
  /** Waited for before an object is put. */
  onWrite: (() => Promise<void>) | undefined;
  /** Of requests for which it answers so. */
  statusOf: ((method: string, path: string) => number | undefined) | undefined;
}

export const spoolSecrets = { accessKeyId: 'spool-key', secretAccessKey: 'planted-spool-secret' };

export async function startSpoolServer(): Promise<SpoolServer> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access: S3Access = { kind: 'provider', provide: async () => spoolSecrets };
  const told: SpoolServer = {
    spool: {
      location: 's3://spool-bucket/parts',
      store: createS3Store({ endpoint, access }),
      signer: createS3Signer({ endpoint, access }),
      late: new LateObjects(),
    },
    objects,
    requests,
    onRead: undefined,
    onWrite: undefined,
    statusOf: undefined,
    async [Symbol.asyncDispose]() {
      await told.spool.late.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', endpoint);
    const { pathname } = url;
    const { method = '' } = request;
    requests.push(`${method} ${pathname}`);
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const isSigned = url.searchParams.has('X-Amz-Signature') || request.headers.authorization !== undefined;
    const status = isSigned ? told.statusOf?.(method, pathname) : 403;
    if (status !== undefined) return void response.writeHead(status).end();
    if (method === 'PUT') {
      await told.onWrite?.();
      objects.set(pathname, body);
      return void response.writeHead(200, { etag: etagOf(body) }).end();
    }
    if (method === 'DELETE') {
      objects.delete(pathname);
      return void response.writeHead(204).end();
    }
    told.onRead?.(pathname);
    const object = objects.get(pathname);
    if (object === undefined) return void response.writeHead(404).end();
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    const [start, end] = range === null ? [0, object.length] : [Number(range[1]), Number(range[2]) + 1];
    const part = object.subarray(start, end);
    response.writeHead(range === null ? 200 : 206, {
      etag: etagOf(object),
      'content-length': part.length,
      ...(range !== null && {
        'content-range': `bytes ${start}-${start + part.length - 1}/${object.length}`,
      }),
    });
    response.end(method === 'HEAD' ? undefined : part);
  }
  return told;
}

function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}
