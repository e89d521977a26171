/** Metadata files, manifest lists and manifests, read through a cache shared by all tables. */
import { QueryError, throwIfAborted } from '@svc/base';
import { displayLocation } from '../../storage/display-location.js';
import type { ObjectInfo, ObjectStore, ReadOptions } from '../../storage/object-store.js';
import { type AvroFile, avroFileBytes, openAvroFile } from '../avro/container-reader.js';
import { parseTableMetadata } from '../spec/parse-table-metadata.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import { ByteCache } from './byte-cache.js';
import { parsedSizeFactor } from './metadata-bytes.js';

/** 200,000 snapshots; parsed they take seven times as much. Larger files are refused before they are read. */
const maxMetadataBytes = 128 * 1024 * 1024;
/** As stored; decompressed there is a bound of its own. */
const maxAvroBytes = 256 * 1024 * 1024;

/**
 * Every call asks the caller's own store for the file first, so that nobody is served from the cache what they may not
 * read, and a file replaced under its name is read again. So nothing here is ever stale, and there is nothing to refresh.
 */
export interface MetadataFiles {
  tableMetadata(store: ObjectStore, location: string, options?: ReadOptions): Promise<TableMetadata>;
  avroFile(store: ObjectStore, location: string, options?: ReadOptions): Promise<LoadedAvroFile>;
}

export interface LoadedAvroFile {
  readonly file: AvroFile;
  /** As stored. */
  readonly sizeBytes: number;
}

export function createMetadataFiles(maxBytes: number): MetadataFiles {
  const cache = new ByteCache(maxBytes);
  return {
    async tableMetadata(store, location, options = {}) {
      const info = await store.head(location, options);
      if (info.sizeBytes > maxMetadataBytes)
        throw new QueryError(
          'UNSUPPORTED_TABLE_FEATURE',
          `The table metadata ${displayLocation(location)} has ${info.sizeBytes} bytes; at most ${maxMetadataBytes} are read: expire snapshots.`,
        );
      const load = async () => {
        const bytes = await store.read(location, { version: info.version });
        return { value: parseTableMetadata(bytes, location), bytes: bytes.length * parsedSizeFactor };
      };
      return cache.get(keyOf('metadata', store, info), load, options.signal);
    },
    async avroFile(store, location, options = {}) {
      throwIfAborted(options.signal);
      const info = await store.head(location, options);
      if (info.sizeBytes > maxAvroBytes)
        throw new QueryError(
          'UNSUPPORTED_TABLE_FEATURE',
          `The manifest ${displayLocation(location)} has ${info.sizeBytes} bytes; at most ${maxAvroBytes} are read: rewrite the table's manifests.`,
        );
      const load = async () => {
        const opened = await openAvroFile(await store.read(location, { version: info.version }), location);
        return { value: opened, bytes: avroFileBytes(opened) };
      };
      const file = await cache.get(keyOf('avro', store, info), load, options.signal);
      return { file, sizeBytes: info.sizeBytes };
    },
  };
}

function keyOf(kind: string, { scope = '' }: ObjectStore, { location, version }: ObjectInfo): string {
  return JSON.stringify([kind, scope, location, version]);
}
