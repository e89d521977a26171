/** As much of S3 as its store asks for, with faults on demand. It checks no signature: MinIO in `test/peers` does. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ObjectStore } from '../object-store.js';
import { createS3Store, type S3StoreOptions } from '../s3/s3-store.js';
import { askedRange, startTestServer, type TestServer } from './test-server.js';

interface StoredObject {
  bytes: Buffer;
  etag: string;
  writeId: string | undefined;
}

export interface FakeRequest {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** How many requests of this method came before. */
  readonly index: number;
}

/** What happens instead of an answer, or before it. */
export type Fault =
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly code: string;
      readonly headers?: Record<string, string>;
    }
  /** This instead. */
  | {
      readonly kind: 'page';
      readonly status?: number;
      readonly text: string;
      readonly headers?: Record<string, string>;
    }
  | { readonly kind: 'reset' }
  /** The head and half of the body, then nothing more of the connection. */
  | { readonly kind: 'cut' }
  | { readonly kind: 'late'; readonly ms: number }
  /** It is done, but the answer never comes. */
  | { readonly kind: 'lost' };

export interface FakeS3 extends AsyncDisposable {
  readonly server: TestServer;
  readonly objects: Map<string, StoredObject>;
  readonly uploads: Map<string, Map<number, Buffer>>;
  /** Asked before each answer. */
  fault: (request: FakeRequest) => Fault | undefined;
  pageSize: number;
  put(key: string, bytes: Buffer): void;
  /** Requests so far of a method. */
  count(method: string): number;
  store(options?: Partial<S3StoreOptions>): ObjectStore;
}

export const bucket = 's3://lake';

