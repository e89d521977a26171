/** A cache of parsed immutable files, bounded in bytes; the least recently used go first. */
import { abortable, QueryError, throwIfAborted } from '@svc/base';

export interface Sized<T> {
  readonly value: T;
  /** What keeping the value costs, roughly. */
  readonly bytes: number;
}

/** What is wrong with a file or its storage is so for all; anything else may be the fault of who began the load. */
const sharedCodes: ReadonlySet<string> = new Set([
  'DATA_CORRUPT',
  'DATA_FILE_MISSING',
  'STORAGE_ERROR',
  'UNSUPPORTED_TABLE_FEATURE',
]);

/** Loads of others that one caller waits for: where all of them fail, nobody waits for each of them. */
const maxJoined = 2;

function isOfTheFile(error: unknown): boolean {
  return error instanceof QueryError && sharedCodes.has(error.code);
}

/**
 * Loads of one key at the same time share one load; a failed load is not remembered, and one that failed by the credentials
 * of its caller fails for nobody else.
 */
export class ByteCache {
  readonly #maxBytes: number;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Sized<unknown>>();
  readonly #loading = new Map<string, Promise<Sized<unknown>>>();
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /**
   * The key says the kind of value, so that one key always has one type. A load takes no signal: it may be another
   * caller's too, and ends by itself; `signal` only ends the waiting.
   */
  async get<T>(key: string, load: () => Promise<Sized<T>>, signal?: AbortSignal): Promise<T> {
    for (let joined = 0; ; joined++) {
      const kept = this.#find(key);
      if (kept !== undefined) return kept.value as T;
      const shared = joined < maxJoined ? this.#loading.get(key) : undefined;
      if (shared === undefined) return (await abortable(this.#start(key, load), signal)).value as T;
      try {
        return (await abortable(shared, signal)).value as T;
      } catch (error) {
        throwIfAborted(signal);
        if (isOfTheFile(error)) throw error;
      }
    }
  }

  /** Values that are loaded several at a time: of those that are not kept, `load` answers one for each, in their order. */
  async getAll<T>(
    keys: readonly string[],
    load: (missing: readonly number[]) => Promise<readonly Sized<T>[]>,
  ): Promise<readonly T[]> {
    const found = keys.map((key) => this.#find(key));
    const missing = keys.flatMap((_key, index) => (found[index] === undefined ? [index] : []));
    const loaded = missing.length === 0 ? [] : await load(missing);
    for (const [index, position] of missing.entries()) {
      const [key, entry] = [keys[position], loaded[index]];
      if (key === undefined || entry === undefined) continue;
      found[position] = entry;
      this.#keep(key, entry);
    }
    return found.flatMap((entry) => (entry === undefined ? [] : [entry.value as T]));
  }

  clear(): void {
    this.#entries.clear();
    this.#usedBytes = 0;
  }

  #find(key: string): Sized<unknown> | undefined {
    const kept = this.#entries.get(key);
    if (kept === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, kept);
    return kept;
  }

  async #start<T>(key: string, load: () => Promise<Sized<T>>): Promise<Sized<unknown>> {
    const loading = load();
    this.#loading.set(key, loading);
    try {
      const loaded = await loading;
      this.#keep(key, loaded);
      return loaded;
    } finally {
      if (this.#loading.get(key) === loading) this.#loading.delete(key);
    }
  }

  #keep(key: string, entry: Sized<unknown>): void {
    if (entry.bytes > this.#maxBytes || this.#entries.has(key)) return;
    this.#entries.set(key, entry);
    this.#usedBytes += entry.bytes;
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#usedBytes <= this.#maxBytes) return;
      this.#entries.delete(oldest);
      this.#usedBytes -= bytes;
    }
  }
}
