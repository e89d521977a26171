/** Heads and ranges over http, from servers of every kind. */
import { finished } from 'node:stream/promises';
import { QueryError } from '@svc/base';
import { displayLocation } from '../display-location.js';
import type { ObjectInfo } from '../object-store.js';
import type { Connections } from '../remote/connections.js';
import { contentRange } from '../remote/content-range.js';
import { done, type Outcome, type Try } from '../remote/outcome.js';
import { readBody } from '../remote/read-body.js';
import {
  changedError,
  type RangeAnswer,
  type RangeRequest,
  type RangeSource,
} from '../remote/remote-reads.js';
import { connectionOutcome, statusOutcome } from './http-errors.js';
import { type HttpAnswer, sendHttp } from './http-request.js';
import { type HttpTarget, parseHttpLocation } from './http-url.js';
import { httpVersion, isSameVersion, strongEtag } from './http-version.js';
import { transportEncoding, type WholeFile, WholeFiles } from './whole-files.js';

/** Places whose server is known by now; more are not remembered. */
const maxRemembered = 10_000;
/** Refusals of HEAD that a GET may not meet: a signed URL is good for one method only. */
const headRefusals = new Set([400, 403, 405, 406, 501]);

export class HttpSource implements RangeSource {
  readonly #connections: Connections;
  readonly #whole: WholeFiles;
  /** Where redirects led to, so that each range does not go there by way of the first server. */
  readonly #resolved = new Map<string, HttpTarget>();
  readonly #rangeless = new Set<string>();

  constructor(connections: Connections, maxWholeBytes: number) {
    this.#connections = connections;
    this.#whole = new WholeFiles(maxWholeBytes);
  }

