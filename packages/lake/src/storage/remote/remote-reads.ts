/** What reading is for every store that answers byte ranges over a network. */
import { linkAbort, QueryError } from '@svc/base';
import { type Fetch, planFetches } from '../copy-plan.js';
import { displayLocation } from '../display-location.js';
import { mapConcurrently } from '../map-concurrently.js';
import type {
  BelievedSize,
  ByteRange,
  HeadWithTail,
  ObjectInfo,
  ObjectStore,
  RangeReadOptions,
  ReadOptions,
} from '../object-store.js';
import { kindOfSize } from './latencies.js';
import type { Outcome, Try } from './outcome.js';
import type { RequestRunner } from './request-runner.js';

/** Large enough to be worth a request, small enough that a late one costs little to send again. */
const pieceOptions = { maxFetchBytes: 8 * 1024 * 1024, maxGapBytes: 256 * 1024 };
/** A whole object or a single range above this is refused before its buffer is made. */
const maxBufferBytes = 1024 * 1024 * 1024;

export interface RangeRequest {
  readonly location: string;
  readonly range: ByteRange;
  /** Known from an earlier answer: another one is STORAGE_ERROR. */
  readonly version: string | undefined;
  /** Where the bytes are to go, when they may. As long as the range. */
  readonly into: Uint8Array | undefined;
}

export interface RangeAnswer {
  /** Of the whole object. */
  readonly sizeBytes: number;
  readonly version: string;
  /** Shorter than asked only where the object ends; `into` itself when the bytes went there. */
  readonly bytes: Uint8Array;
}

/** The requests of one kind of server, a try at a time. */
export interface RangeSource {
  head(location: string, attempt: Try): Promise<Outcome<ObjectInfo>>;
  /** A range that starts behind the end of the object has no bytes. */
  get(request: RangeRequest, attempt: Try): Promise<Outcome<RangeAnswer>>;
}

export function createRemoteReads(
  source: RangeSource,
  runner: RequestRunner,
): Pick<ObjectStore, 'head' | 'headWithTail' | 'read' | 'readRanges'> {
  return { head, headWithTail, read, readRanges };

  async function head(location: string, options: ReadOptions = {}): Promise<ObjectInfo> {
    const request = { bytes: 0, kind: 'head', what: displayLocation(location), signal: options.signal };
    const info = await runner.run(request, (attempt) => source.head(location, attempt));
    if (options.version !== undefined && info.version !== options.version) throw changedError(location);
    return info;
  }

  async function headWithTail(
    location: string,
    { sizeBytes, tailBytes }: BelievedSize,
    { signal }: ReadOptions = {},
  ): Promise<HeadWithTail> {
    const range = { start: sizeBytes - tailBytes, end: sizeBytes };
    const found = await get(location, range, { ...(signal && { signal }) });
    const info = { location, sizeBytes: found.sizeBytes, version: found.version };
    return found.sizeBytes === sizeBytes ? { info, tail: found.bytes } : { info };
  }

  /** One request for a small object, whose answer tells the size of a larger one. */
  async function read(location: string, options: ReadOptions = {}): Promise<Uint8Array> {
    const start = { start: 0, end: pieceOptions.maxFetchBytes };
    const first = await get(location, start, { ...options, kind: 'start' });
    const { sizeBytes, version, bytes } = first;
    if (bytes.length === sizeBytes) return bytes;
    if (sizeBytes > maxBufferBytes) throw tooLarge(location, sizeBytes, 'files');
    const whole = Buffer.allocUnsafeSlow(sizeBytes);
    whole.set(bytes);
    const rest = { start: bytes.length, end: sizeBytes };
    await readInto(location, [{ range: rest, target: whole.subarray(rest.start) }], { ...options, version });
    return whole;
  }

  async function readRanges(
    location: string,
    ranges: readonly ByteRange[],
    options: RangeReadOptions = {},
  ): Promise<readonly Uint8Array[]> {
    for (const range of ranges) checkRange(location, range);
    const wanted = ranges.map((range, index) => ({
      range,
      target: options.into?.[index] ?? Buffer.allocUnsafeSlow(range.end - range.start),
    }));
    await readInto(location, wanted, options);
    return wanted.map(({ target }) => target);
  }

  async function readInto(location: string, wanted: readonly Wanted[], options: ReadOptions): Promise<void> {
    let { version } = options;
    using stop = linkAbort(options.signal);
    const { signal } = stop;
    const fetchPiece = async ({ piece, copies }: Piece): Promise<void> => {
      const [copy, ...more] = copies;
      const isWhole = more.length === 0 && copy?.target.length === piece.end - piece.start;
      const into = isWhole ? copy.target : undefined;
      const answer = await get(location, piece, { signal, into, ...(version && { version }) });
      if (answer.bytes.length < piece.end - piece.start) throw outside(location, answer.sizeBytes, piece);
      // Without a version the first answer says which one is read: never bytes of two.
      version ??= answer.version;
      if (answer.version !== version) throw changedError(location);
      if (answer.bytes === into) return;
      for (const { target, start } of copies) target.set(answer.bytes.subarray(start, start + target.length));
    };
    // All pieces wait for their share of the budget at once; the first that fails ends the others.
    await mapConcurrently(
      planPieces(wanted),
      { maxConcurrent: Number.POSITIVE_INFINITY, signal: options.signal },
      async (piece) => {
        try {
          await fetchPiece(piece);
        } catch (error) {
          stop.abort(QueryError.from(error));
          throw error;
        }
      },
    );
  }

  function get(
    location: string,
    range: ByteRange,
    {
      version,
      signal,
      kind,
      into,
    }: ReadOptions & { readonly kind?: string; readonly into?: Uint8Array | undefined },
  ): Promise<RangeAnswer> {
    const bytes = range.end - range.start;
    const request = { bytes, kind: kind ?? kindOfSize(bytes), what: displayLocation(location), signal };
    return runner.run(request, (attempt) =>
      source.get({ location, range, version, into: attempt.isFirst ? into : undefined }, attempt),
    );
  }
}

