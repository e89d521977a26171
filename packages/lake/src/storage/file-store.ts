/**
 * The object store of this machine's disk. Whole objects appear at once or not at all: written aside, synced, then
 * renamed (or linked, when the object must not exist yet).
 */
import { randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { QueryError, throwIfAborted } from '@svc/base';
import { fileError } from './file-errors.js';
import { toLocalPath } from './local-path.js';
import { mapConcurrently } from './map-concurrently.js';
import type {
  ByteRange,
  ListEntry,
  ObjectInfo,
  ObjectStore,
  RangeReadOptions,
  ReadOptions,
  WriteOptions,
} from './object-store.js';
import { syncFolder } from './sync-folder.js';

/** Node reads files on four threads by default; more requests only queue there. */
const maxConcurrentReads = 4;
/** One read call; a larger range is read in pieces so that an abort is seen. */
const maxReadBytes = 16 * 1024 * 1024;
/** A whole-object read above this is refused before its buffer is made. */
const maxObjectBytes = 1024 * 1024 * 1024;
/** A FIFO would block `open` for ever; with this flag it opens, and is then refused as no regular file. */
const openFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** A store for plain paths and `file:` locations. It holds nothing open between calls. */
export function createFileStore(): ObjectStore {
  return {
    head,
    read,
    readRanges,
    list,
    write,
    moveIn,
    delete: remove,
    localPath: toLocalPath,
    grant: async () => ({ kind: 'files' }),
  };
}

async function head(location: string, options: ReadOptions = {}): Promise<ObjectInfo> {
  throwIfAborted(options.signal);
  const path = toLocalPath(location);
  try {
    return describe(location, await stat(path, { bigint: true }), options.version);
  } catch (error) {
    throw fileError(location, error);
  }
}

async function read(location: string, options: ReadOptions = {}): Promise<Uint8Array> {
  return withOpenFile(location, options, async (file, info) => {
    if (info.sizeBytes > maxObjectBytes)
      throw new QueryError(
        'STORAGE_ERROR',
        `${location} has ${info.sizeBytes} bytes; files above ${maxObjectBytes} bytes are not read as a whole.`,
        { retryable: false },
      );
    return readRange(file, location, { start: 0, end: info.sizeBytes }, options.signal);
  });
}

async function readRanges(
  location: string,
  ranges: readonly ByteRange[],
  options: RangeReadOptions = {},
): Promise<readonly Uint8Array[]> {
  return withOpenFile(location, options, async (file, info) => {
    for (const range of ranges) checkRange(location, range, info.sizeBytes);
    return mapConcurrently(
      ranges,
      { maxConcurrent: maxConcurrentReads, signal: options.signal },
      (range, index) => readRange(file, location, range, options.signal, options.into?.[index]),
    );
  });
}

async function list(folder: string, options: ReadOptions = {}): Promise<readonly ListEntry[]> {
  throwIfAborted(options.signal);
  const path = toLocalPath(folder);
  try {
    const entries = await readdir(path, { withFileTypes: true });
    const listed = entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
    const links = listed.filter((_entry, index) => entries[index]?.isSymbolicLink() === true);
    await mapConcurrently(
      links,
      { maxConcurrent: maxConcurrentReads, signal: options.signal },
      async (link) => {
        link.isFolder = await isFolder(join(path, link.name));
      },
    );
    return listed.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    const missing = fileError(folder, error);
    if (missing.code === 'DATA_FILE_MISSING') return [];
    throw missing;
  }
}

async function write(location: string, body: Uint8Array, options: WriteOptions = {}): Promise<ObjectInfo> {
  // Another process may come between a look at the file and the renaming.
  if (options.ifVersion !== undefined)
    throw new QueryError('NOT_SUPPORTED', `Files are not replaced by version (${location}).`);
  return await appearing(location, options, (aside) => writeAside(aside, location, body));
}

async function moveIn(location: string, source: string, options: ReadOptions = {}): Promise<void> {
  await appearing(location, { ...options, ifAbsent: true }, async (aside) => {
    await rename(source, aside).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EXDEV') throw error;
      await copyFile(source, aside);
    });
    const file = await open(aside, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  });
}

