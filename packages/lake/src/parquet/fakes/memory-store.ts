import { readFileSync } from 'node:fs';
import { QueryError, throwIfAborted } from '@svc/base';
import type { ByteRange, ObjectStore } from '../../storage/object-store.js';

/** A store for tests: files in memory that are not on this machine's disk, with every request counted. */
export class MemoryStore implements ObjectStore {
  readonly files = new Map<string, { bytes: Uint8Array; version: string }>();
  headCount = 0;
  readonly ranges: ByteRange[] = [];
  /** Called before a range is answered; may wait or throw. */
  beforeRead: (range: ByteRange) => Promise<void> = async () => undefined;

  put(location: string, bytes: Uint8Array, version = `v${bytes.length}`): void {
    this.files.set(location, { bytes, version });
  }

  get bytesRead(): number {
    return this.ranges.reduce((sum, range) => sum + range.end - range.start, 0);
  }

  forgetCounts(): void {
    this.headCount = 0;
    this.ranges.length = 0;
  }

  async head(location: string): ReturnType<ObjectStore['head']> {
    this.headCount += 1;
    const { bytes, version } = this.#file(location);
    return { location, sizeBytes: bytes.length, version };
  }

  async moveIn(): Promise<void> {
    throw new Error('Nothing of these tests moves a file in.');
  }

  async read(location: string): Promise<Uint8Array> {
    return this.#file(location).bytes;
  }

  async readRanges(
    location: string,
    ranges: readonly ByteRange[],
    options: Parameters<ObjectStore['readRanges']>[2] = {},
  ): Promise<readonly Uint8Array[]> {
    const answers: Uint8Array[] = [];
    for (const range of ranges) {
      this.ranges.push(range);
      await this.beforeRead(range);
      throwIfAborted(options.signal);
      const { bytes, version } = this.#file(location);
      if (options.version !== undefined && options.version !== version)
        throw new QueryError('STORAGE_ERROR', `${location} was changed.`);
      answers.push(bytes.slice(range.start, range.end));
    }
    return answers;
  }

  async list(folder: string): ReturnType<ObjectStore['list']> {
    const entries = new Map<string, boolean>();
    for (const location of this.files.keys()) {
      if (!location.startsWith(`${folder}/`)) continue;
      const [name = '', ...rest] = location.slice(folder.length + 1).split('/');
      entries.set(name, rest.length > 0);
    }
    return [...entries].map(([name, isFolder]) => ({ name, isFolder }));
  }

  async write(): Promise<never> {
    throw new QueryError('NOT_SUPPORTED', 'The test store is not written to.');
  }

  async delete(): Promise<void> {}

  localPath(): undefined {
    return undefined;
  }

  #file(location: string): { bytes: Uint8Array; version: string } {
    const file = this.files.get(location);
    if (file === undefined) throw new QueryError('DATA_FILE_MISSING', `The file ${location} does not exist.`);
    return file;
  }
}

/** The bytes of a file of testdata/parquet. */
export function testFile(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`../../../testdata/parquet/${name}`, import.meta.url)));
}

/** A store with one of those files. */
export function storeWith(name: string): MemoryStore {
  const store = new MemoryStore();
  store.put(name, testFile(name));
  return store;
}

/** A repeatable stream of numbers in [0, 1) (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