export function changedError(location: string): QueryError {
  return new QueryError('STORAGE_ERROR', `${displayLocation(location)} was changed while it was being read.`);
}

interface Wanted {
  readonly range: ByteRange;
  readonly target: Uint8Array;
}

/** One request, and where parts of its answer go. */
interface Piece {
  readonly piece: ByteRange;
  readonly copies: readonly { readonly start: number; readonly target: Uint8Array }[];
}

function planPieces(wanted: readonly Wanted[]): readonly Piece[] {
  const sorted = wanted
    .filter(({ target }) => target.length > 0)
    .sort((a, b) => a.range.start - b.range.start);
  const steps = sorted.map(({ range }) => ({ source: undefined, start: range.start, end: range.end }));
  const rest = sorted.map(({ target }) => target);
  // The slices of all fetches, one after the other, are the sorted ranges one after the other.
  const take = (length: number): Uint8Array => {
    const target = rest[0] ?? new Uint8Array(0);
    const taken = target.subarray(0, length);
    if (taken.length === target.length) rest.shift();
    else rest[0] = target.subarray(length);
    return taken;
  };
  return planFetches(steps, pieceOptions).map((fetch) => ({
    piece: { start: fetch.start, end: fetch.end },
    copies: copiesOf(fetch, take),
  }));
}

function copiesOf(fetch: Fetch<undefined>, take: (length: number) => Uint8Array): Piece['copies'] {
  const copies: { start: number; target: Uint8Array }[] = [];
  for (const slice of fetch.slices)
    for (let start = slice.start; start < slice.end; ) {
      const target = take(slice.end - start);
      copies.push({ start, target });
      start += target.length;
    }
  return copies;
}

function checkRange(location: string, { start, end }: ByteRange): void {
  if (!(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end))
    throw new QueryError(
      'DATA_CORRUPT',
      `Bytes ${start} to ${end} of ${displayLocation(location)} are referred to: its metadata is wrong.`,
    );
  if (end - start > maxBufferBytes) throw tooLarge(location, end - start, 'ranges');
}

function outside(location: string, sizeBytes: number, { start, end }: ByteRange): QueryError {
  return new QueryError(
    'DATA_CORRUPT',
    `${displayLocation(location)} has ${sizeBytes} bytes, but bytes ${start} to ${end} of it are referred to: it is cut short or its metadata is wrong.`,
  );
}

function tooLarge(location: string, bytes: number, what: string): QueryError {
  return new QueryError(
    'STORAGE_ERROR',
    `${bytes} bytes of ${displayLocation(location)} are asked for; ${what} above ${maxBufferBytes} bytes are not read as a whole.`,
    { retryable: false },
  );
}
