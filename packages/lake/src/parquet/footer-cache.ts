import { ByteCache } from '../iceberg/cache/byte-cache.js';
import type { ObjectInfo, ObjectStore } from '../storage/object-store.js';
import type { ParquetFooter } from './footer.js';
import { readFooter } from './read-footer.js';
import type { ParquetSchema } from './schema.js';

/** Columns of all distinct schemas that are kept parsed; the files of one table share a few schemas. */
const maxSchemaColumns = 50_000;

export interface FooterCache {
  /** The file's footer, fetched once for all who ask at the same time. Throws what readFooter throws. */
  get(store: ObjectStore, info: ObjectInfo, signal?: AbortSignal): Promise<ParquetFooter>;
}

/**
 * Keeps footers in memory up to a bound in bytes, by location and version. It knows nothing of users: who may see a
 * location must be settled before it is asked.
 */
export function createFooterCache(options: { readonly maxBytes: number }): FooterCache {
  const footers = new ByteCache(options.maxBytes);
  const schemas = new Map<string, ParquetSchema>();
  let schemaColumns = 0;
  const parseOnce = (key: string, parse: () => ParquetSchema): ParquetSchema => {
    const known = schemas.get(key);
    if (known !== undefined) return known;
    const schema = parse();
    schemaColumns += schema.leaves.length;
    if (schemaColumns > maxSchemaColumns) {
      schemas.clear();
      schemaColumns = schema.leaves.length;
    }
    schemas.set(key, schema);
    return schema;
  };
  return {
    get(store, info, signal) {
      const load = async () => {
        const footer = await readFooter(store, info, parseOnce);
        return { value: footer, bytes: footer.memoryBytes };
      };
      return footers.get(`footer ${info.version} ${info.location}`, load, signal);
    },
  };
}
