/** Requests to one Iceberg REST catalog service: what all users of it share, and nothing that belongs to one of them. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type CircuitBreaker, delay, linkAbort, QueryError, throwIfAborted } from '@svc/base';
import type { Connections } from '../../storage/remote/connections.js';
import { codeOf, passingNetworkCode } from '../../storage/remote/network-errors.js';
import { done, type Outcome, type Try } from '../../storage/remote/outcome.js';
import { isPassingStatus, retryAfterMs } from '../../storage/remote/passing-status.js';
import { readBoundedBody } from '../../storage/remote/read-body.js';
import { type RequestLimits, RequestRunner } from '../../storage/remote/request-runner.js';
import { sendRequest } from '../../storage/remote/send-request.js';
import { catalogError } from './rest-errors.js';
import { AnsweredProblem, isOutageStatus } from './service-breaker.js';
import { UnknownOutcome } from './unknown-outcome.js';

export interface RestServiceOptions {
  readonly connections: Connections;
  readonly limits?: Partial<RequestLimits>;
  readonly breaker: CircuitBreaker;
  /** Of one answer, uncompressed; a larger one is refused. */
  readonly maxAnswerBytes?: number;
  /** For one answer, from the first byte of the request to the last of the answer. */
  readonly maxAnswerMs?: number;
}

export interface RestRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
  /** Names it in messages: `table "sales.orders"`. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
}

export interface RestAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

export interface RestService {
  /** A request that may be sent again: it changes nothing. Answers any status but those that pass. */
  read(request: RestRequest): Promise<RestAnswer>;
  /**
   * A request that changes something: it is sent again only where it was certainly not taken (no connection, 429, 503).
   * Throws UnknownOutcome when it may or may not have been.
   */
  change(request: RestRequest): Promise<RestAnswer>;
}

/** The metadata of 100,000 snapshots has some 60 MB. */
const defaultMaxAnswerBytes = 128 * 1024 * 1024;
/** Of an answer that is no success: the rest of it is not read. */
const maxProblemBytes = 64 * 1024;
/** A service that says a byte now and then is never silent, and never done. */
const maxAnswerMs = 300_000;
/** Answers of a service that has not looked at the request. */
const untakenStatuses = new Set([429, 503]);
/** Failures from before a connection was there. */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
/** Committing takes a service longer than answering. */
const maxChangeSilenceMs = 60_000;
const maxChangeTries = 4;
const firstChangeDelayMs = 200;

const uncompressed = promisify(gunzip);

export function createRestService(options: RestServiceOptions): RestService {
  const { breaker, connections, maxAnswerBytes = defaultMaxAnswerBytes } = options;
  const limits = { maxTries: 4, hedges: false, ...options.limits };
  const reads = new RequestRunner({ limits });
  const changes = new RequestRunner({ limits: { ...limits, maxTries: 1 } });

  const send = async (request: RestRequest, attempt: Try): Promise<RestAnswer> => {
    using abort = linkAbort(attempt.signal, options.maxAnswerMs ?? maxAnswerMs, () =>
      catalogError(`takes too long to answer for ${request.what}`),
    );
    const { signal } = abort;
    try {
      const response = await exchange(connections, request, signal);
      attempt.heard(0);
      const { statusCode: status = 0, headers } = response;
      const maxBytes = status < 400 ? maxAnswerBytes : maxProblemBytes;
      const raw = await readBoundedBody(response, maxBytes, { ...attempt, signal });
      const body = raw && (await plainBody(raw, headers, maxBytes));
      if (body !== undefined) return { status, headers, body };
      // Whatever a failure says beyond its status is of no more use than nothing.
      if (status >= 400) return { status, headers, body: new Uint8Array(0) };
    } catch (error) {
      throwIfAborted(signal);
      throw error;
    }
    throw catalogError(`answers more than ${maxAnswerBytes} bytes for ${request.what}`, { retryable: false });
  };

  /** Once it is on its way it is not cancelled: nobody could tell what it has done. */
  const tryChange = async (request: RestRequest): Promise<RestAnswer | Untaken> => {
    const options = { bytes: 0, what: request.what, maxSilenceMs: maxChangeSilenceMs, silent: silentError };
    try {
      const answer = await changes.run(options, async (attempt) => done(await send(request, attempt)));
      if (!untakenStatuses.has(answer.status)) return answer;
      return new Untaken(statusError(answer, request.what), retryAfterMs(answer.headers['retry-after']));
    } catch (error) {
      if (error instanceof QueryError) throw new UnknownOutcome(error);
      const code = codeOf(error);
      const failure = catalogError(`could not be reached (${code ?? 'unknown failure'})`, { cause: error });
      if (code !== undefined && unsentCodes.has(code)) return new Untaken(failure);
      throw new UnknownOutcome(failure);
    }
  };

  return {
    read: (request) =>
      breaker.run(() =>
        reads.run(
          { bytes: 0, what: request.what, signal: request.signal, silent: silentError },
          async (attempt): Promise<Outcome<RestAnswer>> => {
            try {
              const answer = await send(request, attempt);
              return isPassingStatus(answer.status) ? again(answer, request.what) : done(answer);
            } catch (error) {
              return failedOutcome(error, attempt.signal);
            }
          },
        ),
      ),
    change: (request) =>
      breaker.run(async () => {
        for (let failures = 1; ; failures += 1) {
          throwIfAborted(request.signal);
          const tried = await tryChange(request);
          if (!(tried instanceof Untaken)) return tried;
          if (failures === maxChangeTries) throw tried.error;
          const delayMs = firstChangeDelayMs * 2 ** (failures - 1) * (0.5 + Math.random() / 2);
          await delay(tried.afterMs ?? delayMs, request.signal);
        }
      }),
  };
}

/** A change that was certainly not made. */
class Untaken {
  readonly error: QueryError;
  readonly afterMs: number | undefined;

  constructor(error: QueryError, afterMs?: number) {
    this.error = error;
    this.afterMs = afterMs;
  }
}

function exchange(
  connections: Connections,
  { method, url, headers, body }: RestRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return sendRequest(connections, {
    method,
    url,
    body,
    signal,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'user-agent': 'svc',
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }),
      ...headers,
    },
  });
}

/** Undefined for one that is larger than it may be. */
async function plainBody(
  raw: Uint8Array,
  headers: IncomingHttpHeaders,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  if (headers['content-encoding'] !== 'gzip' || raw.length === 0) return raw;
  try {
    return await uncompressed(raw, { maxOutputLength: maxBytes });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw catalogError('answers a damaged gzip body', { cause: error });
  }
}

function again(answer: RestAnswer, what: string): Outcome<never> {
  return {
    kind: 'again',
    error: statusError(answer, what),
    afterMs: retryAfterMs(answer.headers['retry-after']),
  };
}

function statusError({ status }: RestAnswer, what: string): QueryError {
  const cause = isOutageStatus(status) ? undefined : new AnsweredProblem(`status ${status}`);
  return catalogError(`answers ${status} for ${what}`, { cause });
}

function failedOutcome(error: unknown, signal: AbortSignal): Outcome<never> {
  if (signal.aborted || error instanceof QueryError) throw error;
  const code = passingNetworkCode(error);
  if (code === undefined)
    throw catalogError(`could not be asked (${codeOf(error) ?? 'unknown failure'})`, { cause: error });
  return { kind: 'again', error: catalogError(`could not be reached (${code})`, { cause: error }) };
}

function silentError(what: string, seconds: number): QueryError {
  return catalogError(`was silent for ${seconds} seconds when it was asked for ${what}`);
}