  async head(location: string, attempt: Try): Promise<Outcome<ObjectInfo>> {
    const told = await this.#exchange('HEAD', location, attempt, {}, async (answer) => {
      const { status, headers } = answer;
      const length = headers['content-length'];
      if (status === 200 && length !== undefined && transportEncoding(location, headers) === undefined)
        return done({ location, sizeBytes: Number(length), version: httpVersion(headers, Number(length)) });
      if (status < 300 || headRefusals.has(status)) return done(undefined);
      return statusOutcome(answer, location);
    });
    if (told.kind === 'again') return told;
    if (told.value !== undefined) return done(told.value);
    const got = await this.get(
      { location, range: { start: 0, end: 1 }, version: undefined, into: undefined },
      attempt,
    );
    if (got.kind === 'again') return got;
    return done({ location, sizeBytes: got.value.sizeBytes, version: got.value.version });
  }

  async get(request: RangeRequest, attempt: Try): Promise<Outcome<RangeAnswer>> {
    const { location, version } = request;
    const joined = this.#join(request, attempt);
    if (joined !== undefined) return joined;
    if (version !== undefined && this.#rangeless.has(location))
      return this.#getKept(request, version, attempt);
    const etag = strongEtag(version);
    const headers = {
      range: `bytes=${request.range.start}-${request.range.end - 1}`,
      ...(etag !== undefined && { 'if-match': etag }),
    };
    const got = await this.#exchange('GET', location, attempt, headers, async (answer) => {
      if (answer.status === 206 && transportEncoding(location, answer.headers) === undefined)
        return readPart(request, answer, attempt);
      if (answer.status === 416) return done(beyondEnd(request, answer));
      if (answer.status === 200) return this.#receiveWhole(request, answer, attempt);
      return answer.status === 206 ? done(undefined) : statusOutcome(answer, location);
    });
    if (got.kind === 'again') return got;
    // A part of something encoded, or of a size that is not told: then only the whole is of use.
    return got.value === undefined ? this.#getWhole(request, attempt) : done(got.value);
  }

  /** Somebody may be reading the whole file already. When he gives up, that is not this request's failure. */
  #join(request: RangeRequest, attempt: Try): Promise<Outcome<RangeAnswer>> | undefined {
    const joined = this.#whole.joined(request.location, attempt);
    return joined?.then(
      (file) => done(partOf(file, request)),
      (caught: unknown) => {
        if (attempt.signal.aborted) throw caught;
        const error = QueryError.from(caught);
        if (error.code !== 'CANCELLED') return connectionOutcome(caught, request.location);
        return { kind: 'again', error, afterMs: 0 };
      },
    );
  }

  async #getKept(request: RangeRequest, version: string, attempt: Try): Promise<Outcome<RangeAnswer>> {
    const file = this.#whole.kept(request.location, version);
    return file === undefined ? this.#getWhole(request, attempt) : done(partOf(file, request));
  }

  #getWhole(request: RangeRequest, attempt: Try): Promise<Outcome<RangeAnswer>> {
    return this.#exchange('GET', request.location, attempt, {}, async (answer) =>
      answer.status === 200
        ? this.#receiveWhole(request, answer, attempt)
        : statusOutcome(answer, request.location),
    );
  }

  async #receiveWhole(
    request: RangeRequest,
    answer: HttpAnswer,
    attempt: Try,
  ): Promise<Outcome<RangeAnswer>> {
    const { location, version } = request;
    remember(this.#rangeless, location);
    const joined = this.#join(request, attempt);
    if (joined !== undefined) {
      answer.body.destroy();
      return joined;
    }
    return done(partOf(await this.#whole.download(location, answer, version, attempt), request));
  }

  /** Sends a request, hands its answer on, and ends the connection when the answer was not read. */
  async #exchange<T>(
    method: 'GET' | 'HEAD',
    location: string,
    attempt: Try,
    headers: Readonly<Record<string, string>>,
    receive: (answer: HttpAnswer) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const resolved = this.#resolved.get(location);
    const target = resolved ?? parseHttpLocation(location);
    try {
      const request = { method, target, location, headers, signal: attempt.signal };
      const answer = await sendHttp(this.#connections, request);
      attempt.heard(0);
      try {
        // Where a redirect leads to may be good for a while only.
        if (resolved !== undefined && answer.status >= 400 && answer.status < 500 && answer.status !== 416) {
          this.#resolved.delete(location);
          return { kind: 'again', error: changedError(location), afterMs: 0 };
        }
        if (answer.status < 300 && answer.target !== target) this.#rememberTarget(location, answer.target);
        return await receive(answer);
      } finally {
        // Nothing comes after the head of a HEAD; the connection is free once that has been noticed.
        if (method === 'HEAD') await finished(answer.body.resume()).catch(() => undefined);
        else answer.body.destroy();
      }
    } catch (caught) {
      if (attempt.signal.aborted) throw caught;
      return connectionOutcome(caught, location);
    }
  }

  #rememberTarget(location: string, target: HttpTarget): void {
    if (this.#resolved.size >= maxRemembered) this.#resolved.clear();
    this.#resolved.set(location, target);
  }
}

function remember(set: Set<string>, location: string): void {
  if (set.size >= maxRemembered) set.clear();
  set.add(location);
}

async function readPart(
  { location, range, version, into }: RangeRequest,
  { headers, body }: HttpAnswer,
  attempt: Try,
): Promise<Outcome<RangeAnswer | undefined>> {
  const part = contentRange(headers['content-range']);
  if (part === undefined) return done(undefined);
  const { start, end, sizeBytes } = part;
  if (version !== undefined && !isSameVersion(version, headers, sizeBytes)) throw changedError(location);
  const name = displayLocation(location);
  if (start !== range.start || end !== Math.min(range.end, sizeBytes))
    throw new QueryError(
      'STORAGE_ERROR',
      `The server answers bytes ${start} to ${end} of ${name} where ${range.start} to ${range.end} were asked for.`,
    );
  const bytes = await readBody(body, end - start, attempt, into);
  if (bytes?.length === end - start)
    return done({ sizeBytes, version: version ?? httpVersion(headers, sizeBytes), bytes });
  return {
    kind: 'again',
    error: new QueryError('STORAGE_ERROR', `The server answers fewer bytes of ${name} than it announced.`),
  };
}

/** `bytes *` and a size, for a range that starts behind the end; `undefined` when the size is not told. */
function beyondEnd(
  { location, range, version }: RangeRequest,
  { headers }: HttpAnswer,
): RangeAnswer | undefined {
  const match = /^bytes \*\/(\d{1,15})$/i.exec(headers['content-range']?.trim() ?? '');
  if (match === null) return undefined;
  const sizeBytes = Number(match[1]);
  if (sizeBytes > range.start) throw changedError(location);
  return { sizeBytes, version: version ?? httpVersion(headers, sizeBytes), bytes: new Uint8Array(0) };
}

function partOf({ bytes, version }: WholeFile, request: RangeRequest): RangeAnswer {
  const { location, range, into } = request;
  if (request.version !== undefined && request.version !== version) throw changedError(location);
  const part = bytes.subarray(range.start, range.end);
  if (into === undefined || into.length !== part.length)
    return { sizeBytes: bytes.length, version, bytes: part };
  into.set(part);
  return { sizeBytes: bytes.length, version, bytes: into };
}
