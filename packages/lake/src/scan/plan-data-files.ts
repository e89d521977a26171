/**
 * What is to be read of a table's data files, whatever format says which files those are: row groups are left out by
 * the footers, and each file's columns are mapped onto the table's.
 */
import { QueryError } from '@svc/base';
import type { ScanRequest } from '@svc/sql';
import {
  type DeletedRows,
  deletionColumns,
  positionColumns,
  reservedPrefix,
} from '../deletes/deleted-rows.js';
import { type BoundFilter, findField } from '../iceberg/expressions/bind-filter.js';
import { type JsonValue, printJson } from '../iceberg/spec/lossless-json.js';
import type { NestedField } from '../iceberg/spec/types.js';
import type { ParquetFooter } from '../parquet/footer.js';
import type { FooterCache } from '../parquet/footer-cache.js';
import { columnsWithMisreadBloom } from '../parquet/misread-bloom.js';
import { type PrunedRowGroups, pruneRowGroups } from '../parquet/prune-row-groups.js';
import type { ParquetSchema } from '../parquet/schema.js';
import { selectedColumns, selectionBytes } from '../staging/compact-layout.js';
import { mapConcurrently } from '../storage/map-concurrently.js';
import type { ObjectStore } from '../storage/object-store.js';
import { type ColumnMapping, type MatchedFile, mapColumns } from './column-mapping.js';
import { neededUnits } from './needed-units.js';
import type { RowCounter } from './row-counter.js';
import { describeRowGroup } from './row-group-facts.js';
import type { BoundUse, RowFacts } from './row-use.js';
import type { AppliedDeletes, FileGroup, FileOrigin, FileScan, ScanCounts } from './table-scan.js';

export interface DataFileToPlan {
  readonly location: string;
  /** As the table says. */
  readonly sizeBytes: number;
  /** See DataFileInfo. */
  readonly avroRows?: number | undefined;
  /** Values, by field id, of columns that the file may lack. */
  readonly partitionValues: ReadonlyMap<number, JsonValue>;
  readonly deletedRows?: DeletedRows | undefined;
  readonly origin?: FileOrigin | undefined;
  /** Indexes of the delete sets that may take rows of the file. */
  readonly deleteSets?: readonly number[] | undefined;
}

export interface PlanDataFilesOptions {
  readonly store: ObjectStore;
  readonly footers: FooterCache;
  readonly fields: readonly NestedField[];
  readonly request: ScanRequest;
  readonly filter: BoundFilter;
  /** Finds the table's fields in a file. */
  readonly match: (schema: ParquetSchema, location: string) => MatchedFile;
  /** See bindUse. */
  readonly use?: BoundUse | undefined;
  /** Takes the row groups that need not be read. */
  readonly counter?: RowCounter | undefined;
  /** By delete set: the fields that its files compare. */
  readonly deleteFields?: readonly (readonly NestedField[])[];
  readonly signal?: AbortSignal | undefined;
}

type DataFileCounts = Pick<
  ScanCounts,
  | 'filesPlanned'
  | 'rowGroupsTotal'
  | 'rowGroupsPlanned'
  | 'rowGroupsPrunedByStatistics'
  | 'rowGroupsPrunedByBloom'
  | 'bytesPlanned'
  | 'rowsPlanned'
>;

export interface PlannedDataFiles {
  /** Files without a row group left are in no group. */
  readonly groups: readonly FileGroup[];
  readonly counts: DataFileCounts;
}

/** Footers being fetched at one time. */
const maxConcurrentFiles = 16;

/** Throws DATA_CORRUPT, DATA_FILE_MISSING or UNSUPPORTED_TABLE_FEATURE naming a file that cannot be used. */
export async function planDataFiles(
  files: readonly DataFileToPlan[],
  options: PlanDataFilesOptions,
): Promise<PlannedDataFiles> {
  const { request, fields, signal } = options;
  const planner: Planner = {
    options,
    wanted: wantedIds(request, fields),
    matches: new Map(),
    mappings: new Map(),
  };
  const planned = await mapConcurrently(files, { maxConcurrent: maxConcurrentFiles, signal }, (file) =>
    planFile(planner, file),
  );
  const needed = options.use === undefined ? planned : neededFiles(planned, options.use, options);
  const groups = groupFiles(needed);
  return { groups, counts: countAll(planned, needed, groups) };
}

interface Planner {
  readonly options: PlanDataFilesOptions;
  readonly wanted: ReadonlySet<number>;
  /** By schema key. */
  readonly matches: Map<string, MatchedFile>;
  /** By schema key and the partition values that stand in for columns. */
  readonly mappings: Map<string, ColumnMapping>;
}

