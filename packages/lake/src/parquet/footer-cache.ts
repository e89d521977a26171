import { LRUCache } from 'lru-cache';
import { KeyedLock } from '../staging/keyed-lock.js';
import type { ObjectInfo, ObjectStore } from '../storage/object-store.js';
import type { ParquetFooter } from './footer.js';
import { readFooter } from './read-footer.js';
import type { ParquetSchema } from './schema.js';

/** Distinct schemas kept parsed; files of one table share a few. */
const maxSchemas = 512;

export interface FooterCache {
  /** The file's footer, fetched at most once for all who ask at the same time. */
  get(store: ObjectStore, info: ObjectInfo, signal?: AbortSignal): Promise<ParquetFooter>;
}

/**
 * Keeps footers in memory up to a bound in bytes, by location and version. It knows nothing of users: who may see a
 * location must be settled before it is asked.
 */
export function createFooterCache(options: { readonly maxBytes: number }): FooterCache {
  const footers = new LRUCache<string, ParquetFooter>({
    maxSize: options.maxBytes,
    sizeCalculation: (footer) => footer.memoryBytes,
  });
  const schemas = new LRUCache<string, ParquetSchema>({ max: maxSchemas });
  const lock = new KeyedLock();
  const parseOnce = (key: string, parse: () => ParquetSchema): ParquetSchema => {
    const known = schemas.get(key);
    if (known !== undefined) return known;
    const schema = parse();
    schemas.set(key, schema);
    return schema;
  };
  return {
    async get(store, info, signal) {
      const key = `${info.version} ${info.location}`;
      const known = footers.get(key);
      if (known !== undefined) return known;
      return lock.run(key, signal, async () => {
        const fetched = footers.get(key) ?? (await readFooter(store, info, parseOnce, signal));
        footers.set(key, fetched);
        return fetched;
      });
    },
  };
}
