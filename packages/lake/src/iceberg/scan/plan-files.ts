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
import type { DeleteFile } from '../manifests/delete-file.js';
import { createDeleteManifestReader, type DeleteManifestReader } from '../manifests/delete-manifest.js';
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
  /** Of the request, bound to the schema. */
  readonly filter: BoundFilter;
  readonly use: BoundUse | undefined;
  readonly files: readonly DataFile[];
  /** All that may take rows of these files away; which does is for `assignDeletes` to say. */
  readonly deletes: readonly DeleteFile[];
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
 * encryption and columns of types that are not read.
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
  const filter = bindFilters(request.filters, schema.fields);
  const use = bindUse(request, schema.fields);
  if (snapshot === undefined)
    return { snapshotId: undefined, schema, filter, use, files: [], deletes: [], counts: noCounts };
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
  const list = await listManifests(planner, snapshot);
  const possible = list.manifests.filter((manifest) => manifestMightHaveFiles(planner, manifest));
  const ofData = possible.filter(({ content }) => content === 'data');
  // Without a file there is nothing to delete from.
  const ofDeletes = ofData.length === 0 ? [] : possible.filter(({ content }) => content === 'deletes');
  const dataReads = await readDataManifests(planner, ofData, list.hasDeletes);
  const reads = [...dataReads, ...(await readManifests(planner, ofDeletes))];
  const needed = [...ofData.slice(0, dataReads.length), ...ofDeletes];
  const files = reads.flatMap((read) => read.files);
  const deletes = files.length === 0 ? [] : reads.flatMap((read) => read.deletes);
  return {
    snapshotId: snapshot.snapshotId,
    schema,
    filter,
    use,
    files,
    deletes,
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
  readonly readDeletes: DeleteManifestReader;
}

interface ManifestListRead {
  readonly manifests: readonly ManifestFile[];
  readonly hasDeletes: boolean;
  readonly bytes: number;
}

interface ManifestRead {
  readonly files: readonly DataFile[];
  readonly deletes: readonly DeleteFile[];
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

async function listManifests(planner: Planner, snapshot: Snapshot): Promise<ManifestListRead> {
  if (snapshot.manifestList === undefined)
    return { manifests: (snapshot.manifests ?? []).map(namedManifest), hasDeletes: false, bytes: 0 };
  const { file, sizeBytes } = await loadAvro(planner, snapshot.manifestList);
  const all = readManifestList(file);
  if (all.length === 0 && Number(snapshot.summary.get('total-data-files') ?? 0) > 0)
    throw new QueryError(
      'DATA_CORRUPT',
      `The manifest list ${snapshot.manifestList} is empty, but its snapshot has data files: it is cut short.`,
    );
  const hasDeletes = all.some(
    ({ content, addedFileCount, existingFileCount }) =>
      content === 'deletes' && (addedFileCount !== 0 || existingFileCount !== 0),
  );
  return { manifests: all, hasDeletes, bytes: sizeBytes };
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
  const mightMatch = (values: DataFile['partition']): boolean => partitionMightMatch(filter, values);
  const pruning: PartitionPruning = {
    filter,
    readManifest: createManifestReader(partitionSpec, {
      fieldIds: planner.fieldIds,
      partitionMightMatch: mightMatch,
      fileMightMatch: (metrics) => fileMightMatch(planner.filter, metrics),
      describe: planner.use && createFileFacts(planner.use, partitionSpec.spec),
    }),
    readDeletes: createDeleteManifestReader(partitionSpec, {
      filter: planner.filter,
      fieldIds: planner.fieldIds,
      partitionMightMatch: mightMatch,
    }),
  };
  planner.partitions.set(specId, pruning);
  return pruning;
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
    const batch = await readManifests(planner, manifests.slice(reads.length, reads.length + batchSize));
    reads.push(...batch);
    for (const { facts } of batch.flatMap(({ files }) => files))
      if (facts?.isKeptWhole) certainRows += facts.rowCount;
    if (isAnyEnough && certainRows >= rows.rowCount) break;
  }
  return reads;
}

async function readManifests(
  planner: Planner,
  manifests: readonly ManifestFile[],
): Promise<readonly ManifestRead[]> {
  return await mapConcurrently(
    manifests,
    { maxConcurrent: maxConcurrentManifests, signal: planner.options.signal },
    (manifest) => readManifest(planner, manifest),
  );
}

async function readManifest(planner: Planner, manifest: ManifestFile): Promise<ManifestRead> {
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
  const { signal } = planner.options;
  const pruning = partitionPruning(planner, partitionSpec);
  if (manifest.content === 'deletes') {
    const deletes = await pruning.readDeletes(file, manifest, signal);
    return { files: [], deletes, liveFileCount: 0, liveBytes: 0, bytes: sizeBytes };
  }
  const content = await pruning.readManifest(file, manifest, signal);
  planner.filesKept += content.files.length;
  if (planner.filesKept > maxPlannedFiles)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The query needs more than ${maxPlannedFiles} data files of table ${planner.tableName}: add a filter, or rewrite the table into larger files.`,
    );
  return { ...content, deletes: [], bytes: sizeBytes };
}

async function loadAvro({ table, options }: Planner, location: string): Promise<LoadedAvroFile> {
  return options.files.avroFile(table.store, location, options.signal && { signal: options.signal });
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
    if (manifest.content === 'data' && !wasRead.has(manifest))
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