interface PlannedFile {
  readonly mappingKey: string;
  readonly mapping: ColumnMapping;
  readonly deletes: readonly AppliedDeletes[];
  readonly scan: FileScan;
  readonly rowGroupCount: number;
  readonly selectedRows: number;
  /** Row groups to read, ascending; none when nothing of the file is to be read. */
  readonly rowGroups: readonly number[];
  readonly pruned: PrunedRowGroups;
  /** One for each of `rowGroups`, where the use of their rows is limited. */
  readonly units: readonly RowGroupUnit[];
}

interface RowGroupUnit {
  readonly rowGroup: number;
  readonly bytes: number;
  readonly facts: RowFacts;
}

/** A struct is read whole when any of its fields is. */
function wantedIds(request: ScanRequest, fields: readonly NestedField[]): ReadonlySet<number> {
  if (request.columns === undefined) return new Set(fields.map((field) => field.id));
  return new Set(request.columns.flatMap((path) => findField(path.slice(0, 1), fields)?.id ?? []));
}

async function planFile(planner: Planner, file: DataFileToPlan): Promise<PlannedFile> {
  const { store, signal, footers, filter } = planner.options;
  const { info, footer } = await footers.open(store, file, signal);
  const { avroRows } = file;
  const sets = file.deleteSets ?? [];
  if (file.deletedRows !== undefined || file.origin !== undefined) checkPositionNames(footer);
  const { mappingKey, mapping, match } = mappingOf(planner, file, footer);
  const keys = sets.map((set) => keyMappingOf(planner, file, match, set));
  const columnNames = [...new Set([mapping, ...keys].flatMap((each) => each.columnNames))].sort();
  const pruned = await pruneRowGroups(footer, {
    filter,
    leafOf: (fieldId) => mapping.leaves.get(fieldId),
    store,
    bloomFilters: footers.bloomFilters,
    signal,
  });
  const columns = selectedColumns(footer, { columns: columnNames });
  // What is staged of a file has no bloom filters: one with misleading ones must not be read in place. Nor can Avro be.
  const isWhole =
    avroRows === undefined &&
    pruned.prunedByStatistics + pruned.prunedByBloom === 0 &&
    (store.localPath(file.location) === undefined || columnsWithMisreadBloom(footer, columns).size === 0);
  const scan: FileScan = {
    location: file.location,
    sizeBytes: info.sizeBytes,
    recordCount: footer.rowCount,
    version: info.version,
    ...(avroRows !== undefined && { avroRows }),
    rowGroups: isWhole ? undefined : pruned.rowGroups,
    columnNames,
    selectedBytes: selectionBytes(footer, { rowGroups: pruned.rowGroups, columns: columnNames }),
    ...(file.deletedRows && { deletedRows: file.deletedRows }),
    ...(file.origin && { origin: file.origin }),
  };
  const selectedRows = pruned.rowGroups.reduce((sum, rowGroup) => sum + (footer.rowCounts[rowGroup] ?? 0), 0);
  const deletes = sets.map((set, index) => ({ set, sources: keys[index]?.sources ?? [] }));
  const { rowGroups } = pruned;
  return {
    ...{ mappingKey: [mappingKey, ...sets].join('\n'), mapping, deletes, scan },
    ...{ rowGroupCount: footer.rowGroupCount, selectedRows, rowGroups, pruned },
    units: unitsOf(planner, file, footer, { mapping, columnNames, rowGroups }),
  };
}

function unitsOf(
  { options: { use } }: Planner,
  file: DataFileToPlan,
  footer: ParquetFooter,
  {
    mapping,
    columnNames,
    rowGroups,
  }: { readonly mapping: ColumnMapping } & Pick<PlannedFile, 'rowGroups'> & Pick<FileScan, 'columnNames'>,
): readonly RowGroupUnit[] {
  if (use === undefined) return [];
  const hasAllRows = file.deletedRows === undefined && (file.deleteSets ?? []).length === 0;
  return rowGroups.map((rowGroup) => {
    const facts = describeRowGroup(use, footer, rowGroup, (fieldId) => mapping.leaves.get(fieldId));
    return {
      rowGroup,
      bytes: selectionBytes(footer, { rowGroups: [rowGroup], columns: columnNames }),
      facts: hasAllRows ? facts : { ...facts, isKeptWhole: false },
    };
  });
}

