import { type DataFileInfo, describeAvroFile } from '../avro-files/describe-avro-file.js';
import { ByteCache } from '../iceberg/cache/byte-cache.js';
import type { ObjectStore } from '../storage/object-store.js';
import { type BloomFilterReader, isReadWhole, readBloomFilters } from './bloom-filter.js';
import type { ParquetFooter } from './footer.js';
import { readFooter } from './read-footer.js';
import type { ParquetSchema } from './schema.js';

/** Of an entry beside the bits: its key, with up to sixteen hashes, and its functions. */
const bytesPerBloom = 1000;

/** Columns of all distinct schemas that are kept parsed; the files of one table share a few schemas. */
const maxSchemaColumns = 50_000;

export interface FooterCache {
  /**
   * The file's footer, fetched once for all who ask at the same time; of an Avro file that of the Parquet file it is
   * staged as. Throws what readFooter throws.
   */
  get(store: ObjectStore, info: DataFileInfo, signal?: AbortSignal): Promise<ParquetFooter>;
  /** As readBloomFilters answers; filters that are not kept are fetched together. */
  readonly bloomFilters: BloomFilterReader;
}

/**
 * Keeps footers and bloom filters in memory up to a bound in bytes, by the store's scope, location and version. It knows nothing
 * of users: who may see a location must be settled before it is asked.
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
        const footer =
          info.avroRows === undefined
            ? await readFooter(store, info, parseOnce)
            : await describeAvroFile(store, info, info.avroRows, parseOnce);
        return { value: footer, bytes: footer.memoryBytes };
      };
      const key = JSON.stringify(['footer', store.scope ?? '', info.location, info.version, info.avroRows]);
      return footers.get(key, load, signal);
    },
    bloomFilters(store, footer, questions, signal) {
      const { version, location } = footer;
      const keys = questions.map((question) => {
        const values = isReadWhole(question) ? 'all' : question.hashes.join();
        const { bloomFilterStart } = question.chunk;
        return JSON.stringify(['bloom', store.scope ?? '', location, version, bloomFilterStart, values]);
      });
      return footers.getAll(keys, async (missing) => {
        const wanted = missing.flatMap((index) => questions[index] ?? []);
        const blooms = await readBloomFilters(store, footer, wanted, signal);
        return blooms.map((value) => ({ value, bytes: bytesPerBloom + (value?.bytes ?? 0) }));
      });
    },
  };
}
