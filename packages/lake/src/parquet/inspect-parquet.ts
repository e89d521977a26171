/** What a table has to know of a Parquet file to take it over as it is: its schema, and its metrics from the footer. */
import type { DataFileMetrics } from '../iceberg/manifests/write-manifest.js';
import type { NestedField } from '../iceberg/spec/types.js';
import { defaultMetricsMode } from '../iceberg/write/metrics-modes.js';
import type { ObjectStore } from '../storage/object-store.js';
import { type MeasuredColumn, measureColumns, singleColumnTypes } from './data-file-metrics.js';
import { inferSchema } from './iceberg-schema.js';
import { readFooter } from './read-footer.js';

export interface ParquetInspection {
  readonly location: string;
  readonly sizeBytes: number;
  /** The schema that a table made of the file has. */
  readonly fields: readonly NestedField[];
  readonly lastColumnId: number;
  /** False: a table needs a name mapping of these fields to read the file. */
  readonly idsAreInFile: boolean;
  /**
   * A count or bound that the file's own statistics do not give with certainty is left out; bounds may be wider than the
   * values.
   */
  readonly metrics: DataFileMetrics;
}

/** Throws DATA_CORRUPT, DATA_FILE_MISSING, and UNSUPPORTED_TABLE_FEATURE naming a column that no table can have. */
export async function inspectParquet(
  store: ObjectStore,
  location: string,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<ParquetInspection> {
  const { signal } = options;
  const info = await store.head(location, signal && { signal });
  const footer = await readFooter(store, info, undefined, signal);
  const { fields, lastColumnId, idsAreInFile, idsOfColumns } = inferSchema(footer.schema, location);
  const types = singleColumnTypes(fields);
  const columns: MeasuredColumn[] = [];
  for (const [column, id] of idsOfColumns)
    columns.push({ id, column, type: types.get(id), mode: defaultMetricsMode });
  const metrics = measureColumns(footer, columns);
  return { location, sizeBytes: info.sizeBytes, fields, lastColumnId, idsAreInFile, metrics };
}
