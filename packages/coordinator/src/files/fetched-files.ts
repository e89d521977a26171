/** Files from elsewhere that the engine reads as a whole, kept on this machine's disk while the session lasts. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { QueryError, throwIfAborted } from '@svc/base';
import { displayLocation, mapConcurrently, type ObjectInfo, type ObjectStore } from '@svc/lake';

export interface FetchedFilesOptions {
  readonly store: ObjectStore;
  /** A folder of the session's own; whoever made it removes it. */
  readonly folder: string;
  /** Of all files together. */
  readonly maxBytes: number;
}

/** One range of a file; a few of them are in memory at a time. */
const pieceBytes = 8 * 2 ** 20;
const maxConcurrentPieces = 4;

interface FetchedFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** The statement that used it last. */
  statement: number;
}

export class FetchedFiles {
  readonly #options: FetchedFilesOptions;
  /** The least recently used first. */
  readonly #files = new Map<string, FetchedFile>();
  #bytes = 0;
  #statement = 0;
  #bytesFetched = 0;

  constructor(options: FetchedFilesOptions) {
    this.#options = options;
  }

  /** All bytes that were fetched so far. */
  get bytesFetched(): number {
    return this.#bytesFetched;
  }

  /** Files of earlier statements may go from now on when others need their place. */
  beginStatement(): void {
    this.#statement += 1;
  }

  /** The path of the object's content; it keeps its name and its folders'. Throws DISK_FULL, STORAGE_ERROR, … */
  async fetch(info: ObjectInfo, signal: AbortSignal): Promise<string> {
    const key = createHash('sha256').update(`${info.version} ${info.location}`).digest('hex').slice(0, 24);
    const known = this.#files.get(key);
    if (known !== undefined) {
      this.#files.delete(key);
      this.#files.set(key, known);
      known.statement = this.#statement;
      return known.path;
    }
    await this.#makeRoom(info);
    const path = join(this.#options.folder, key, ...localSegments(info.location));
    await mkdir(dirname(path), { recursive: true });
    const aside = join(this.#options.folder, `${randomUUID()}.tmp`);
    try {
      await this.#write(info, aside, signal);
      await rename(aside, path);
    } finally {
      await rm(aside, { force: true });
    }
    this.#files.set(key, { path, sizeBytes: info.sizeBytes, statement: this.#statement });
    this.#bytes += info.sizeBytes;
    return path;
  }

  async #makeRoom({ location, sizeBytes }: ObjectInfo): Promise<void> {
    const { maxBytes, folder } = this.#options;
    for (const [key, file] of this.#files) {
      if (this.#bytes + sizeBytes <= maxBytes) return;
      if (file.statement === this.#statement) continue;
      this.#files.delete(key);
      this.#bytes -= file.sizeBytes;
      await rm(join(folder, key), { recursive: true, force: true });
    }
    if (this.#bytes + sizeBytes > maxBytes)
      throw new QueryError(
        'DISK_FULL',
        `${displayLocation(location)} has ${sizeBytes} bytes; files from elsewhere may take ${maxBytes} bytes of the disk together (cache.disk_bytes).`,
      );
  }

  async #write(
    { location, sizeBytes, version }: ObjectInfo,
    path: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { store } = this.#options;
    const starts = Array.from(
      { length: Math.ceil(sizeBytes / pieceBytes) },
      (_none, index) => index * pieceBytes,
    );
    const file = await open(path, 'wx', 0o600);
    try {
      await mapConcurrently(starts, { maxConcurrent: maxConcurrentPieces, signal }, async (start) => {
        const end = Math.min(sizeBytes, start + pieceBytes);
        const [bytes] = await store.readRanges(location, [{ start, end }], { version, signal });
        if (bytes?.length !== end - start)
          throw new QueryError(
            'STORAGE_ERROR',
            `${displayLocation(location)} answered fewer bytes than it has.`,
          );
        for (let done = 0; done < bytes.length; )
          done += (await file.write(bytes, done, bytes.length - done, start + done)).bytesWritten;
        this.#bytesFetched += bytes.length;
      });
      throwIfAborted(signal);
    } finally {
      await file.close();
    }
  }
}

const maxSegmentBytes = 200;
const maxFolders = 8;

/** The name of a location, below those of its folders whose names are values to the engine: `year=2024`. */
function localSegments(location: string): readonly string[] {
  const path = location.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*\/*/i, '').replace(/[?#].*$/, '');
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.' && segment !== '..');
  const folders = segments
    .slice(0, -1)
    .filter((segment) => segment.includes('='))
    .slice(-maxFolders);
  const named = [...folders, segments.at(-1) ?? 'file'];
  return named.map((segment) =>
    Buffer.from(segment).subarray(-maxSegmentBytes).toString('utf8').replaceAll('\0', ''),
  );
}
