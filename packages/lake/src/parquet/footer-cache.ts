import { ByteCache } from '../iceberg/cache/byte-cache.js';
import type { ObjectInfo, ObjectStore } from '../storage/object-store.js';
import { type BloomFilterReader, readBloomFilters } from './bloom-filter.js';
import type { ParquetFooter } from './footer.js';
import { readFooter } from './read-footer.js';
import type { ParquetSchema } from './schema.js';

/** Of an entry beside the bits. */
const bytesPerBloom = 500;

/** Distinct schemas kept parsed; the files of one table share a few. */
const maxSchemas = 512;

export interface FooterCache {
  /** The file's footer, fetched once for all who ask at the same time. Throws what readFooter throws. */
  get(store: ObjectStore, info: ObjectInfo, signal?: AbortSignal): Promise<ParquetFooter>;
  /** The filters of chunks of the file, as readBloomFilters answers them; those that are not kept are fetched together. */
  readonly bloomFilters: BloomFilterReader;
}

/**
 * Keeps footers and bloom filters in memory up to a bound in bytes, by location and version. It knows nothing of users: who may see a
 * location must be settled before it is asked.
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
      return footers.get(`footer ${info.version} ${info.location}`, load, signal);
    },
    bloomFilters(store, footer, chunks, signal) {
      const { version, location } = footer;
      const keys = chunks.map(({ bloomFilterStart }) => `bloom ${bloomFilterStart} ${version} ${location}`);
      return footers.getAll(keys, async (missing) => {
        const wanted = missing.flatMap((index) => chunks[index] ?? []);
        const blooms = await readBloomFilters(store, footer, wanted, signal);
        return blooms.map((value) => ({ value, bytes: bytesPerBloom + (value?.byteLength ?? 0) }));
      });
    },
  };
}
