/**
 * The disk cache of staged files: compact Parquet files, bounded in bytes, the least recently used goes first.
 *
 * - An entry appears by a rename when it is complete, is never written again (0444, and a seal shows it if somebody
 *   does), and is served only under the location and version it was made from; by another process than its writer,
 *   only after its checksum: what a crash of the machine left may be anything.
 * - Using an entry is making a hard link to it. Removing an entry's own name never touches a link, so a query keeps
 *   its files; but it frees no bytes either, so entries with links are not removed to make room, and stay counted.
 * - Several processes may share a folder: each takes up what it finds there, an entry that another one removed is
 *   fetched again, and two that make the same entry make the same bytes.
 */
import { mkdir, type open, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { QueryError } from '@svc/base';
import { BufferPool } from '../storage/buffer-pool.js';
import { ByteBudget } from '../storage/byte-budget.js';
import {
  entryName,
  type FolderEntry,
  isContentIntact,
  isMissing,
  isSealIntact,
  readFolder,
  unfinishedName,
} from './cache-folder.js';
import type { SealedHeader } from './entry-header.js';
import { KeyedLock } from './keyed-lock.js';
import { isCovered, type Selection } from './selection.js';

export interface StagingCacheOptions {
  /** Best on the device of the engines' input folders: elsewhere entries are copied instead of linked. */
  readonly folder: string;
  readonly maxBytes: number;
  /** Bytes that all fetches together may hold in memory; 64 MiB by default. */
  readonly maxBytesInMemory?: number;
  /** Milliseconds since 1970; the clock by default. */
  readonly now?: () => number;
  /** Opens files to be written; for tests that let the disk fail. */
  readonly openFile?: typeof open;
}

export interface CacheEntry {
  readonly name: string;
  readonly path: string;
  readonly header: SealedHeader;
  lastUsedMs: number;
  /** When the use was last written to the file's access time. */
  lastNotedMs: number;
  isVerified: boolean;
  pins: number;
}

const defaultBytesInMemory = 64 * 1024 * 1024;
/** Uses are noted on disk at most so often: the order only has to be about right after a restart. */
const noteEveryMs = 60_000;
/** How old the knowledge of other processes' entries may be when a file is added. */
const refreshEveryMs = 500;

/** Opens or makes the folder (0700) and indexes what is in it; half-written and damaged files are removed. */
export async function openStagingCache(options: StagingCacheOptions): Promise<StagingCache> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const cache = new StagingCache(options);
  await cache.refresh();
  await cache.makeRoom(0);
  return cache;
}

export class StagingCache {
  readonly budget: ByteBudget;
  /** For what the budget lets in. */
  readonly buffers: BufferPool;
  /** Work on one data file at a time. */
  readonly fileLock = new KeyedLock();
  readonly openFile: typeof open | undefined;
  readonly #options: StagingCacheOptions;
  readonly #entries = new Map<string, CacheEntry>();
  readonly #byFile = new Map<string, Set<CacheEntry>>();
  #reservedBytes = 0;
  #foreignBytes = 0;
  #bytes = 0;
  #refreshedMs = Number.NEGATIVE_INFINITY;

  constructor(options: StagingCacheOptions) {
    this.#options = options;
    this.openFile = options.openFile;
    const { maxBytesInMemory = defaultBytesInMemory } = options;
    this.budget = new ByteBudget(maxBytesInMemory);
    this.buffers = new BufferPool(maxBytesInMemory);
  }