/** Makes an object of the synced file that `make` leaves at the path it is given: at once, or not at all. */
async function appearing<T>(
  location: string,
  options: Pick<WriteOptions, 'signal' | 'ifAbsent'>,
  make: (aside: string) => Promise<T>,
): Promise<T> {
  throwIfAborted(options.signal);
  const path = toLocalPath(location);
  const folder = dirname(path);
  const aside = join(folder, `.${randomUUID()}.tmp`);
  try {
    await makeFolder(folder);
    const made = await make(aside);
    throwIfAborted(options.signal);
    if (options.ifAbsent === true) await link(aside, path);
    else await rename(aside, path);
    await syncFolder(folder);
    return made;
  } catch (error) {
    throw fileError(location, error);
  } finally {
    await rm(aside, { force: true });
  }
}

/** One level only: where a table was dropped, a late file must not look like the beginning of something new. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

async function remove(location: string, options: ReadOptions = {}): Promise<void> {
  throwIfAborted(options.signal);
  const path = toLocalPath(location);
  try {
    await rm(path, { force: true });
  } catch (error) {
    throw fileError(location, error);
  }
}

/** Checks the version before and after, so that bytes of two versions are never answered as one. */
async function withOpenFile<T>(
  location: string,
  options: ReadOptions,
  use: (file: FileHandle, info: ObjectInfo) => Promise<T>,
): Promise<T> {
  throwIfAborted(options.signal);
  const path = toLocalPath(location);
  let file: FileHandle | undefined;
  try {
    file = await open(path, openFlags);
    const info = describe(location, await file.stat({ bigint: true }), options.version);
    const result = await use(file, info);
    if (options.version !== undefined) describe(location, await file.stat({ bigint: true }), options.version);
    return result;
  } catch (error) {
    throw fileError(location, error);
  } finally {
    await file?.close();
  }
}

function describe(location: string, stats: BigIntStats, expectedVersion: string | undefined): ObjectInfo {
  if (!stats.isFile())
    throw new QueryError('STORAGE_ERROR', `${location} is not a file.`, { retryable: false });
  const version = `${stats.size}-${stats.mtimeNs}-${stats.ino}`;
  if (expectedVersion !== undefined && version !== expectedVersion)
    throw new QueryError('STORAGE_ERROR', `${location} was changed while it was being read.`);
  return { location, sizeBytes: Number(stats.size), version, modifiedMs: Number(stats.mtimeMs) };
}

function checkRange(location: string, range: ByteRange, sizeBytes: number): void {
  if (range.start >= 0 && range.start <= range.end && range.end <= sizeBytes) return;
  throw new QueryError(
    'DATA_CORRUPT',
    `${location} has ${sizeBytes} bytes, but bytes ${range.start} to ${range.end} of it are referred to: it is cut short or its metadata is wrong.`,
  );
}

async function readRange(
  file: FileHandle,
  location: string,
  range: ByteRange,
  signal: AbortSignal | undefined,
  buffer: Uint8Array = Buffer.allocUnsafeSlow(range.end - range.start),
): Promise<Uint8Array> {
  const length = range.end - range.start;
  for (let done = 0; done < length; ) {
    throwIfAborted(signal);
    const wanted = Math.min(length - done, maxReadBytes);
    const { bytesRead } = await file.read(buffer, done, wanted, range.start + done);
    if (bytesRead === 0)
      throw new QueryError(
        'DATA_CORRUPT',
        `${location} ended at byte ${range.start + done}: it is cut short.`,
      );
    done += bytesRead;
  }
  return buffer;
}

async function writeAside(aside: string, location: string, body: Uint8Array): Promise<ObjectInfo> {
  const file = await open(aside, 'wx');
  try {
    await file.writeFile(body);
    await file.sync();
    return describe(location, await file.stat({ bigint: true }), undefined);
  } finally {
    await file.close();
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false; // A dangling link is nobody's folder.
  }
}
