import { QueryError } from '@svc/base';
import type { AddedDataFile } from '../iceberg/manifests/write-manifest.js';
import type { Schema } from '../iceberg/spec/types.js';
import type { PrimitiveValue } from '../iceberg/spec/values.js';
import { metricsModes } from '../iceberg/write/metrics-modes.js';
import type { ObjectStore } from '../storage/object-store.js';
import { dataFileMetrics, type WriterCounts } from './data-file-metrics.js';
import { readFooter } from './read-footer.js';

export interface DataFileToDescribe {
  readonly location: string;
  /** The values after the transforms, in the order of the spec's fields. */
  readonly partition: readonly (PrimitiveValue | null)[];
  readonly counts?: WriterCounts;
}

export interface DescribeOptions {
  readonly store: ObjectStore;
  /** The one that the file was written under, with its field ids. */
  readonly schema: Schema;
  /** The table's: they say which metrics are kept. */
  readonly properties: ReadonlyMap<string, string>;
  readonly signal?: AbortSignal;
}

/**
 * What an append has to know of a finished Parquet file, from its footer. Throws DATA_CORRUPT, DATA_FILE_MISSING, and
 * EVALUATION_ERROR naming a required column in which the file has nulls.
 */
export async function describeDataFile(
  file: DataFileToDescribe,
  { store, schema, properties, signal }: DescribeOptions,
): Promise<AddedDataFile> {
  const { location, partition } = file;
  const info = await store.head(location, signal && { signal });
  const footer = await readFooter(store, info, undefined, signal);
  const metrics = dataFileMetrics(footer, schema, metricsModes(schema, properties), file.counts);
  for (const field of schema.fields) {
    const nulls = field.required ? (metrics.nullValueCounts.get(field.id) ?? 0) : 0;
    if (nulls > 0)
      throw new QueryError(
        'EVALUATION_ERROR',
        `Column ${JSON.stringify(field.name)} must not be null, but ${nulls} of the new rows have no value for it.`,
      );
  }
  return { location, sizeBytes: info.sizeBytes, partition, metrics };
}
