import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ClientAddress, QueryError } from '@svc/base';
import { declaresBody, errorReply, type Reply } from './reply.js';

/** What a route may know of a request. */
export interface AdminRequest {
  /** Every authorization header: node itself keeps the first of several and says nothing. */
  readonly authorization: readonly string[];
  /** Of the connection, or what a trusted proxy says of the one behind it. */
  readonly clientAddress: string;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /**
   * The object that the body is in JSON, undefined without a body, or the refusal of a body that is neither. Nothing of it
   * is read before this is called, and never more than `maxBytes`.
   */
  readObject(maxBytes: number): Promise<RequestBody>;
}

export type RequestBody =
  | { readonly kind: 'object'; readonly object: Readonly<Record<string, unknown>> | undefined }
  | { readonly kind: 'refused'; readonly reply: Reply };

export function adminRequest(
  request: IncomingMessage,
  response: ServerResponse,
  clientAddress: ClientAddress,
): AdminRequest {
  const { authorization = [], 'x-forwarded-for': forwardedFor } = request.headersDistinct;
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new QueryError('CANCELLED', 'The client went away.'));
  });
  return {
    authorization,
    clientAddress: clientAddress(request.socket.remoteAddress ?? '', forwardedFor?.join(', ')),
    signal: gone.signal,
    readObject: (maxBytes) => readObject(request, response, maxBytes),
  };
}

async function readObject(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<RequestBody> {
  const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = request.headers;
  if (!declaresBody(request)) return { kind: 'object', object: undefined };
  if (!/^application\/json *(; *charset="?utf-8"? *)?$/i.test(type ?? ''))
    return refused(415, 'The body must be JSON in UTF-8, with the header "Content-Type: application/json".');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    return refused(415, 'The body must not be compressed.');
  const tooLarge = refused(413, `The body must not be longer than ${maxBytes} bytes.`);
  if (Number(length ?? 0) > maxBytes) return tooLarge;
  if (request.headers.expect !== undefined) response.writeContinue();
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Whoever stops reading must not end the connection: there is an answer to send.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxBytes) return tooLarge;
    chunks.push(chunk);
  }
  return bytes === 0 ? { kind: 'object', object: undefined } : parseObject(Buffer.concat(chunks));
}

function parseObject(bytes: Buffer): RequestBody {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return refused(400, 'The body is not JSON in UTF-8.');
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { kind: 'object', object: { ...value } }
    : refused(400, 'The body must be a JSON object.');
}

function refused(status: number, message: string): RequestBody {
  return { kind: 'refused', reply: errorReply(status, 'INVALID_ARGUMENT', message) };
}