export async function startFakeS3(): Promise<FakeS3> {
  const counts = new Map<string, number>();
  const server = await startTestServer(async (request, response, body) => {
    const url = new URL(request.url ?? '/', 'http://s3');
    const key = decodeURIComponent(url.pathname.replace(/^\/lake\/?/, ''));
    const method = request.method ?? '';
    const index = counts.get(method) ?? 0;
    counts.set(method, index + 1);
    const asked = { method, key, query: url.searchParams, headers: request.headers, index };
    const fault = fake.fault(asked);
    switch (fault?.kind) {
      case 'error':
        sendError(response, method, fault.status, fault.code, fault.headers);
        return;
      case 'page':
        for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
        sendXml(response, fault.status ?? 200, fault.text);
        return;
      case 'reset':
        request.socket.destroy();
        return;
      case 'late':
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, fault.ms);
          response.once('close', () => clearTimeout(timer)).once('close', resolve);
        });
        break;
      case 'cut':
      case 'lost':
      case undefined:
        break;
    }
    const cut = fault?.kind === 'cut' || fault?.kind === 'lost' ? fault.kind : undefined;
    if (cut === 'lost') response.end = () => response.destroy() as ServerResponse;
    answer(fake, asked, body, response, cut === 'cut');
  });
  const fake: FakeS3 = {
    server,
    objects: new Map(),
    uploads: new Map(),
    fault: () => undefined,
    pageSize: 1000,
    put(key, bytes) {
      fake.objects.set(key, { bytes, etag: etagOf(bytes), writeId: undefined });
    },
    count: (method) => counts.get(method) ?? 0,
    store: (options = {}) =>
      createS3Store({
        endpoint: server.url,
        access: {
          kind: 'provider',
          provide: async () => ({ accessKeyId: 'key', secretAccessKey: 'hunter2' }),
        },
        ...options,
        limits: { firstDelayMs: 1, hedges: false, ...options.limits },
      }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return fake;
}

function answer(
  fake: FakeS3,
  request: FakeRequest,
  body: Buffer,
  response: ServerResponse,
  isCut: boolean,
): ServerResponse {
  const { method, key, query } = request;
  const found = fake.objects.get(key);
  if (method === 'GET' && query.has('list-type')) return sendPage(fake, query, response);
  if (method === 'HEAD' || method === 'GET') {
    if (found === undefined) return sendError(response, method, 404, 'NoSuchKey');
    if (request.headers['if-match'] !== undefined && request.headers['if-match'] !== found.etag)
      return sendError(response, method, 412, 'PreconditionFailed');
    return sendObject(found, request, response, isCut);
  }
  if (method === 'POST' && query.has('uploads')) {
    const id = `upload-${fake.uploads.size}`;
    fake.uploads.set(id, new Map());
    writeIds.set(id, request.headers['x-amz-meta-svc-write-id'] as string | undefined);
    return sendXml(
      response,
      200,
      `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    );
  }
  const upload = query.get('uploadId') ?? undefined;
  if (upload !== undefined && !fake.uploads.has(upload))
    return sendError(response, method, 404, 'NoSuchUpload');
  if (method === 'PUT' && upload !== undefined) {
    fake.uploads.get(upload)?.set(Number(query.get('partNumber')), body);
    response.setHeader('etag', etagOf(body));
    return response.end();
  }
  if (method === 'DELETE') {
    if (upload === undefined) fake.objects.delete(key);
    else fake.uploads.delete(upload);
    response.statusCode = 204;
    return response.end();
  }
  if (request.headers['if-none-match'] === '*' && found !== undefined)
    return sendError(response, method, 412, 'PreconditionFailed');
  const replaced = request.headers['if-match'];
  if (replaced !== undefined && found === undefined) return sendError(response, method, 404, 'NoSuchKey');
  if (replaced !== undefined && replaced !== found?.etag)
    return sendError(response, method, 412, 'PreconditionFailed');
  const parts = upload === undefined ? undefined : fake.uploads.get(upload);
  const bytes =
    parts === undefined
      ? body
      : Buffer.concat([...parts].sort((a, b) => a[0] - b[0]).map(([, part]) => part));
  const writeId = upload === undefined ? request.headers['x-amz-meta-svc-write-id'] : writeIds.get(upload);
  const stored = { bytes, etag: etagOf(bytes), writeId: writeId as string | undefined };
  fake.objects.set(key, stored);
  if (upload !== undefined) fake.uploads.delete(upload);
  response.setHeader('etag', stored.etag);
  if (method === 'PUT') return response.end();
  return sendXml(
    response,
    200,
    `<CompleteMultipartUploadResult><ETag>${stored.etag}</ETag></CompleteMultipartUploadResult>`,
  );
}

const writeIds = new Map<string, string | undefined>();

function sendObject(
  { bytes, etag, writeId }: StoredObject,
  request: FakeRequest,
  response: ServerResponse,
  isCut: boolean,
): ServerResponse {
  const range = askedRange(request, bytes.length);
  if (range !== undefined && range.start >= bytes.length)
    return sendError(response, 'GET', 416, 'InvalidRange');
  const part = range === undefined ? bytes : bytes.subarray(range.start, range.end);
  response.setHeader('etag', etag);
  response.setHeader('content-length', part.length);
  if (writeId !== undefined) response.setHeader('x-amz-meta-svc-write-id', writeId);
  if (range !== undefined) {
    response.statusCode = 206;
    response.setHeader('content-range', `bytes ${range.start}-${range.end - 1}/${bytes.length}`);
  }
  if (request.method === 'HEAD') return response.end();
  if (!isCut) return response.end(part);
  response.write(part.subarray(0, part.length / 2), () => response.destroy());
  return response;
}

function sendPage(fake: FakeS3, query: URLSearchParams, response: ServerResponse): ServerResponse {
  const prefix = query.get('prefix') ?? '';
  const names = new Set<string>();
  for (const key of fake.objects.keys()) {
    if (!key.startsWith(prefix)) continue;
    const slash = key.indexOf('/', prefix.length);
    names.add(slash < 0 ? key : key.slice(0, slash + 1));
  }
  const after = query.get('continuation-token') ?? '';
  const rest = [...names].sort().filter((name) => name > after);
  const page = rest.slice(0, fake.pageSize);
  const encode = (name: string): string =>
    encodeURIComponent(name).replaceAll('%20', '+').replaceAll('%2F', '/');
  const entries = page.map((name) =>
    name.endsWith('/') && name !== prefix
      ? `<CommonPrefixes><Prefix>${encode(name)}</Prefix></CommonPrefixes>`
      : `<Contents><Key>${encode(name)}</Key><Size>1</Size></Contents>`,
  );
  const isTruncated = rest.length > page.length;
  const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
  return sendXml(
    response,
    200,
    `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${isTruncated}</IsTruncated>${next}${entries.join('')}</ListBucketResult>`,
  );
}

function sendError(
  response: ServerResponse,
  method: string,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): ServerResponse {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  return sendXml(
    response,
    status,
    method === 'HEAD' ? '' : `<Error><Code>${code}</Code><Message>${code}</Message></Error>`,
  );
}

function sendXml(response: ServerResponse, status: number, text: string): ServerResponse {
  response.statusCode = status;
  response.setHeader('content-type', 'application/xml');
  return response.end(text);
}

function etagOf(bytes: Uint8Array): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}
