/** Brings a selection of one data file into the cache as a compact file, fetching only what no entry has. */
import { createHash } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { QueryError } from '@svc/base';
import type { DataFileInfo } from '../avro-files/describe-avro-file.js';
import type { ParquetFooter } from '../parquet/footer.js';
import type { FooterCache } from '../parquet/footer-cache.js';
import type { CopyStep } from '../storage/copy-plan.js';
import { displayLocation } from '../storage/display-location.js';
import type { ObjectStore } from '../storage/object-store.js';
import { encodeCompactFooter } from './compact-footer.js';
import { layOut, type PlacedChunk, selectionBytes } from './compact-layout.js';
import { convertEntry } from './convert-entry.js';
import { type EntryHeader, headerLength } from './entry-header.js';
import type { RangeReader } from './ordered-fetch.js';
import { isCovered, type Selection, unionOf } from './selection.js';
import type { CacheEntry, StagingCache } from './staging-cache.js';
import { copyChunks, type WrittenEntry, writeEntry } from './write-entry.js';

/** How much larger than what a query needs the entry that is written for it may be. */
const maxGrowth = 3;
/** Read of an older entry at a time: it comes at once, and what is in the processor's cache is written sooner. */
const maxCopyBytes = 1024 * 1024;
/** Another process that makes the same entry puts its own in the place of ours, and may remove that one to make room. */
const maxFills = 3;

export interface CompactFileContext {
  readonly store: ObjectStore;
  readonly cache: StagingCache;
  readonly footers: FooterCache;
  /** The entry must have no further row groups. */
  readonly isPart?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface CompactFile<T> {
  readonly result: T;
  readonly entry: CacheEntry;
  /** Bytes read from storage for it, gaps included; 0 when the cache had it. */
  readonly bytesFetched: number;
}

/**
 * Calls `use` with the path of a cache entry that has at least the selection: `use` makes its own link, the path may
 * be gone afterwards. The entry may have further row groups and columns of the same file, from other queries; of a part
 * only columns.
 */
export async function useCompactFile<T>(
  info: DataFileInfo,
  selection: Selection,
  context: CompactFileContext,
  use: (path: string, entry: CacheEntry) => Promise<T>,
): Promise<CompactFile<T>> {
  const { cache, signal, isPart, store } = context;
  const { version } = info;
  const location = nameInCache(store, info);
  const tryCached = async (): Promise<CompactFile<T> | undefined> => {
    for (let entry = cache.find(location, version, selection, { isPart }); entry !== undefined; ) {
      const found = entry;
      const result = await cache.withEntry(found, signal, async (path) => ({
        value: await use(path, found),
      }));
      if (result !== undefined) return { result: result.value, entry: found, bytesFetched: 0 };
      entry = cache.find(location, version, selection, { isPart });
    }
    return undefined;
  };
  const cached = await tryCached();
  if (cached !== undefined) return cached;
  return cache.fileLock.run(`${version} ${location}`, signal, async () => {
    const other = await tryCached();
    if (other !== undefined) return other;
    for (let fills = 0; fills < maxFills; fills += 1) {
      const filled = await fillAndUse();
      if (filled !== undefined) return filled;
    }
    throw new QueryError(
      'STORAGE_ERROR',
      `The staged copy of ${displayLocation(info.location)} disappeared while it was being used.`,
    );
  });

  async function fillAndUse(): Promise<CompactFile<T> | undefined> {
    // Until the query has its own link, this one keeps other processes from removing the entry to make room.
    const held = cache.unfinishedPath();
    try {
      const { entry, bytesFetched } = await fill(info, selection, { ...context, held });
      const result = await cache.withEntry(entry, signal, async (path) => ({
        value: await use(path, entry),
      }));
      return result && { result: result.value, entry, bytesFetched };
    } finally {
      await rm(held, { force: true });
    }
  }
}

interface FillContext extends CompactFileContext {
  /** Where the new entry gets a second link. */
  readonly held: string;
}

async function fill(
  info: DataFileInfo,
  selection: Selection,
  context: FillContext,
): Promise<{ readonly entry: CacheEntry; readonly bytesFetched: number }> {
  const { cache, store, footers, signal } = context;
  const footer = await footers.get(store, info, signal);
  const existing = entriesOfFile(info, { cache, store });
  const wider = context.isPart === true ? selection : widen(footer, selection, existing);
  try {
    return await write(info, footer, wider, existing, context);
  } catch (error) {
    // The union may be too much for the disk where the selection alone is not.
    if (wider === selection || !(error instanceof QueryError) || error.code !== 'DISK_FULL') throw error;
    return write(info, footer, selection, existing, context);
  }
}

/**
 * The selection joined with entries that make it not much larger: a few columns of one row group are not made into a
 * few columns of all row groups, nor is a large entry written again for the sake of a small addition.
 */
function widen(footer: ParquetFooter, selection: Selection, entries: readonly CacheEntry[]): Selection {
  const ownBytes = selectionBytes(footer, selection);
  let result = selection;
  for (const entry of entries) {
    const union = unionOf(result, entry.header.selection);
    const unionBytes = selectionBytes(footer, union);
    const addedBytes = unionBytes - selectionBytes(footer, entry.header.selection);
    if (addedBytes <= ownBytes && unionBytes <= maxGrowth * ownBytes) result = union;
  }
  return result;
}

async function write(
  info: DataFileInfo,
  footer: ParquetFooter,
  selection: Selection,
  existing: readonly CacheEntry[],
  context: FillContext,
): Promise<{ readonly entry: CacheEntry; readonly bytesFetched: number }> {
  const { cache, store } = context;
  const rowCount = selection.rowGroups.reduce((sum, rowGroup) => sum + (footer.rowCounts[rowGroup] ?? 0), 0);
  const header = { location: nameInCache(store, info), version: info.version, selection, rowCount };
  const path = cache.unfinishedPath();
  try {
    const { sealed, bytesFetched } =
      info.avroRows === undefined
        ? await copyEntry(path, info, footer, header, existing, context)
        : await convertEntry(path, info, footer, header, context);
    await link(path, context.held).catch(() => undefined); // Not every file system has links; then others may be quicker.
    const entry = await cache.commit(path, sealed);
    for (const old of existing)
      if (old !== entry && isCovered(old.header.selection, selection)) await cache.remove(old);
    return { entry, bytesFetched };
  } finally {
    await rm(path, { force: true });
  }
}

async function copyEntry(
  path: string,
  info: DataFileInfo,
  footer: ParquetFooter,
  header: EntryHeader,
  existing: readonly CacheEntry[],
  context: FillContext,
): Promise<WrittenEntry> {
  const { cache, signal } = context;
  const { selection } = header;
  const layout = layOut(footer, selection, headerLength(header));
  const sizeBytes = layout.footerStart + encodeCompactFooter(footer, selection, layout).length;
  const sources = new ChunkSources(info, footer, context);
  let giveBack = (): void => undefined;
  try {
    // Opened before room is made: making room may remove the very entries that the union is made from.
    for (const entry of existing) await sources.addEntry(entry);
    giveBack = await cache.reserve(sizeBytes, `Staging ${displayLocation(info.location)}`);
    const { budget, buffers, openFile } = cache;
    const sourceOf = (chunk: PlacedChunk): CopyStep<RangeReader> => sources.stepFor(chunk);
    const sealed = await writeEntry({
      ...{ path, header, openFile },
      writeData: (append) =>
        copyChunks(append, { footer, header, layout, sourceOf, budget, buffers, signal }),
    });
    return { sealed, bytesFetched: sources.bytesFetched };
  } finally {
    giveBack();
    await sources.close();
  }
}

/** The entry that would serve a query now, if there is one. */
export function findEntry(
  info: DataFileInfo,
  selection: Selection,
  { cache, store }: Pick<CompactFileContext, 'cache' | 'store'>,
): CacheEntry | undefined {
  return cache.find(nameInCache(store, info), info.version, selection);
}

/** All entries that have something of the file. */
export function entriesOfFile(
  info: DataFileInfo,
  { cache, store }: Pick<CompactFileContext, 'cache' | 'store'>,
): readonly CacheEntry[] {
  return cache.entriesOf(nameInCache(store, info), info.version);
}

/**
 * Under which an entry is found. Entries lie on the disk, where no password or signature of a URL is to be found: a digest
 * stands for what is left out, for whose file it is, and for Avro: bytes that are both Avro and Parquet are two files.
 */
function nameInCache({ scope = '' }: ObjectStore, { location, avroRows }: DataFileInfo): string {
  const bare = displayLocation(location);
  if (bare === location && scope === '' && avroRows === undefined) return location;
  const owned = scope === '' ? location : JSON.stringify([scope, location]);
  const identity = avroRows === undefined ? owned : JSON.stringify(['avro', avroRows, scope, location]);
  return `${bare}#${createHash('sha256').update(identity).digest('hex')}`;
}

/** Where chunks are to be had: entries that have them already, else storage. */
class ChunkSources {
  bytesFetched = 0;
  readonly #readers = new Map<number, { readonly read: RangeReader; readonly start: number }>();
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #info: DataFileInfo;
  readonly #footer: ParquetFooter;
  readonly #context: CompactFileContext;

