/**
 * Tables as they were loaded last, with the ETag of that answer: the catalog is asked each time whether the user may load
 * the table, and need not send again what has not changed. Nobody is answered what somebody else loaded. Bounded in bytes
 * over all users; the least recently used goes first.
 */
import { metadataBytes } from '../../iceberg/cache/metadata-bytes.js';
import type { LoadedTable, TableIdentifier } from '../catalog.js';

export interface KeptLoad {
  readonly etag: string;
  readonly table: LoadedTable;
  /** Milliseconds since 1970. From then on a whole answer is of use: it comes with new credentials. */
  readonly freshUntilMs: number;
}

/** Those of one user with one token. */
export interface OwnLoads {
  get(identifier: TableIdentifier): KeptLoad | undefined;
  keep(identifier: TableIdentifier, load: KeptLoad): void;
  drop(identifier: TableIdentifier): void;
  clear(): void;
}

interface Entry extends KeptLoad {
  readonly bytes: number;
  readonly owner: Map<string, Entry>;
  readonly name: string;
}

/** A store, its client and the entry itself. */
const entryBytes = 16 * 1024;

export class KeptLoads {
  readonly #maxBytes: number;
  /** In the order of their last use. */
  readonly #entries = new Set<Entry>();
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  ofUser(): OwnLoads {
    const owner = new Map<string, Entry>();
    const nameOf = ({ namespace, name }: TableIdentifier) => JSON.stringify([namespace, name]);
    const dropNamed = (name: string) => {
      const entry = owner.get(name);
      if (entry !== undefined) this.#drop(entry);
    };
    return {
      get: (identifier) => {
        const entry = owner.get(nameOf(identifier));
        if (entry !== undefined) this.#touch(entry);
        return entry;
      },
      keep: (identifier, load) => {
        const name = nameOf(identifier);
        dropNamed(name);
        const bytes = entryBytes + metadataBytes(load.table.metadata);
        if (bytes <= this.#maxBytes) this.#add({ ...load, bytes, owner, name });
      },
      drop: (identifier) => dropNamed(nameOf(identifier)),
      clear: () => {
        for (const entry of owner.values()) this.#drop(entry);
      },
    };
  }

  #touch(entry: Entry): void {
    this.#entries.delete(entry);
    this.#entries.add(entry);
  }

  #add(entry: Entry): void {
    entry.owner.set(entry.name, entry);
    this.#entries.add(entry);
    this.#usedBytes += entry.bytes;
    for (const oldest of this.#entries) {
      if (this.#usedBytes <= this.#maxBytes) return;
      this.#drop(oldest);
    }
  }

  #drop(entry: Entry): void {
    entry.owner.delete(entry.name);
    this.#entries.delete(entry);
    this.#usedBytes -= entry.bytes;
  }
}