  /** Bytes of all entries, and how many there are. */
  stats(): { readonly bytes: number; readonly entries: number; readonly maxBytes: number } {
    return { bytes: this.#bytes, entries: this.#entries.size, maxBytes: this.#options.maxBytes };
  }

  now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  /** A path for a file to be written aside. */
  unfinishedPath(): string {
    return join(this.#options.folder, unfinishedName());
  }

  entriesOf(location: string, version: string): readonly CacheEntry[] {
    return [...(this.#byFile.get(fileKey(location, version)) ?? [])];
  }

  /** The smallest entry that has everything selected; for a part of a file, and no further row group. */
  find(
    location: string,
    version: string,
    selection: Selection,
    { isPart = false }: { readonly isPart?: boolean | undefined } = {},
  ): CacheEntry | undefined {
    let best: CacheEntry | undefined;
    for (const entry of this.#byFile.get(fileKey(location, version)) ?? []) {
      const found = entry.header.selection;
      if (!isCovered(selection, found)) continue;
      if (isPart && found.rowGroups.length > selection.rowGroups.length) continue;
      if (best === undefined || entry.header.sizeBytes < best.header.sizeBytes) best = entry;
    }
    return best;
  }

  /** Bytes that could be staged beside what is there, without removing anything. */
  unusedBytes(): number {
    return this.#options.maxBytes - this.#bytes - this.#reservedBytes - this.#foreignBytes;
  }

  /** Bytes that could be staged now: all but what running queries hold, and but the entries that `isNeeded` names. */
  async freeBytes(isNeeded: (entry: CacheEntry) => boolean): Promise<number> {
    await this.refresh();
    let heldBytes = 0;
    for (const entry of this.#entries.values())
      if (isNeeded(entry) || !(await this.#isUnlinked(entry))) heldBytes += entry.header.sizeBytes;
    return this.#options.maxBytes - heldBytes - this.#reservedBytes - this.#foreignBytes;
  }

  /**
   * Runs `use` while the entry is neither removed nor changed. Answers `undefined`, and forgets the entry, when it is
   * gone or damaged.
   */
  async withEntry<T>(
    entry: CacheEntry,
    signal: AbortSignal | undefined,
    use: (path: string) => Promise<T>,
  ): Promise<T | undefined> {
    entry.pins += 1;
    try {
      if (!(await this.#isIntact(entry, signal))) {
        await this.remove(entry);
        return undefined;
      }
      await this.#noteUse(entry);
      return await use(entry.path);
    } catch (error) {
      if (!isMissing(error) || (await isSealIntact(entry.path, entry.header))) throw error;
      this.#forget(entry);
      return undefined;
    } finally {
      entry.pins -= 1;
    }
  }

  /**
   * Reserves bytes for a file to be written, removing entries that nobody uses. Throws DISK_FULL when that is not
   * enough. The answer gives the reservation back.
   */
  async reserve(bytes: number, forWhat: string): Promise<() => void> {
    if (this.now() - this.#refreshedMs > refreshEveryMs) await this.refresh();
    this.#reservedBytes += bytes;
    let isReserved = true;
    const giveBack = (): void => {
      if (isReserved) this.#reservedBytes -= bytes;
      isReserved = false;
    };
    try {
      if (await this.makeRoom(0)) return giveBack;
      await this.refresh(); // Another process may have removed something.
      if (await this.makeRoom(0)) return giveBack;
    } catch (error) {
      giveBack();
      throw error;
    }
    giveBack();
    const heldBytes = this.#bytes + this.#reservedBytes + this.#foreignBytes;
    throw new QueryError(
      'DISK_FULL',
      `${forWhat} needs ${bytes} bytes of staging space; of the ${this.#options.maxBytes} bytes there are (cache.disk_bytes), running queries hold ${heldBytes}.`,
    );
  }

  /** Takes a finished file into the cache under its name. */
  async commit(unfinishedPath: string, header: SealedHeader): Promise<CacheEntry> {
    const name = entryName(header);
    await rename(unfinishedPath, join(this.#options.folder, name));
    const known = this.#entries.get(name);
    if (known !== undefined) this.#forget(known);
    return this.#add({ name, header, lastUsedMs: this.now() }, true);
  }

  async remove(entry: CacheEntry): Promise<void> {
    this.#forget(entry);
    await rm(entry.path, { force: true });
  }

  /** Looks at what other processes have done in the folder. */
  async refresh(): Promise<void> {
    this.#refreshedMs = this.now();
    const before = new Set(this.#entries.keys());
    const content = await readFolder(this.#options.folder, (name) => this.#entries.has(name), this.now());
    for (const entry of content.added) if (!this.#entries.has(entry.name)) this.#add(entry, false);
    // Entries committed while the folder was being read are not in `before` and stay.
    for (const name of before) {
      const entry = this.#entries.get(name);
      if (entry !== undefined && !content.names.has(name)) this.#forget(entry);
    }
    this.#foreignBytes = content.unfinishedBytes;
  }

  /** Removes unused entries, oldest use first, until `bytes` more fit; false when they do not. */
  async makeRoom(bytes: number): Promise<boolean> {
    const isTooMuch = (): boolean =>
      this.#bytes + this.#reservedBytes + this.#foreignBytes + bytes > this.#options.maxBytes;
    if (!isTooMuch()) return true;
    const oldestFirst = [...this.#entries.values()].sort((a, b) => a.lastUsedMs - b.lastUsedMs);
    for (const entry of oldestFirst) {
      if (entry.pins === 0 && (await this.#isUnlinked(entry))) await this.remove(entry);
      if (!isTooMuch()) return true;
    }
    return false;
  }

  async #isUnlinked(entry: CacheEntry): Promise<boolean> {
    try {
      return (await stat(entry.path)).nlink === 1 && entry.pins === 0;
    } catch (error) {
      if (!isMissing(error)) throw error;
      return true;
    }
  }

  async #isIntact(entry: CacheEntry, signal: AbortSignal | undefined): Promise<boolean> {
    if (!(await isSealIntact(entry.path, entry.header))) return false;
    if (!entry.isVerified) entry.isVerified = await isContentIntact(entry.path, entry.header, signal);
    return entry.isVerified;
  }

  async #noteUse(entry: CacheEntry): Promise<void> {
    const now = this.now();
    entry.lastUsedMs = now;
    if (now - entry.lastNotedMs < noteEveryMs) return;
    entry.lastNotedMs = now;
    await utimes(entry.path, now / 1000, entry.header.sealSeconds);
  }

  #add(entry: FolderEntry, isVerified: boolean): CacheEntry {
    const { name, header, lastUsedMs } = entry;
    const added: CacheEntry = {
      name,
      header,
      path: join(this.#options.folder, name),
      lastUsedMs,
      lastNotedMs: lastUsedMs,
      isVerified,
      pins: 0,
    };
    const key = fileKey(header.location, header.version);
    const siblings = this.#byFile.get(key) ?? new Set();
    this.#byFile.set(key, siblings.add(added));
    this.#entries.set(name, added);
    this.#bytes += header.sizeBytes;
    return added;
  }

  #forget(entry: CacheEntry): void {
    if (this.#entries.get(entry.name) !== entry) return;
    this.#entries.delete(entry.name);
    this.#bytes -= entry.header.sizeBytes;
    const key = fileKey(entry.header.location, entry.header.version);
    const siblings = this.#byFile.get(key);
    siblings?.delete(entry);
    if (siblings?.size === 0) this.#byFile.delete(key);
  }
}

function fileKey(location: string, version: string): string {
  return `${version} ${location}`;
}
