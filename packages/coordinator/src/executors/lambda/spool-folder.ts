/** What one invocation leaves in the spool: its order, the parts of its answer. It goes with the invocation. */
import { createHash } from 'node:crypto';
import { type Logger, QueryError, throwIfAborted } from '@svc/base';
import type { SpooledPart } from '@svc/fragment-fn';
import { newSpoolFolder, removeSpooled, type Spool, signAll } from '../../spool/spool.js';

export class SpoolFolder {
  readonly #spool: Spool;
  readonly #folder: string;
  #partCount = 0;
  #hasOrder = false;

  constructor(spool: Spool, queryId: string) {
    this.#spool = spool;
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

  /** Throws EXECUTOR_LOST when there lies something else than the function says that it put there. */
  async readPart({ part, bytes, sha256 }: SpooledPart, signal: AbortSignal): Promise<Uint8Array> {
    if (part >= this.#partCount) throw notThere('it has put a part where it may not');
    let content: Uint8Array;
    try {
      const info = await this.#spool.store.head(this.#part(part), { signal });
      if (info.sizeBytes !== bytes) throw notThere('a part of its answer is not as long as it says');
      content = await this.#spool.store.read(this.#part(part), { signal, version: info.version });
    } catch (error) {
      throwIfAborted(signal);
      if (error instanceof QueryError && error.code === 'EXECUTOR_LOST') throw error;
      throw notThere('a part of its answer cannot be read from the spool', error);
    }
    if (content.byteLength !== bytes || createHash('sha256').update(content).digest('hex') !== sha256)
      throw notThere('a part of its answer is not the one that it put there');
    return content;
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

function notThere(why: string, cause?: unknown): QueryError {
  return new QueryError('EXECUTOR_LOST', `What a function answered is not whole: ${why}.`, { cause });
}
