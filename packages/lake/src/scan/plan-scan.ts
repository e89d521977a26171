/**
 * Plans the scan of one table snapshot: files are left out by their metadata, then row groups of the remaining files
 * by their footers, and each file's columns are mapped onto the table's. Nothing but metadata is read.
 */
import type { ScanRequest } from '@svc/sql';
import type { LoadedTable } from '../catalogs/catalog.js';
import type { MetadataFiles } from '../iceberg/cache/metadata-files.js';
import { type BoundFilter, bindFilters, findField } from '../iceberg/expressions/bind-filter.js';
import type { DataFile } from '../iceberg/manifests/data-file.js';
import { type FilePlan, planFiles } from '../iceberg/scan/plan-files.js';
import type { SnapshotPin } from '../iceberg/scan/resolve-snapshot.js';
import { printJsonValue } from '../iceberg/spec/json-value.js';
import type { JsonValue } from '../iceberg/spec/lossless-json.js';
import { printJson } from '../iceberg/spec/lossless-json.js';
import { readNameMapping } from '../iceberg/spec/name-mapping.js';
import type { NestedField } from '../iceberg/spec/types.js';
import { parseTransform } from '../iceberg/transforms/transform.js';
import type { ParquetFooter } from '../parquet/footer.js';
import type { FooterCache } from '../parquet/footer-cache.js';
import { columnsWithMisreadBloom } from '../parquet/misread-bloom.js';
import { type PrunedRowGroups, pruneRowGroups } from '../parquet/prune-row-groups.js';
import { selectedColumns, selectionBytes } from '../staging/compact-layout.js';
import { mapConcurrently } from '../storage/map-concurrently.js';
import { type ColumnMapping, type MatchedFile, mapColumns, matchFile } from './column-mapping.js';
import type { NameMapping } from './field-matching.js';
import type { FileGroup, FileScan, ScanCounts, TableScan } from './table-scan.js';

export interface PlanScanOptions {
  /** `catalog.schema.table`, for messages. */
  readonly tableName: string;
  readonly manifests: MetadataFiles;
  readonly footers: FooterCache;
  readonly signal?: AbortSignal | undefined;
}

/** Footers being fetched at one time. */
const maxConcurrentFiles = 16;

/**
 * Throws what planFiles throws, and DATA_CORRUPT, DATA_FILE_MISSING or UNSUPPORTED_TABLE_FEATURE naming a data file
 * whose footer cannot be used.
 */
export async function planScan(
  table: LoadedTable,
  pin: SnapshotPin,
  request: ScanRequest,
  options: PlanScanOptions,
): Promise<TableScan> {
  const { manifests, signal, tableName } = options;
  const plan = await planFiles(table, pin, request, { files: manifests, ...(signal && { signal }) });
  const planner = makePlanner(table, plan, request, options);
  const planned = await mapConcurrently(plan.files, { maxConcurrent: maxConcurrentFiles, signal }, (file) =>
    planFile(planner, file),
  );
  const groups = groupFiles(planned);
  return {
    tableName,
    tableUuid: table.metadata.tableUuid,
    snapshotId: plan.snapshotId,
    columns: plan.schema.fields,
    groups,
    counts: countAll(plan, planned, groups),
  };
}

interface Planner {
  readonly table: LoadedTable;
  readonly options: PlanScanOptions;
  readonly fields: readonly NestedField[];
  readonly wanted: ReadonlySet<number>;
  readonly filter: BoundFilter;
  readonly nameMapping: NameMapping | undefined;
  /** By schema key. */
  readonly matches: Map<string, MatchedFile>;
  /** By schema key and the partition values that stand in for columns. */
  readonly mappings: Map<string, ColumnMapping>;
}

interface PlannedFile {
  readonly mappingKey: string;
  readonly mapping: ColumnMapping;
  readonly scan: FileScan;
  readonly rowGroupCount: number;
  readonly selectedRows: number;
  readonly pruned: PrunedRowGroups;
}

function makePlanner(
  table: LoadedTable,
  plan: FilePlan,
  request: ScanRequest,
  options: PlanScanOptions,
): Planner {
  const { fields } = plan.schema;
  return {
    table,
    options,
    fields,
    wanted: wantedIds(request, fields),
    filter: bindFilters(request.filters, fields),
    nameMapping: readNameMapping(table.metadata),
    matches: new Map(),
    mappings: new Map(),
  };
}

/** A struct is read whole when any of its fields is. */
function wantedIds(request: ScanRequest, fields: readonly NestedField[]): ReadonlySet<number> {
  if (request.columns === undefined) return new Set(fields.map((field) => field.id));
  return new Set(request.columns.flatMap((path) => findField(path.slice(0, 1), fields)?.id ?? []));
}