  constructor(info: DataFileInfo, footer: ParquetFooter, context: CompactFileContext) {
    this.#info = info;
    this.#footer = footer;
    this.#context = context;
  }

  /** The opened file stays readable whatever happens to the entry's name meanwhile. */
  async addEntry(entry: CacheEntry): Promise<void> {
    const { cache, signal } = this.#context;
    const file = await cache.withEntry(entry, signal, (path) => open(path, 'r'));
    if (file === undefined) return;
    this.#closers.push(() => file.close());
    const read: RangeReader = async (into, start) => {
      const { bytesRead } = await file.read(into, 0, into.length, start);
      if (bytesRead !== into.length)
        throw new QueryError(
          'STORAGE_ERROR',
          `The staged copy of ${displayLocation(this.#info.location)} is cut short.`,
        );
    };
    const { chunks } = layOut(this.#footer, entry.header.selection, headerLength(entry.header));
    for (const chunk of chunks) this.#readers.set(this.#indexOf(chunk), { read, start: chunk.targetStart });
  }

  stepFor(chunk: PlacedChunk): CopyStep<RangeReader> {
    const length = chunk.sourceEnd - chunk.sourceStart;
    const cached = this.#readers.get(this.#indexOf(chunk));
    if (cached === undefined)
      return { source: this.#readStorage, start: chunk.sourceStart, end: chunk.sourceEnd };
    const { read: source, start } = cached;
    return { source, start, end: start + length, maxReadBytes: maxCopyBytes };
  }

  async close(): Promise<void> {
    for (const close of this.#closers) await close();
  }

  readonly #readStorage: RangeReader = async (into, start, signal) => {
    const { location, version } = this.#info;
    const range = { start, end: start + into.length };
    const [bytes] = await this.#context.store.readRanges(location, [range], {
      version,
      signal,
      into: [into],
    });
    if (bytes?.length !== into.length)
      throw new QueryError('DATA_CORRUPT', `${displayLocation(location)} answered fewer bytes than it has.`);
    if (bytes !== into) into.set(bytes);
    this.bytesFetched += into.length;
  };

  #indexOf(chunk: PlacedChunk): number {
    return chunk.rowGroup * this.#footer.schema.leaves.length + chunk.column;
  }
}
