/** What one invocation leaves in the spool: its order, the parts of its answer. It goes with the invocation. */
import { createHash } from 'node:crypto';
import { type Logger, QueryError, throwIfAborted } from '@svc/base';
import type { SpooledPart } from '@svc/fragment-fn';
import type { ByteBudget, ObjectStore } from '@svc/lake';
import { newSpoolFolder, removeSpooled, type Spool, signAll } from '../../spool/spool.js';

/** What any reader of a part may hold beside the budget: no more than the frame that it is putting together. */
const pieceBytes = 1024 * 1024;

export class SpoolFolder {
  readonly #spool: Spool;
  readonly #folder: string;
  readonly #budget: ByteBudget;
  #partCount = 0;
  #hasOrder = false;

  /** `budget`: of bytes of parts in memory, of all invocations. */
  constructor(spool: Spool, queryId: string, budget: ByteBudget) {
    this.#spool = spool;
    this.#budget = budget;
    this.#folder = newSpoolFolder(spool, queryId);
  }

  async partUrls(count: number, signal: AbortSignal): Promise<readonly string[]> {
    this.#partCount = count;
    return await signAll(this.#spool, 'PUT', this.#partLocations(count), signal);
  }

  /** Answers where it can be read by whoever has the address. */
  async putOrder(sealed: Uint8Array, signal: AbortSignal): Promise<string> {
    this.#hasOrder = true;
    await this.#spool.store.write(this.#order, sealed, { signal });
    const [url = ''] = await signAll(this.#spool, 'GET', [this.#order], signal);
    return url;
  }

  /**
   * In pieces, of which none comes before all of them are known to be what was put there: ends and rows of splits count as
   * soon as they are read. Throws EXECUTOR_LOST when there lies something else than the function says that it put there.
   *
   * Nobody waits for the budget. Who takes the pieces may wait for a client for as long as that likes, and a query must not
   * stand still because the parts of another one do. Where a part has no room it is read twice in small pieces instead:
   * once for its digest, once for its frames.
   */
  async *readPart(
    { part, bytes, sha256 }: SpooledPart,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (part >= this.#partCount) throw notThere('it has put a part where it may not');
    const { sizeBytes, version } = await this.#ask(signal, (store) =>
      store.head(this.#part(part), { signal }),
    );
    if (sizeBytes !== bytes) throw notThere('a part of its answer is not as long as it says');
    const read = async (start: number, end: number): Promise<Uint8Array> => {
      const [piece] = await this.#ask(signal, (store) =>
        store.readRanges(this.#part(part), [{ start, end }], { signal, version }),
      );
      if (piece?.byteLength !== end - start) throw notThere('a part of its answer is cut');
      return piece;
    };
    const digest = createHash('sha256');
    const check = () => {
      if (digest.digest('hex') !== sha256)
        throw notThere('a part of its answer is not the one that it put there');
    };
    if (this.#budget.tryAcquire(bytes)) {
      try {
        const whole = await read(0, bytes);
        digest.update(whole);
        check();
        yield whole;
      } finally {
        this.#budget.release(bytes);
      }
      return;
    }
    for (const [start, end] of piecesOf(bytes)) digest.update(await read(start, end));
    check();
    // The version is that of the bytes whose digest it was.
    for (const [start, end] of piecesOf(bytes)) yield await read(start, end);
  }

  /**
   * `parts`: how many there are, where that is known: a function says so, so that no more are looked for than it was told of.
   * Never throws.
   */
  async remove(parts: number | undefined, logger: Logger): Promise<void> {
    const locations = [
      ...(this.#hasOrder ? [this.#order] : []),
      ...this.#partLocations(Math.min(parts ?? this.#partCount, this.#partCount)),
    ];
    await removeSpooled(this.#spool, locations, logger);
  }

  /** Throws EXECUTOR_LOST where storage does not answer. */
  async #ask<T>(signal: AbortSignal, request: (store: ObjectStore) => Promise<T>): Promise<T> {
    try {
      return await request(this.#spool.store);
    } catch (error) {
      throwIfAborted(signal);
      throw notThere('a part of its answer cannot be read from the spool', error);
    }
  }

  get #order(): string {
    return `${this.#folder}/order`;
  }

  #partLocations(count: number): readonly string[] {
    return Array.from({ length: count }, (_, part) => this.#part(part));
  }

  #part(part: number): string {
    return `${this.#folder}/part-${part}`;
  }
}

function* piecesOf(bytes: number): Generator<readonly [start: number, end: number], void, undefined> {
  for (let start = 0; start < bytes; start += pieceBytes) yield [start, Math.min(start + pieceBytes, bytes)];
}

function notThere(why: string, cause?: unknown): QueryError {
  return new QueryError('EXECUTOR_LOST', `What a function answered is not whole: ${why}.`, { cause });
}
