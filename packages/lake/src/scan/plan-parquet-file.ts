/** Plans the reading of one Parquet file that belongs to no table: the columns and row groups that a query needs of it. */
import type { ScanRequest } from '@svc/sql';
import { bindFilters } from '../iceberg/expressions/bind-filter.js';
import type { FooterCache } from '../parquet/footer-cache.js';
import { flatColumns } from '../parquet/iceberg-schema.js';
import { pruneRowGroups } from '../parquet/prune-row-groups.js';
import { selectionBytes } from '../staging/compact-layout.js';
import type { ObjectInfo, ObjectStore } from '../storage/object-store.js';
import type { FileScan } from './table-scan.js';

export interface PlanParquetFileOptions {
  readonly store: ObjectStore;
  readonly footers: FooterCache;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Columns by their names, whose case does not matter. Filters on columns that no table could have prune nothing. Throws
 * DATA_CORRUPT, DATA_FILE_MISSING, STORAGE_ERROR naming the file.
 */
export async function planParquetFile(
  info: ObjectInfo,
  request: ScanRequest,
  { store, footers, signal }: PlanParquetFileOptions,
): Promise<FileScan> {
  const footer = await footers.get(store, info, signal);
  const { fields, leaves } = flatColumns(footer.schema);
  const pruned = await pruneRowGroups(footer, {
    filter: bindFilters(request.filters, fields),
    leafOf: (fieldId) => leaves.get(fieldId),
    store,
    bloomFilters: footers.bloomFilters,
    signal,
  });
  const wanted = request.columns && new Set(request.columns.map(([name = '']) => name.toLowerCase()));
  const columnNames = footer.schema.root.children
    .map(({ name }) => name)
    .filter((name) => wanted === undefined || wanted.has(name.toLowerCase()))
    .sort();
  const isWhole = pruned.prunedByStatistics + pruned.prunedByBloom === 0;
  return {
    location: info.location,
    sizeBytes: info.sizeBytes,
    recordCount: footer.rowCount,
    version: info.version,
    rowGroups: isWhole ? undefined : pruned.rowGroups,
    columnNames,
    selectedBytes: selectionBytes(footer, { rowGroups: pruned.rowGroups, columns: columnNames }),
  };
}
