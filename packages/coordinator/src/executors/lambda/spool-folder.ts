/**
 * The spool bucket, with the coordinator's own role. What one invocation may leave there lies in a folder of its own below
 * that of its query, and goes with the invocation; a rule of the bucket removes what a late function puts after that.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type Logger, QueryError, throwIfAborted } from '@svc/base';
import type { SpooledPart } from '@svc/fragment-fn';
import { mapConcurrently, type ObjectStore, type S3Signer } from '@svc/lake';

export interface Spool {
  /** `s3://bucket/prefix`. */
  readonly location: string;
  readonly store: ObjectStore;
  readonly signer: S3Signer;
}

/** As long as an invocation may take, and its answer be put. */
const signedSeconds = 20 * 60;
const maxConcurrent = 8;
const deleteMs = 60_000;

export class SpoolFolder {
  readonly #spool: Spool;
  readonly #folder: string;
  #partCount = 0;
  #hasOrder = false;

  constructor(spool: Spool, queryId: string) {
    this.#spool = spool;
    this.#folder = `${spool.location.replace(/\/+$/, '')}/${folderName(queryId)}/${randomUUID()}`;
  }

  async partUrls(count: number, signal: AbortSignal): Promise<readonly string[]> {
    this.#partCount = count;
    const parts = Array.from({ length: count }, (_, part) => part);
    return await mapConcurrently(parts, { maxConcurrent, signal }, (part) =>
      this.#spool.signer.sign('PUT', this.#part(part), signedSeconds, signal),
    );
  }

  /** Answers where it can be read by whoever has the address. */
  async putOrder(sealed: Uint8Array, signal: AbortSignal): Promise<string> {
    this.#hasOrder = true;
    await this.#spool.store.write(this.#order, sealed, { signal });
    return await this.#spool.signer.sign('GET', this.#order, signedSeconds, signal);
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

  /** `parts`: how many there are, where that is known. Never throws. */
  async remove(parts: number | undefined, logger: Logger): Promise<void> {
    const count = parts ?? this.#partCount;
    const locations = [
      ...(this.#hasOrder ? [this.#order] : []),
      ...Array.from({ length: count }, (_, part) => this.#part(part)),
    ];
    const signal = AbortSignal.timeout(deleteMs);
    try {
      await mapConcurrently(locations, { maxConcurrent, signal }, (location) =>
        this.#spool.store.delete(location, { signal }),
      );
    } catch (error) {
      const { code } = QueryError.from(error);
      logger.log('warn', 'parts of an answer stay in the spool until they expire', { error_code: code });
    }
  }

  get #order(): string {
    return `${this.#folder}/order`;
  }

  #part(part: number): string {
    return `${this.#folder}/part-${part}`;
  }
}

/** Ids are our own; what they are used for here must hold of any. */
function folderName(queryId: string): string {
  return /^[\w-]{1,128}$/.test(queryId) ? queryId : createHash('sha256').update(queryId).digest('hex');
}

function notThere(why: string, cause?: unknown): QueryError {
  return new QueryError('EXECUTOR_LOST', `What a function answered is not whole: ${why}.`, { cause });
}
