/**
 * Which data files of a snapshot a query must read (specification, "Scan Planning"): manifests are left out by their
 * partition summaries, files by their partition values and column bounds. Pruning never changes a result, only how
 * many files are read.
 */
import { QueryError, throwIfAborted } from '@svc/base';
import type { ScanRequest } from '@svc/sql';
import type { LoadedTable } from '../../catalogs/catalog.js';
import { type BoundUse, bindUse } from '../../scan/row-use.js';
import { mapConcurrently } from '../../storage/map-concurrently.js';
import type { LoadedAvroFile, MetadataFiles } from '../cache/metadata-files.js';
import { type BoundFilter, bindFilters, filteredFieldIds } from '../expressions/bind-filter.js';
import { fileMightMatch, manifestMightMatch, partitionMightMatch } from '../expressions/evaluate-filter.js';
import { type PartitionFilter, projectFilter } from '../expressions/project-filter.js';
import type { DataFile, TypedPartitionSpec } from '../manifests/data-file.js';
import { createManifestReader, type ManifestReader, manifestSpecId } from '../manifests/manifest.js';
import { type ManifestFile, namedManifest, readManifestList } from '../manifests/manifest-list.js';
import type { Snapshot } from '../spec/snapshot.js';
import type { Schema } from '../spec/types.js';
import { createFileFacts } from './file-facts.js';
import { specOfManifest, typedPartitionSpecs } from './partition-types.js';
import { checkReadableColumns } from './readable-columns.js';
import { resolveSnapshot, type SnapshotPin } from './resolve-snapshot.js';

export interface PlanFilesOptions {
  readonly files: MetadataFiles;
  readonly signal?: AbortSignal | undefined;
}

export interface FilePlan {
  /** `undefined` when the table has never been written to. */
  readonly snapshotId: bigint | undefined;
  readonly schema: Schema;
  readonly files: readonly DataFile[];
  readonly counts: FilePlanCounts;
}

export interface FilePlanCounts {
  readonly manifestsTotal: number;
  readonly manifestsRead: number;
  /** Stored bytes of the manifest list and of the manifests that were read, from storage or from the cache. */
  readonly metadataBytes: number;
  readonly filesTotal: number;
  readonly filesPlanned: number;
  /** Bytes of all data files of the snapshot; when it does not say, of those in the manifests that were read. */
  readonly bytesTotal: number;
}

/** Manifests being read and decoded at one time. */
const maxConcurrentManifests = 8;
/** Data files of one scan: they are all in memory. */
const maxPlannedFiles = 2_000_000;

/**
 * Throws SNAPSHOT_NOT_FOUND; DATA_CORRUPT and DATA_FILE_MISSING naming the metadata file; UNSUPPORTED_TABLE_FEATURE for
 * delete files, encryption, other formats than Parquet, and columns of types that are not read.
 */
export async function planFiles(
  table: LoadedTable,
  pin: SnapshotPin,
  request: ScanRequest,
  options: PlanFilesOptions,
): Promise<FilePlan> {
  throwIfAborted(options.signal);
  const tableName = [...table.identifier.namespace, table.identifier.name].join('.');
  const { snapshot, schema } = resolveSnapshot(table.metadata, pin, tableName);
  checkReadableColumns(schema, request.columns, tableName);
  if (snapshot === undefined) return { snapshotId: undefined, schema, files: [], counts: noCounts };
  const filter = bindFilters(request.filters, schema.fields);
  const use = bindUse(request, schema.fields);
  const planner: Planner = {
    table,
    tableName,
    options,
    filter,
    use,
    fieldIds: new Set([...filteredFieldIds(filter), ...(use?.fields ?? []).map(({ id }) => id)]),
    specs: typedPartitionSpecs(table.metadata, schema),
    partitions: new Map(),
    filesKept: 0,
  };
  const list = await readManifests(planner, snapshot);
  const wanted = list.manifests.filter((manifest) => manifestMightHaveFiles(planner, manifest));
  const reads = await readDataManifests(planner, wanted, list.hasDeletes);
  const needed = wanted.slice(0, reads.length);
  const files = reads.flatMap((read) => read.files);
  for (const file of files) checkFormat(file);
  return {
    snapshotId: snapshot.snapshotId,
    schema,
    files,
    counts: countAll(list, needed, reads, snapshot, files),
  };
}

