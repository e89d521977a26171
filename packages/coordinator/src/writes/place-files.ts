/** From files of an engine host to data files of a table. */
import { randomUUID } from 'node:crypto';
import { QueryError } from '@svc/base';
import type { WrittenFile } from '@svc/fragment-fn';
import { describeDataFile, type ObjectStore, schemaById, type TableToWrite, tableFolders } from '@svc/lake';
import { isCode } from './change-catalog.js';

type AddedDataFile = Awaited<ReturnType<typeof describeDataFile>>;

export interface PlacedFiles {
  /** Moves files into the table's data folder and reads what an append has to know of them. */
  take(files: readonly WrittenFile[], signal: AbortSignal): Promise<void>;
  readonly dataFiles: readonly AddedDataFile[];
  /** Deletes what was moved: after a definite failure only. */
  discard(): Promise<void>;
}

export function placeFiles(table: TableToWrite, store: ObjectStore): PlacedFiles {
  const { metadata } = table;
  const schema = schemaById(metadata, undefined);
  const dataFiles: AddedDataFile[] = [];
  const placed: string[] = [];
  const batch = randomUUID();
  return {
    dataFiles,
    async take(files, signal) {
      for (const file of files) {
        const location = `${tableFolders(table).data}/${batch}-${String(placed.length).padStart(5, '0')}.parquet`;
        placed.push(location);
        await store.moveIn(location, file.path, { signal }).catch((error: unknown) => {
          throw isCode(error, 'DATA_FILE_MISSING') ? droppedMeanwhile(metadata.location, error) : error;
        });
        // A writer that has seen a NaN does not say how many: then nothing is said.
        const nans = [...file.hasNan].filter(([, hasNan]) => !hasNan).map(([id]) => [id, 0] as const);
        dataFiles.push(
          await describeDataFile(
            { location, partition: file.partition, counts: { nanValueCounts: new Map(nans) } },
            { store, schema, properties: metadata.properties, signal },
          ),
        );
      }
    },
    async discard() {
      for (const location of placed.splice(0)) await store.delete(location);
    },
  };
}

function droppedMeanwhile(location: string, cause: unknown): QueryError {
  const message = `The table at ${location} was dropped by another writer while rows for it were written.`;
  return new QueryError('COMMIT_CONFLICT', message, { retryable: false, cause });
}
