/** Leaves more of a planned scan out, by what is only known once it was planned. */
import type { ScanFilter } from '@svc/sql';
import { bindFilters } from '../iceberg/expressions/bind-filter.js';
import { fileFields } from '../parquet/file-type.js';
import { type ParquetFooter, rowGroupsWithRows } from '../parquet/footer.js';
import type { FooterCache } from '../parquet/footer-cache.js';
import { pruneRowGroups } from '../parquet/prune-row-groups.js';
import type { ParquetLeaf } from '../parquet/schema.js';
import { selectionBytes } from '../staging/compact-layout.js';
import { mapConcurrently } from '../storage/map-concurrently.js';
import type { ObjectStore } from '../storage/object-store.js';
import type { FileGroup, FileScan, ScanCounts, TableScan } from './table-scan.js';

export interface NarrowScanOptions {
  readonly store: ObjectStore;
  readonly footers: FooterCache;
  readonly signal?: AbortSignal | undefined;
}

const maxConcurrentFiles = 16;

/** For more values a bloom filter would be fetched whole, and some of them it would not rule out. */
const maxBloomValues = 16;

/**
 * The scan without files and row groups that hold no row for which all of the filters are true. A file that is read in place
 * goes as a whole or not at all: nothing would be saved by copying a part of it. The filters are on
 * top-level columns; footers were read when the scan was planned, and are asked again. Throws what reading a footer throws.
 */
export async function narrowScan(
  scan: TableScan,
  filters: readonly ScanFilter[],
  options: NarrowScanOptions,
): Promise<TableScan> {
  const { signal } = options;
  // The engine has cut their values to microseconds, the files have not.
  const fields = scan.columns.filter(({ type }) => type.kind !== 'timestamptz_ns');
  const filter = bindFilters(filters, fields);
  if (filter.kind === 'always') return scan;
  const removed = { prunedByStatistics: 0, prunedByBloom: 0, rows: 0 };
  const narrowFile = async (file: FileScan, group: FileGroup): Promise<FileScan | undefined> => {
    const { store, footers } = options;
    const footer = await footers.get(store, file, signal);
    const before = file.rowGroups ?? rowGroupsWithRows(footer);
    const leaves = leavesById(scan, group, footer);
    const pruned = await pruneRowGroups(footer, {
      filter,
      leafOf: (fieldId) => leaves.get(fieldId),
      store,
      bloomFilters: footers.bloomFilters,
      rowGroups: before,
      maxBloomValues,
      signal,
    });
    const { rowGroups } = pruned;
    const isInPlace = file.rowGroups === undefined && store.localPath(file.location) !== undefined;
    if (rowGroups.length === before.length || (isInPlace && rowGroups.length > 0)) return file;
    const selectedBytes = selectionBytes(footer, { rowGroups, columns: file.columnNames });
    removed.prunedByStatistics += pruned.prunedByStatistics;
    removed.prunedByBloom += pruned.prunedByBloom;
    removed.rows += rowsOf(footer, before) - rowsOf(footer, rowGroups);
    return rowGroups.length === 0 ? undefined : { ...file, rowGroups, selectedBytes };
  };
  const all = scan.groups.flatMap((group) => group.files.map((file) => ({ file, group })));
  const narrowed = await mapConcurrently(
    all,
    { maxConcurrent: maxConcurrentFiles, signal },
    ({ file, group }) => narrowFile(file, group),
  );
  let next = 0;
  const groups = scan.groups.flatMap((group): readonly FileGroup[] => {
    const files = narrowed.slice(next, next + group.files.length).filter((file) => file !== undefined);
    next += group.files.length;
    return files.length === 0 ? [] : [{ ...group, files }];
  });
  return { ...scan, groups, counts: countsOf(scan, groups, removed) };
}

interface Removed {
  readonly prunedByStatistics: number;
  readonly prunedByBloom: number;
  readonly rows: number;
}

/** Bytes of delete files are in the scan's and stay there. */
function countsOf(
  { groups: before, counts }: TableScan,
  groups: readonly FileGroup[],
  { prunedByStatistics, prunedByBloom, rows }: Removed,
): ScanCounts {
  const filesPlanned = filesOf(groups).length;
  const bytes = (all: readonly FileGroup[]) =>
    filesOf(all).reduce((sum, file) => sum + file.selectedBytes, 0);
  return {
    ...counts,
    filesPlanned,
    filesPruned: counts.filesPruned + counts.filesPlanned - filesPlanned,
    rowGroupsPlanned: counts.rowGroupsPlanned - prunedByStatistics - prunedByBloom,
    rowGroupsPrunedByStatistics: counts.rowGroupsPrunedByStatistics + prunedByStatistics,
    rowGroupsPrunedByBloom: counts.rowGroupsPrunedByBloom + prunedByBloom,
    bytesPlanned: counts.bytesPlanned - bytes(before) + bytes(groups),
    rowsPlanned: counts.rowsPlanned - rows,
  };
}

/** The file's columns by the table's field ids; columns that are no plain column of the file are left out. */
export function leavesById(
  { columns }: TableScan,
  { sources }: FileGroup,
  { schema }: ParquetFooter,
): ReadonlyMap<number, ParquetLeaf> {
  const leaves = new Map<number, ParquetLeaf>();
  const inFile = fileFields(schema.root);
  for (const [index, { id }] of columns.entries()) {
    const source = sources[index];
    if (source?.kind !== 'column') continue;
    const type = inFile.find(({ name }) => name === source.name)?.type;
    if (type?.kind === 'primitive') leaves.set(id, type.leaf);
  }
  return leaves;
}

function rowsOf({ rowCounts }: ParquetFooter, rowGroups: readonly number[]): number {
  return rowGroups.reduce((sum, rowGroup) => sum + (rowCounts[rowGroup] ?? 0), 0);
}

function filesOf(groups: readonly FileGroup[]): readonly FileScan[] {
  return groups.flatMap(({ files }) => files);
}
