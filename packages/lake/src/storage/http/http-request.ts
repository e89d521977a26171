/** One request over http or https, with redirects followed. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { QueryError } from '@svc/base';
import { displayLocation } from '../display-location.js';
import type { Connections } from '../remote/connections.js';
import { sendRequest } from '../remote/send-request.js';
import { type HttpTarget, redirectTarget } from './http-url.js';

const maxRedirects = 10;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD';
  readonly target: HttpTarget;
  /** Names it in messages. */
  readonly location: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Must be read to its end or destroyed. */
  readonly body: IncomingMessage;
  /** Where the redirects led to. */
  readonly target: HttpTarget;
}

export async function sendHttp(connections: Connections, request: HttpRequest): Promise<HttpAnswer> {
  let { target } = request;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const body = await exchange(connections, { ...request, target });
    const status = body.statusCode ?? 0;
    if (!redirectStatuses.has(status)) return { status, headers: body.headers, body, target };
    body.destroy();
    target = redirectTarget(target, body.headers.location, request.location);
  }
  throw new QueryError(
    'STORAGE_ERROR',
    `The server redirects ${displayLocation(request.location)} more than ${maxRedirects} times.`,
    { retryable: false },
  );
}

function exchange(
  connections: Connections,
  { method, target: { url, authorization }, headers, signal }: HttpRequest,
): Promise<IncomingMessage> {
  return sendRequest(connections, {
    method,
    url,
    signal,
    headers: {
      accept: '*/*',
      'user-agent': 'svc',
      // Ranges and lengths are those of the file, not of a compressed form of it.
      'accept-encoding': 'identity',
      ...headers,
      ...(authorization !== undefined && { authorization }),
    },
  });
}
