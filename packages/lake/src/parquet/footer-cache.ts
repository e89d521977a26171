import { LRUCache } from 'lru-cache';
import { type DataFileInfo, describeAvroFile } from '../avro-files/describe-avro-file.js';
import { ByteCache } from '../iceberg/cache/byte-cache.js';
import { headWithTail } from '../storage/head-with-tail.js';
import type { HeadWithTail, ObjectInfo, ObjectStore } from '../storage/object-store.js';
import { type BloomFilterReader, isReadWhole, readBloomFilters } from './bloom-filter.js';
import type { ParquetFooter } from './footer.js';
import { guessTailBytes, minFileBytes, readFooter } from './read-footer.js';
import type { ParquetSchema } from './schema.js';

/** Of an entry beside the bits: its key, with up to sixteen hashes, and its functions. */
const bytesPerBloom = 1000;

/** Columns of all distinct schemas that are kept parsed; the files of one table share a few schemas. */
const maxSchemaColumns = 50_000;

/** Files whose footers were read, so that they are probably kept; each takes about half a kilobyte. */
const maxReadFiles = 65_536;

export interface FileToOpen extends Pick<DataFileInfo, 'location' | 'avroRows'> {
  /** As the table says. */
  readonly sizeBytes: number;
}

export interface FooterCache {
  /**
   * What storage says of a file, and its footer: by one request where neither is known, if the file has as many bytes as the
   * table says.
   */
  open(
    store: ObjectStore,
    file: FileToOpen,
    signal?: AbortSignal,
  ): Promise<{ readonly info: ObjectInfo; readonly footer: ParquetFooter }>;
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
  const wasRead = new LRUCache<string, true>({ max: maxReadFiles });
  const fileKey = ({ scope = '' }: ObjectStore, location: string) => JSON.stringify([scope, location]);
  const get = (
    store: ObjectStore,
    info: DataFileInfo,
    signal: AbortSignal | undefined,
    tail?: Uint8Array,
  ): Promise<ParquetFooter> => {
    const { location, version, avroRows } = info;
    const load = async () => {
      const footer =
        avroRows === undefined
          ? await readFooter(store, info, parseOnce, undefined, tail)
          : await describeAvroFile(store, info, avroRows, parseOnce);
      wasRead.set(fileKey(store, location), true);
      return { value: footer, bytes: footer.memoryBytes };
    };
    const key = JSON.stringify(['footer', store.scope ?? '', location, version, avroRows]);
    return footers.get(key, load, signal);
  };
  const headOf = async (
    store: ObjectStore,
    { location, sizeBytes, avroRows }: FileToOpen,
    signal: AbortSignal | undefined,
  ): Promise<HeadWithTail> => {
    const options = signal && { signal };
    const hasFooter = avroRows === undefined && Number.isSafeInteger(sizeBytes) && sizeBytes >= minFileBytes;
    if (!hasFooter || wasRead.get(fileKey(store, location)) === true)
      return { info: await store.head(location, options) };
    return await headWithTail(store, location, { sizeBytes, tailBytes: guessTailBytes(sizeBytes) }, options);
  };
  return {
    get: (store, info, signal) => get(store, info, signal),
    async open(store, file, signal) {
      const { info, tail } = await headOf(store, file, signal);
      const { avroRows } = file;
      return { info, footer: await get(store, { ...info, avroRows }, signal, tail) };
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