interface Planner {
  readonly table: LoadedTable;
  readonly tableName: string;
  readonly options: PlanFilesOptions;
  readonly filter: BoundFilter;
  readonly use: BoundUse | undefined;
  readonly fieldIds: ReadonlySet<number>;
  readonly specs: ReadonlyMap<number, TypedPartitionSpec>;
  /** By spec id, made when first needed. */
  readonly partitions: Map<number, PartitionPruning>;
  filesKept: number;
}

interface PartitionPruning {
  readonly filter: PartitionFilter;
  readonly readManifest: ManifestReader;
}

interface ManifestListRead {
  /** Those of data files. */
  readonly manifests: readonly ManifestFile[];
  readonly hasDeletes: boolean;
  readonly bytes: number;
}

interface ManifestRead {
  readonly files: readonly DataFile[];
  readonly liveFileCount: number;
  readonly liveBytes: number;
  readonly bytes: number;
}

const noCounts: FilePlanCounts = {
  manifestsTotal: 0,
  manifestsRead: 0,
  metadataBytes: 0,
  filesTotal: 0,
  filesPlanned: 0,
  bytesTotal: 0,
};

async function readManifests(planner: Planner, snapshot: Snapshot): Promise<ManifestListRead> {
  if (snapshot.manifestList === undefined)
    return { manifests: (snapshot.manifests ?? []).map(namedManifest), hasDeletes: false, bytes: 0 };
  const { file, sizeBytes } = await loadAvro(planner, snapshot.manifestList);
  const all = readManifestList(file);
  if (all.length === 0 && Number(snapshot.summary.get('total-data-files') ?? 0) > 0)
    throw new QueryError(
      'DATA_CORRUPT',
      `The manifest list ${snapshot.manifestList} is empty, but its snapshot has data files: it is cut short.`,
    );
  for (const manifest of all) if (manifest.content === 'deletes') checkNoDeletes(planner, manifest);
  const manifests = all.filter((manifest) => manifest.content === 'data');
  return { manifests, hasDeletes: manifests.length < all.length, bytes: sizeBytes };
}

/** A manifest may be left over from deletes that have all been applied since. */
function checkNoDeletes(planner: Planner, manifest: ManifestFile): void {
  if (manifest.addedFileCount === 0 && manifest.existingFileCount === 0) return;
  throw new QueryError(
    'UNSUPPORTED_TABLE_FEATURE',
    `Table ${planner.tableName} has row-level deletes (manifest ${manifest.location}), which this version does not read.`,
  );
}

function manifestMightHaveFiles(planner: Planner, manifest: ManifestFile): boolean {
  if (planner.filter.kind === 'never') return false;
  if (manifest.addedFileCount === 0 && manifest.existingFileCount === 0) return false;
  if (manifest.partitions === null || manifest.specId === null) return true;
  const spec = specOfManifest(planner.specs, manifest.specId, manifest.location);
  return manifestMightMatch(partitionPruning(planner, spec).filter, manifest.partitions, spec.types);
}

function partitionPruning(planner: Planner, partitionSpec: TypedPartitionSpec): PartitionPruning {
  const { specId } = partitionSpec.spec;
  const made = planner.partitions.get(specId);
  if (made !== undefined) return made;
  const filter = projectFilter(planner.filter, partitionSpec.spec);
  const readManifest = createManifestReader(partitionSpec, {
    fieldIds: planner.fieldIds,
    partitionMightMatch: (values) => partitionMightMatch(filter, values),
    fileMightMatch: (metrics) => fileMightMatch(planner.filter, metrics),
    describe: planner.use && createFileFacts(planner.use, partitionSpec.spec),
  });
  planner.partitions.set(specId, { filter, readManifest });
  return { filter, readManifest };
}

