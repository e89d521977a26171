/** Looks at requests before grpc-js does, because grpc-js would already have lost or logged what matters here. */
import { constants, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { QueryError } from '@svc/base';
import { toCallStatus } from './call-status.js';

/** Headers that decide who is calling: one value each, or the call is refused. */
const credentialHeaders = ['authorization', 'auth-token-bin'];
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
const TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const MILLISECONDS_BY_UNIT: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};
/** 24.8 days: grpc-js computes timers in 32-bit integers. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_TIMEOUT_HEADER = `${Math.floor(MAX_TIMEOUT_MS / 1000)}S`;

/**
 * Puts the guard in front of grpc-js: two authorization headers, or one with other than printable ASCII, are answered
 * here (HTTP/2 in node keeps the first of two and says nothing); deadlines are clamped; other unprintable headers are
 * dropped, since grpc-js would print them.
 */
export function guardHttp2Server(server: Http2Server): void {
  const listeners = server.listeners('stream');
  server.removeAllListeners('stream');
  server.on(
    'stream',
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => {
      const refusal = inspectHeaders(headers, rawHeaders);
      if (refusal !== undefined) {
        refuse(stream, refusal);
        return;
      }
      for (const listener of listeners) listener.call(server, stream, headers, flags, rawHeaders);
    },
  );
}

/** The reason to refuse a request, if any. Clamps and drops headers in place. */
export function inspectHeaders(
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): QueryError | undefined {
  for (const name of credentialHeaders) {
    const count = countHeaders(rawHeaders, name);
    if (count > 1)
      return new QueryError('UNAUTHENTICATED', `The request has ${count} ${name} headers; send one.`);
  }
  if (headers.authorization !== undefined && headers['auth-token-bin'] !== undefined)
    return new QueryError('UNAUTHENTICATED', 'Send either authorization or auth-token-bin, not both.');
  if (headers.authorization !== undefined && !PRINTABLE_ASCII.test(headers.authorization))
    return new QueryError(
      'UNAUTHENTICATED',
      'The authorization header has characters that are not printable ASCII.',
    );
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(':') && !PRINTABLE_ASCII.test(String(value))) delete headers[name];
  }
  return clampTimeout(headers);
}

/** `rawHeaders` has names and values in turn. */
function countHeaders(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index];
    if (raw?.length === name.length && raw.toLowerCase() === name) count++;
  }
  return count;
}

function clampTimeout(headers: IncomingHttpHeaders): QueryError | undefined {
  const timeout = headers['grpc-timeout'];
  if (timeout === undefined) return undefined;
  const match = typeof timeout === 'string' ? TIMEOUT.exec(timeout) : null;
  if (match === null) return new QueryError('INVALID_ARGUMENT', 'The grpc-timeout header is malformed.');
  const milliseconds = Number(match[1]) * (MILLISECONDS_BY_UNIT[match[2] ?? ''] ?? 0);
  if (milliseconds > MAX_TIMEOUT_MS) headers['grpc-timeout'] = MAX_TIMEOUT_HEADER;
  return undefined;
}

function refuse(stream: ServerHttp2Stream, error: QueryError): void {
  const { code, details } = toCallStatus(error);
  stream.on('error', () => undefined); // a client that is gone need not be answered
  stream.resume();
  stream.respond(
    {
      [constants.HTTP2_HEADER_STATUS]: constants.HTTP_STATUS_OK,
      [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc+proto',
      'grpc-status': String(code),
      'grpc-message': encodeURI(details),
    },
    { endStream: true },
  );
}