/** The files with the row groups that a limited use of their rows leaves to be read. */
function neededFiles(
  planned: readonly PlannedFile[],
  use: BoundUse,
  { counter, store }: PlanDataFilesOptions,
): readonly PlannedFile[] {
  const isNeeded = neededUnits(
    planned.map(({ units }) => units.map(({ facts }) => facts)),
    use,
    counter,
  );
  return planned.map((file, fileIndex) => {
    const units = file.units.filter((_unit, index) => isNeeded[fileIndex]?.[index]);
    if (units.length === file.units.length) return file;
    // What costs nothing to give, the engine may have whole: it stops by itself.
    const isFree = file.scan.rowGroups === undefined && store.localPath(file.scan.location) !== undefined;
    if (isFree && units.length > 0) return file;
    const rowGroups = units.map(({ rowGroup }) => rowGroup);
    return {
      ...file,
      rowGroups,
      selectedRows: units.reduce((sum, { facts }) => sum + facts.rowCount, 0),
      scan: { ...file.scan, rowGroups, selectedBytes: units.reduce((sum, { bytes }) => sum + bytes, 0) },
    };
  });
}

/** What a delete set compares, made from the file, whatever the query reads of it. */
function keyMappingOf(
  { options }: Planner,
  file: DataFileToPlan,
  match: MatchedFile,
  set: number,
): ColumnMapping {
  const fields = options.deleteFields?.[set] ?? [];
  const wanted = new Set(fields.map((field) => field.id));
  return mapColumns({ fields, wanted, partitionValues: file.partitionValues }, match, file.location);
}

/** Columns of these names would hide those by which the engine finds deleted rows. */
function checkPositionNames(footer: ParquetFooter): void {
  const reserved: ReadonlySet<string> = new Set([
    ...Object.values(positionColumns),
    ...Object.values(deletionColumns),
  ]);
  const clash = footer.schema.root.children.find(({ name }) => {
    const lowerCase = name.toLowerCase();
    return reserved.has(lowerCase) || lowerCase.startsWith(reservedPrefix);
  });
  if (clash !== undefined)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The data file ${footer.location} has a column named ${clash.name}: this name is reserved where rows are told apart by their position.`,
    );
}

function mappingOf(
  planner: Planner,
  file: DataFileToPlan,
  footer: ParquetFooter,
): { readonly mappingKey: string; readonly mapping: ColumnMapping; readonly match: MatchedFile } {
  const { matches, mappings, wanted, options } = planner;
  const match = matches.get(footer.schemaKey) ?? options.match(footer.schema, file.location);
  matches.set(footer.schemaKey, match);
  const partitionValues = new Map<number, JsonValue>();
  for (const [id, value] of file.partitionValues) if (!match.inFile.has(id)) partitionValues.set(id, value);
  const standIns = [...partitionValues].map(([id, value]) => `${id}=${printJson(value)}`);
  const mappingKey = [footer.schemaKey, ...standIns].join('\n');
  const mapping =
    mappings.get(mappingKey) ??
    mapColumns({ fields: options.fields, wanted, partitionValues }, match, file.location);
  mappings.set(mappingKey, mapping);
  return { mappingKey, mapping, match };
}

function groupFiles(planned: readonly PlannedFile[]): readonly FileGroup[] {
  const groups = new Map<string, Pick<PlannedFile, 'mapping' | 'deletes'> & { readonly files: FileScan[] }>();
  for (const { mappingKey, mapping, deletes, scan, rowGroups } of planned) {
    if (rowGroups.length === 0) continue;
    const group = groups.get(mappingKey) ?? { mapping, deletes, files: [] };
    group.files.push(scan);
    groups.set(mappingKey, group);
  }
  return [...groups.values()].map(({ mapping, deletes, files }) => ({
    sources: mapping.sources,
    files,
    ...(deletes.length > 0 && { deletes }),
  }));
}

function countAll(
  planned: readonly PlannedFile[],
  needed: readonly PlannedFile[],
  groups: readonly FileGroup[],
): DataFileCounts {
  const sum = (count: (file: PlannedFile) => number, files = planned): number =>
    files.reduce((total, file) => total + count(file), 0);
  return {
    filesPlanned: groups.reduce((total, group) => total + group.files.length, 0),
    rowGroupsTotal: sum((file) => file.rowGroupCount),
    rowGroupsPlanned: sum((file) => file.rowGroups.length, needed),
    rowGroupsPrunedByStatistics: sum((file) => file.pruned.prunedByStatistics),
    rowGroupsPrunedByBloom: sum((file) => file.pruned.prunedByBloom),
    bytesPlanned: sum((file) => file.scan.selectedBytes, needed),
    rowsPlanned: sum((file) => file.selectedRows, needed),
  };
}