async function planFile(planner: Planner, file: DataFile): Promise<PlannedFile> {
  const { store } = planner.table;
  const { signal, footers } = planner.options;
  const info = await store.head(file.location, signal && { signal });
  const footer = await footers.get(store, info, signal);
  const { mappingKey, mapping } = mappingOf(planner, file, footer);
  const pruned = await pruneRowGroups(footer, {
    filter: planner.filter,
    leafOf: (fieldId) => mapping.leaves.get(fieldId),
    store,
    signal,
  });
  const columns = selectedColumns(footer, { columns: mapping.columnNames });
  // What is staged of a file has no bloom filters: one with misleading ones must not be read in place.
  const isWhole =
    pruned.prunedByStatistics + pruned.prunedByBloom === 0 &&
    (store.localPath(file.location) === undefined || columnsWithMisreadBloom(footer, columns).size === 0);
  const scan: FileScan = {
    location: file.location,
    sizeBytes: info.sizeBytes,
    recordCount: footer.rowCount,
    version: info.version,
    rowGroups: isWhole ? undefined : pruned.rowGroups,
    columnNames: mapping.columnNames,
    selectedBytes: selectionBytes(footer, { rowGroups: pruned.rowGroups, columns: mapping.columnNames }),
  };
  const selectedRows = pruned.rowGroups.reduce((sum, rowGroup) => sum + (footer.rowCounts[rowGroup] ?? 0), 0);
  return { mappingKey, mapping, scan, rowGroupCount: footer.rowGroupCount, selectedRows, pruned };
}

function mappingOf(
  planner: Planner,
  file: DataFile,
  footer: ParquetFooter,
): { readonly mappingKey: string; readonly mapping: ColumnMapping } {
  const { matches, mappings, nameMapping, fields, wanted } = planner;
  const match = matches.get(footer.schemaKey) ?? matchFile(footer.schema, nameMapping);
  matches.set(footer.schemaKey, match);
  const partitionValues = new Map<number, JsonValue>();
  for (const [id, value] of identityValues(file)) if (!match.inFile.has(id)) partitionValues.set(id, value);
  const standIns = [...partitionValues].map(([id, value]) => `${id}=${printJson(value)}`);
  const mappingKey = [footer.schemaKey, ...standIns].join('\n');
  const mapping =
    mappings.get(mappingKey) ?? mapColumns({ fields, wanted, partitionValues }, match, file.location);
  mappings.set(mappingKey, mapping);
  return { mappingKey, mapping };
}

/** Partition values that are their columns' own values. */
function identityValues({ partition, partitionSpec }: DataFile): readonly (readonly [number, JsonValue])[] {
  return partitionSpec.spec.fields.flatMap((field, slot) => {
    const [sourceId] = field.sourceIds;
    const [type, value] = [partitionSpec.types[slot], partition[slot]];
    if (sourceId === undefined || type === undefined || value === undefined) return [];
    return parseTransform(field.transform).kind === 'identity'
      ? [[sourceId, printJsonValue(type, value)]]
      : [];
  });
}

/** Files without a row group left are in no group. */
function groupFiles(planned: readonly PlannedFile[]): readonly FileGroup[] {
  const groups = new Map<string, { mapping: ColumnMapping; files: FileScan[] }>();
  for (const { mappingKey, mapping, scan, pruned } of planned) {
    if (pruned.rowGroups.length === 0) continue;
    const group = groups.get(mappingKey) ?? { mapping, files: [] };
    group.files.push(scan);
    groups.set(mappingKey, group);
  }
  return [...groups.values()].map(({ mapping, files }) => ({ sources: mapping.sources, files }));
}

function countAll(plan: FilePlan, planned: readonly PlannedFile[], groups: readonly FileGroup[]): ScanCounts {
  const sum = (count: (file: PlannedFile) => number): number =>
    planned.reduce((total, file) => total + count(file), 0);
  const filesPlanned = groups.reduce((total, group) => total + group.files.length, 0);
  return {
    manifestsTotal: plan.counts.manifestsTotal,
    manifestsRead: plan.counts.manifestsRead,
    filesTotal: plan.counts.filesTotal,
    filesPlanned,
    filesPruned: plan.counts.filesTotal - filesPlanned,
    rowGroupsTotal: sum((file) => file.rowGroupCount),
    rowGroupsPlanned: sum((file) => file.pruned.rowGroups.length),
    rowGroupsPrunedByStatistics: sum((file) => file.pruned.prunedByStatistics),
    rowGroupsPrunedByBloom: sum((file) => file.pruned.prunedByBloom),
    bytesTotal: plan.counts.bytesTotal,
    bytesPlanned: sum((file) => file.scan.selectedBytes),
    rowsPlanned: sum((file) => file.selectedRows),
  };
}
