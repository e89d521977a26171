/**
 * The sample table: three million real flights, from the npm package vega-datasets, become `samples.flights` by writing
 * Iceberg metadata around a copy of the package's own Parquet file.
 */
import { fileURLToPath } from 'node:url';
import { type Config, type Logger, QueryError } from '@svc/base';
import {
  createFileStore,
  createFileSystemCatalog,
  createMetadataFiles,
  inspectParquet,
  registerParquetTable,
} from '@svc/lake';

const identifier = { namespace: ['samples'], name: 'flights' };

export interface SamplesOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** For a person to read, on standard error. */
  readonly progress: (text: string) => void;
}

/** Registers the table unless it is there. Answers whether it is there now: without the data the service still starts. */
export async function registerSamples({
  config,
  logger,
  signal,
  progress,
}: SamplesOptions): Promise<boolean> {
  const root = config['catalog.path'];
  try {
    if (await isRegistered(root, signal)) return true;
    progress('First start: making the sample table samples.flights of 3 million flights\n');
    const store = createFileStore();
    const location = fileURLToPath(
      new URL('../data/flights-3m.parquet', import.meta.resolve('vega-datasets')),
    );
    const file = await inspectParquet(store, location, { signal });
    const table = await registerParquetTable({
      root,
      identifier,
      file,
      properties: { comment: 'Flights in the United States, January to June 2001' },
      signal,
      onProgress: ({ copiedBytes, totalBytes }) => {
        const percent = totalBytes === 0 ? 100 : Math.floor((100 * copiedBytes) / totalBytes);
        progress(
          `\r  ${String(percent).padStart(3)} %  ${megabytes(copiedBytes)} of ${megabytes(totalBytes)} MB   `,
        );
      },
    });
    progress('\n');
    logger.log('info', 'registered the sample table', {
      table: identifier.name,
      location: table.location,
      rows: file.metrics.recordCount,
    });
    return true;
  } catch (caught) {
    const error = QueryError.from(caught);
    if (error.code === 'CANCELLED') return false;
    // Another process of the same folder was first.
    if (error.code === 'COMMIT_CONFLICT') return true;
    progress(`\nThere is no sample table: ${error.message}\n`);
    logger.log('warn', 'the sample table is neither there nor could it be registered', {
      error_code: error.code,
      error_message: error.message,
    });
    return false;
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

async function isRegistered(root: string, signal: AbortSignal): Promise<boolean> {
  const catalog = createFileSystemCatalog({ root, store: createFileStore(), files: createMetadataFiles(0) });
  try {
    await catalog.loadTable(identifier, { signal });
    return true;
  } catch (error) {
    if (
      error instanceof QueryError &&
      (error.code === 'TABLE_NOT_FOUND' || error.code === 'SCHEMA_NOT_FOUND')
    )
      return false;
    throw error;
  }
}
