/** MinIO's own word of which requests it had: its admin API streams them, as `mc admin trace` shows them. */
import { createHash, createHmac } from 'node:crypto';
import { request } from 'node:http';
import { until } from '../../service/support/until.js';

export interface TracedRequest {
  /** As the client sent it. */
  readonly host: string;
  /** `s3://bucket/key` */
  readonly location: string;
  readonly accessKey: string;
}

export interface MinioTrace extends AsyncDisposable {
  /** All requests from the start of the trace until now. */
  requests(): Promise<readonly TracedRequest[]>;
}

export interface MinioServer {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

interface TraceLine {
  readonly path?: string;
  readonly http?: { readonly request?: { readonly headers?: Readonly<Record<string, readonly string[]>> } };
}

export async function startMinioTrace(server: MinioServer): Promise<MinioTrace> {
  const lines: string[] = [];
  let rest = '';
  const path = '/minio/admin/v3/trace';
  const query = 's3=true&threshold=0s';
  const stream = request(`${server.endpoint}${path}?${query}`, { headers: signed(server, path, query) });
  const opened = new Promise<void>((resolve, reject) => {
    stream.once('error', reject).once('response', (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`MinIO answers ${answer.statusCode} for its trace.`));
      answer.setEncoding('utf8').on('data', (text: string) => {
        const parts = (rest + text).split('\n');
        rest = parts.pop() ?? '';
        lines.push(...parts.filter((line) => line.trim() !== ''));
      });
      answer.once('error', () => undefined); // Ours, when the trace is no longer needed.
      resolve();
    });
  });
  stream.end();
  await opened;
  const traced = () => lines.map((line) => tracedRequest(JSON.parse(line)));
  let marks = 0;
  /** A request of the trace's own: what came before it is in the trace once it is. */
  const mark = async () => {
    marks += 1;
    const markPath = `/lake/mark-${marks}`;
    await until(`${markPath} in the trace`, async () => {
      await fetch(`${server.endpoint}${markPath}`, { headers: signed(server, markPath, '') });
      return lines.some((line) => line.includes(markPath));
    });
  };
  await mark();
  return {
    async requests() {
      await mark();
      return traced();
    },
    async [Symbol.asyncDispose]() {
      stream.destroy();
    },
  };
}

function tracedRequest({ path = '', http }: TraceLine): TracedRequest {
  const header = (name: string) => http?.request?.headers?.[name]?.[0] ?? '';
  const [, accessKey = ''] = /Credential=([^/]+)/.exec(header('Authorization')) ?? [];
  return { host: header('Host'), location: `s3:/${path}`, accessKey };
}

/** Signature version 4 of a GET without a body. */
function signed(
  { endpoint, accessKeyId, secretAccessKey }: MinioServer,
  path: string,
  query: string,
): Record<string, string> {
  const at = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const scope = [at.slice(0, 8), 'us-east-1', 's3', 'aws4_request'];
  const headers = {
    host: new URL(endpoint).host,
    'x-amz-content-sha256': digest(''),
    'x-amz-date': at,
  };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}`);
  const canonical = ['GET', path, query, ...lines, '', names, digest('')].join('\n');
  const key = scope.reduce<string | Buffer>(
    (parent, part) => createHmac('sha256', parent).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  const toSign = ['AWS4-HMAC-SHA256', at, scope.join('/'), digest(canonical)].join('\n');
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  const credential = `${accessKeyId}/${scope.join('/')}`;
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
