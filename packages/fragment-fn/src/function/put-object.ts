/**
 * Requests to signed addresses. Node's own client: the address says all that the storage asks for, and the function has
 * no credentials of its own. No error names an address: it is a secret.
 */
import { createHash } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { delay, QueryError, throwIfAborted } from '@svc/base';
import type { OrderReference } from './invocation.js';

const attempts = 4;
const firstPauseMs = 100;
/** Storage that says nothing for so long is gone. */
const silenceMs = 30_000;

interface Attempt {
  readonly method: 'GET' | 'PUT';
  readonly url: string;
  readonly body: readonly Uint8Array[];
  /** A longer answer is not read. */
  readonly maxAnswerBytes: number;
  readonly signal: AbortSignal;
}

/** Throws EXECUTOR_LOST: the spool is ours, and another attempt has other addresses. */
export async function putObject(
  url: string,
  body: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<void> {
  await withRetries({ method: 'PUT', url, body, maxAnswerBytes: 64 * 1024, signal });
}

/** Throws as `putObject`, and FRAGMENT_REFUSED when there lies something else than what was announced. */
export async function getObject(reference: OrderReference, signal: AbortSignal): Promise<Uint8Array> {
  const { url, bytes, sha256 } = reference;
  const content = await withRetries({ method: 'GET', url, body: [], maxAnswerBytes: bytes, signal });
  if (content.byteLength !== bytes || createHash('sha256').update(content).digest('hex') !== sha256)
    throw new QueryError(
      'FRAGMENT_REFUSED',
      'The function does not take the fragment: its order in the spool is not the one that was sent.',
    );
  return content;
}

async function withRetries(attempt: Attempt): Promise<Uint8Array> {
  for (let tried = 1; ; tried += 1) {
    throwIfAborted(attempt.signal);
    const answer = await send(attempt).catch(() => undefined);
    throwIfAborted(attempt.signal);
    if (answer !== undefined && answer.status < 300) return answer.body;
    const mayPass = answer === undefined || answer.status >= 500 || answer.status === 429;
    if (!mayPass || tried === attempts) throw storageError(attempt.method, answer?.status);
    await delay(firstPauseMs * 2 ** tried * Math.random(), attempt.signal);
  }
}

function send(attempt: Attempt): Promise<{ readonly status: number; readonly body: Uint8Array }> {
  const { method, url, body, signal } = attempt;
  const length = body.reduce((sum, piece) => sum + piece.byteLength, 0);
  const start = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const headers = method === 'PUT' ? { 'content-length': length } : {};
    const request = start(url, { method, headers, signal, agent: false });
    request.setTimeout(silenceMs, () => request.destroy(new Error('silent')));
    request.on('error', reject);
    request.on('response', (response) => {
      readBody(response, attempt.maxAnswerBytes).then(
        (content) => resolve({ status: response.statusCode ?? 0, body: content }),
        reject,
      );
    });
    for (const piece of body) request.write(piece);
    request.end();
  });
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength;
    // One more than may be: enough to know that it is another object.
    pieces.push(bytes > maxBytes ? piece.subarray(0, piece.byteLength - (bytes - maxBytes) + 1) : piece);
    if (bytes > maxBytes) {
      response.destroy();
      break;
    }
  }
  return Buffer.concat(pieces);
}

function storageError(method: string, status: number | undefined): QueryError {
  const what = method === 'PUT' ? 'puts a part of its answer' : 'gets the order of a fragment';
  const said = status === undefined ? 'does not answer' : `answers ${status}`;
  return new QueryError('EXECUTOR_LOST', `The spool ${said} where the function ${what}.`);
}
