import { ByteCache } from '../iceberg/cache/byte-cache.js';
import type { ObjectInfo, ObjectStore } from '../storage/object-store.js';
import type { ParquetFooter } from './footer.js';
import { readFooter } from './read-footer.js';
import type { ParquetSchema } from './schema.js';

/** Distinct schemas kept parsed; the files of one table share a few. */
const maxSchemas = 512;

export interface FooterCache {
  /** The file's footer, fetched once for all who ask at the same time. Throws what readFooter throws. */
  get(store: ObjectStore, info: ObjectInfo, signal?: AbortSignal): Promise<ParquetFooter>;
}

/**
 * Keeps footers in memory up to a bound in bytes, by the store's scope, location and version. It knows nothing of
 * users: who may see a location must be settled before it is asked.
 */
export function createFooterCache(options: { readonly maxBytes: number }): FooterCache {
  const footers = new ByteCache(options.maxBytes);
  const schemas = new Map<string, ParquetSchema>();
  const parseOnce = (key: string, parse: () => ParquetSchema): ParquetSchema => {
    const known = schemas.get(key);
    if (known !== undefined) return known;
    const schema = parse();
    if (schemas.size >= maxSchemas) schemas.clear();
    schemas.set(key, schema);
    return schema;
  };
  return {
    get(store, info, signal) {
      const load = async () => {
        const footer = await readFooter(store, info, parseOnce);
        return { value: footer, bytes: footer.memoryBytes };
      };
      const key = JSON.stringify(['footer', store.scope ?? '', info.location, info.version]);
      return footers.get(key, load, signal);
    },
  };
}
