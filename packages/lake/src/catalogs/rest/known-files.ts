/**
 * What storage said lately of files of tables, for all users: Iceberg's files are not written twice, and asking for each of
 * them again takes longer than reading what is kept of it. Whoever asks must have been given credentials for the place
 * where the file lies; see createVendedStore.
 */
import type { ObjectInfo } from '../../storage/object-store.js';

export interface KnownFilesOptions {
  /** A file that was replaced against the rules is noticed by then, or when reading it fails. */
  readonly ttlMs: number;
  readonly maxBytes: number;
  /** Milliseconds of a clock that no one sets. */
  readonly now: () => number;
}

export interface KnownFiles {
  find(scope: string, location: string): ObjectInfo | undefined;
  keep(scope: string, info: ObjectInfo): void;
  drop(scope: string, location: string): void;
}

interface Entry {
  readonly info: ObjectInfo;
  readonly keptMs: number;
}

/** Of an entry beside the characters of its key and its location. */
const entryBytes = 400;

export function createKnownFiles({ ttlMs, maxBytes, now }: KnownFilesOptions): KnownFiles {
  // In the order in which they were kept, so the first is the oldest.
  const entries = new Map<string, Entry>();
  let usedBytes = 0;
  const keyOf = (scope: string, location: string) => JSON.stringify([scope, location]);
  const drop = (key: string) => {
    if (entries.delete(key)) usedBytes -= bytesOf(key);
  };
  return {
    find(scope, location) {
      const key = keyOf(scope, location);
      const entry = entries.get(key);
      if (entry === undefined || now() - entry.keptMs < ttlMs) return entry?.info;
      drop(key);
      return undefined;
    },
    keep(scope, info) {
      const key = keyOf(scope, info.location);
      drop(key);
      entries.set(key, { info, keptMs: now() });
      usedBytes += bytesOf(key);
      for (const [oldest] of entries) {
        if (usedBytes <= maxBytes) return;
        drop(oldest);
      }
    },
    drop: (scope, location) => drop(keyOf(scope, location)),
  };
}

function bytesOf(key: string): number {
  return entryBytes + 4 * key.length;
}