/** All of them, or as many as have enough rows for a statement that wants any. */
async function readDataManifests(
  planner: Planner,
  manifests: readonly ManifestFile[],
  hasDeletes: boolean,
): Promise<readonly ManifestRead[]> {
  const rows = planner.use?.rows;
  // Where files list deleted rows, it is known only later how many are left.
  const isAnyEnough = rows?.kind === 'first' && !hasDeletes;
  const batchSize = isAnyEnough ? maxConcurrentManifests : manifests.length;
  const reads: ManifestRead[] = [];
  let certainRows = 0;
  while (reads.length < manifests.length) {
    const batch = await mapConcurrently(
      manifests.slice(reads.length, reads.length + batchSize),
      { maxConcurrent: maxConcurrentManifests, signal: planner.options.signal },
      (manifest) => readDataManifest(planner, manifest),
    );
    reads.push(...batch);
    for (const { facts } of batch.flatMap(({ files }) => files))
      if (facts?.isKeptWhole) certainRows += facts.rowCount;
    if (isAnyEnough && certainRows >= rows.rowCount) break;
  }
  return reads;
}

async function readDataManifest(planner: Planner, manifest: ManifestFile): Promise<ManifestRead> {
  if (manifest.keyMetadata !== null)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The manifest ${manifest.location} of table ${planner.tableName} is encrypted, which is not supported.`,
    );
  const { file, sizeBytes } = await loadAvro(planner, manifest.location);
  if (manifest.lengthBytes !== null && sizeBytes < manifest.lengthBytes)
    throw new QueryError(
      'DATA_CORRUPT',
      `The manifest ${manifest.location} has ${sizeBytes} bytes instead of ${manifest.lengthBytes}: it is cut short.`,
    );
  const specId = manifest.specId ?? manifestSpecId(file);
  const partitionSpec = specOfManifest(planner.specs, specId, manifest.location);
  const { readManifest } = partitionPruning(planner, partitionSpec);
  const content = await readManifest(file, manifest, planner.options.signal);
  planner.filesKept += content.files.length;
  if (planner.filesKept > maxPlannedFiles)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The query needs more than ${maxPlannedFiles} data files of table ${planner.tableName}: add a filter, or rewrite the table into larger files.`,
    );
  return { ...content, bytes: sizeBytes };
}

async function loadAvro({ table, options }: Planner, location: string): Promise<LoadedAvroFile> {
  return options.files.avroFile(table.store, location, options.signal && { signal: options.signal });
}

function checkFormat(file: DataFile): void {
  if (file.format === 'PARQUET') return;
  throw new QueryError(
    'UNSUPPORTED_TABLE_FEATURE',
    `The data file ${file.location} has the format ${file.format}; Parquet is read.`,
  );
}

function countAll(
  list: ManifestListRead,
  needed: readonly ManifestFile[],
  reads: readonly ManifestRead[],
  snapshot: Snapshot,
  files: readonly DataFile[],
): FilePlanCounts {
  const wasRead = new Set(needed);
  let filesTotal = reads.reduce((sum, read) => sum + read.liveFileCount, 0);
  for (const manifest of list.manifests)
    if (!wasRead.has(manifest))
      filesTotal += (manifest.addedFileCount ?? 0) + (manifest.existingFileCount ?? 0);
  const summaryBytes = Number(snapshot.summary.get('total-files-size') ?? Number.NaN);
  return {
    manifestsTotal: list.manifests.length,
    manifestsRead: reads.length,
    metadataBytes: reads.reduce((sum, read) => sum + read.bytes, list.bytes),
    filesTotal,
    filesPlanned: files.length,
    bytesTotal: Number.isSafeInteger(summaryBytes)
      ? summaryBytes
      : reads.reduce((sum, read) => sum + read.liveBytes, 0),
  };
}
