import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** One complete answer; all of them are small. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: OutgoingHttpHeaders;
}

export function textReply(status: number, body: string): Reply {
  return { status, contentType: 'text/plain; charset=utf-8', body };
}

export function jsonReply(status: number, document: unknown): Reply {
  return { status, contentType: 'application/json', body: JSON.stringify(document) };
}

/** Errors have one shape on every path: a stable code and a sentence. */
export function errorReply(
  status: number,
  code: string,
  message: string,
  headers: OutgoingHttpHeaders = {},
): Reply {
  return { ...jsonReply(status, { error: { code, message } }), headers };
}

/** Whether a body follows the headers (RFC 9112 section 6). */
export function declaresBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Sends the answer. A request whose body was not read to its end ends its connection. */
export function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  isClosing: boolean,
): void {
  const hasRest = declaresBody(request) && !request.complete;
  response.writeHead(reply.status, {
    'content-type': reply.contentType,
    'content-length': Buffer.byteLength(reply.body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(hasRest || isClosing ? { connection: 'close' } : {}),
    ...reply.headers,
  });
  response.end(reply.body);
}
