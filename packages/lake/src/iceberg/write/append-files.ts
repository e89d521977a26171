/**
 * An append: data files that are written already become a snapshot. `prepare` writes manifests and answers the commit;
 * after a conflict it is called again with the table as it is then, and only writes what has to be written anew.
 * Nothing is part of the table before a catalog has committed.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { QueryError } from '@svc/base';
import type { ObjectStore } from '../../storage/object-store.js';
import type { MetadataFiles } from '../cache/metadata-files.js';
import { newestWrittenFormat } from '../changes/metadata-draft.js';
import { mainBranch, type TableCommit, type TableUpdate } from '../changes/table-change.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import type { ManifestFile } from '../manifests/manifest-list.js';
import {
  type AddedDataFile,
  addedEntry,
  type ManifestEntry,
  writeManifestList,
} from '../manifests/write-manifest.js';
import { specOfManifest, typedPartitionSpecs } from '../scan/partition-types.js';
import { schemaById } from '../scan/resolve-snapshot.js';
import type { Snapshot, SnapshotReference } from '../spec/snapshot.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import type { NestedField } from '../spec/types.js';
import { checkAddedFiles } from './check-added-files.js';
import { entriesOf, existingManifests } from './existing-manifests.js';
import { planMerges } from './merge-manifests.js';
import { newSnapshotId } from './new-snapshot-id.js';
import { appendSummary } from './snapshot-summary.js';
import { type TableToWrite, tableFolders } from './table-place.js';
import { writeProperties } from './table-properties.js';
import { mayBecome } from './type-promotion.js';
import { type ManifestWriting, writeManifests } from './write-manifests.js';

export interface AppendOptions {
  readonly store: ObjectStore;
  readonly files: MetadataFiles;
  readonly dataFiles: readonly AddedDataFile[];
  /** Of the table that the files were written for: they are added to no other one that has its name now. */
  readonly tableUuid: string;
  /** The partition spec and the schema that the files were written under. */
  readonly specId: number;
  readonly schemaId: number;
  /** Further entries of the snapshot's summary, like `engine-name` and `engine-version`. */
  readonly summary?: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export interface Append {
  readonly snapshotId: bigint;
  /** Throws INVALID_ARGUMENT for files that do not fit the spec, DATA_CORRUPT and the errors of storage. */
  prepare(table: TableToWrite, options?: { readonly signal?: AbortSignal }): Promise<TableCommit>;
  /**
   * Deletes the manifests that were written and that `committed` has not: all of them after a definite failure, when it is
   * `undefined`. Must not be called while the outcome of a commit is unknown.
   */
  cleanUp(committed: TableMetadata | undefined): Promise<void>;
}

export function createAppend(options: AppendOptions): Append {
  const snapshotId = newSnapshotId();
  const attempts: Attempts = { newManifests: new Map(), written: new Set(), usedBy: new Map(), count: 0 };
  return {
    snapshotId,
    prepare: (table, { signal } = {}) => prepare({ ...options, snapshotId, attempts, signal }, table),
    cleanUp: async (committed) => {
      const snapshot = committed?.snapshots.find((each) => each.snapshotId === snapshotId);
      if (committed !== undefined && snapshot === undefined) return;
      const used = attempts.usedBy.get(snapshot?.manifestList ?? '') ?? new Set();
      const unused = [...attempts.written].filter((location) => !used.has(location));
      for (const location of unused) {
        await options.store.delete(location).catch(ignoreLeftover);
        attempts.written.delete(location);
      }
      attempts.newManifests.clear();
    },
  };
}

interface Attempts {
  /** The manifests of the added files by format version: an attempt after a conflict takes them as they are. */
  readonly newManifests: Map<number, readonly ManifestFile[]>;
  readonly written: Set<string>;
  /** What the snapshot of an attempt consists of, by its manifest list. */
  readonly usedBy: Map<string, ReadonlySet<string>>;
  count: number;
}

interface Preparing extends AppendOptions {
  readonly snapshotId: bigint;
  readonly attempts: Attempts;
  readonly signal: AbortSignal | undefined;
}

async function prepare(append: Preparing, table: TableToWrite): Promise<TableCommit> {
  const { metadata } = table;
  const { snapshotId, attempts, signal } = append;
  checkIsSameTable(append, metadata);
  checkAppendable(metadata);
  checkHasColumns(append, metadata);
  const parent = metadata.snapshots.find((each) => each.snapshotId === metadata.currentSnapshotId);
  const { formatVersion } = metadata;
  const sequenceNumber = formatVersion === 1 ? 0n : metadata.lastSequenceNumber + 1n;
  const { metadata: folder } = tableFolders(table);
  attempts.count += 1;
  const manifestList = `${folder}/snap-${snapshotId}-${attempts.count}-${randomUUID()}.avro`;
  attempts.written.add(manifestList);
  const schema = schemaById(metadata, undefined);
  const writing: ManifestWriting = {
    store: append.store,
    folder,
    formatVersion,
    schema,
    snapshotId,
    sequenceNumber,
    targetBytes: writeProperties(metadata.properties).manifestTargetBytes,
    signal,
    onFile: (location) => attempts.written.add(location),
  };
  const specs = typedPartitionSpecs(metadata, schema);
  const added = await addedManifests(append, writing, specs);
  const reading = { store: append.store, files: append.files, specs, signal };
  const existing = await existingManifests(reading, parent);
  const manifests = await merged(writing, reading, [...added, ...existing], metadata);
  const list = writeManifestList({
    formatVersion,
    snapshotId,
    parentSnapshotId: parent?.snapshotId,
    sequenceNumber,
    sync: randomBytes(16),
    manifests,
  });
  attempts.usedBy.set(manifestList, new Set([manifestList, ...manifests.map((each) => each.location)]));
  await append.store.write(manifestList, list, signal && { signal });
  return commitOf(metadata, {
    snapshotId,
    parentSnapshotId: parent?.snapshotId,
    sequenceNumber,
    // Never before the snapshot it follows: the history is searched by time.
    timestampMs: Math.max((append.now ?? Date.now)(), metadata.lastUpdatedMs),
    manifestList,
    manifests: undefined,
    schemaId: schema.schemaId,
    operation: 'append',
    summary: appendSummary(parent, append.dataFiles, append.summary ?? {}),
    firstRowId: undefined,
  });
}

/**
 * Throws UNSUPPORTED_TABLE_FEATURE for a table of format 3: its rows have ids, which are numbered in manifests and snapshots
 * that this writer would leave without them, and not every catalog looks.
 */
export function checkAppendable({ formatVersion, location }: TableMetadata): void {
  if (formatVersion <= newestWrittenFormat) return;
  throw new QueryError(
    'UNSUPPORTED_TABLE_FEATURE',
    `The table at ${location} has format version ${formatVersion}; rows are added to tables of versions 1 and 2.`,
  );
}

function checkIsSameTable({ tableUuid }: AppendOptions, metadata: TableMetadata): void {
  if (metadata.tableUuid.toLowerCase() === tableUuid.toLowerCase()) return;
  throw new QueryError(
    'COMMIT_CONFLICT',
    `The table at ${metadata.location} was dropped and made anew while rows for it were written.`,
    { retryable: false },
  );
}

/** Another writer may have replaced or altered the table: rows of columns that are gone are not those of the table. */
function checkHasColumns({ schemaId }: AppendOptions, metadata: TableMetadata): void {
  if (schemaId === metadata.currentSchemaId) return;
  const written = schemaById(metadata, schemaId);
  const problem = lackingColumn(written.fields, schemaById(metadata, undefined).fields);
  if (problem === undefined) return;
  throw new QueryError(
    'COMMIT_CONFLICT',
    `The table at ${metadata.location} was changed by another writer while rows for it were written: ${problem}.`,
    { retryable: false },
  );
}

function lackingColumn(written: readonly NestedField[], now: readonly NestedField[]): string | undefined {
  const gone = written.find((field) => {
    const found = now.find((each) => each.id === field.id);
    return found === undefined || !mayBecome(field.type, found.type);
  });
  if (gone !== undefined) return `column ${JSON.stringify(gone.name)} is another one, or gone`;
  const missing = now.find(
    ({ id, required }) => required && !written.find((each) => each.id === id)?.required,
  );
  return missing && `column ${JSON.stringify(missing.name)} must not be null now`;
}

/** The sequence number is the attempt's; all else of a manifest of added files stays true whoever commits before. */
async function addedManifests(
  { dataFiles, specId, attempts }: Preparing,
  writing: ManifestWriting,
  specs: ReadonlyMap<number, TypedPartitionSpec>,
): Promise<readonly ManifestFile[]> {
  const { formatVersion, sequenceNumber, snapshotId } = writing;
  let manifests = attempts.newManifests.get(formatVersion);
  if (manifests === undefined) {
    const partitionSpec = specs.get(specId);
    if (partitionSpec === undefined)
      throw new QueryError(
        'COMMIT_CONFLICT',
        `The table does not have the partition spec ${specId}, which the added files were written under.`,
        { retryable: false },
      );
    checkAddedFiles(dataFiles, partitionSpec);
    const entries = dataFiles.map((file) => addedEntry(file, snapshotId));
    manifests = await writeManifests(writing, partitionSpec, entries);
    attempts.newManifests.set(formatVersion, manifests);
  }
  return manifests.map((manifest) => ({ ...manifest, sequenceNumber, minSequenceNumber: sequenceNumber }));
}

async function merged(
  writing: ManifestWriting,
  reading: Parameters<typeof entriesOf>[0],
  manifests: readonly ManifestFile[],
  metadata: TableMetadata,
): Promise<readonly ManifestFile[]> {
  const { mergesManifests, minManifestsToMerge, manifestTargetBytes } = writeProperties(metadata.properties);
  if (!mergesManifests) return manifests;
  const { specs } = reading;
  const { merges, kept } = planMerges(manifests, specs, {
    targetBytes: manifestTargetBytes,
    minManifests: minManifestsToMerge,
  });
  const rewritten: ManifestFile[] = [];
  for (const group of merges) {
    const entries: ManifestEntry[] = [];
    for (const manifest of group)
      for (const entry of await entriesOf(reading, manifest)) entries.push(asOf(entry, writing));
    const specId = group[0]?.specId ?? 0;
    const partitionSpec = specOfManifest(specs, specId, group[0]?.location ?? '');
    rewritten.push(...(await writeManifests(writing, partitionSpec, entries)));
  }
  return [...rewritten, ...kept];
}

/** The files of this very commit stay added, and inherit their numbers. */
function asOf(entry: ManifestEntry, { snapshotId }: ManifestWriting): ManifestEntry {
  return entry.snapshotId === snapshotId ? addedEntry(entry.file, snapshotId) : entry;
}

function commitOf(metadata: TableMetadata, snapshot: Snapshot): TableCommit {
  const main = metadata.refs.get(mainBranch);
  const uuid = metadata.tableUuid;
  return {
    requirements: [
      ...(uuid === '' ? [] : [{ type: 'assert-table-uuid', uuid } as const]),
      { type: 'assert-ref-snapshot-id', ref: mainBranch, snapshotId: main?.snapshotId },
    ],
    updates: appendUpdates(snapshot, main),
  };
}

/** Makes the snapshot the current one. `main` is the branch before, whose settings it keeps. */
export function appendUpdates(
  snapshot: Snapshot,
  main: SnapshotReference | undefined,
): readonly TableUpdate[] {
  const reference = { ...main, type: 'branch', snapshotId: snapshot.snapshotId } as const;
  return [
    { action: 'add-snapshot', snapshot },
    { action: 'set-snapshot-ref', refName: mainBranch, reference },
  ];
}

/** A manifest that could not be deleted is an unused file, not a failed commit. */
function ignoreLeftover(): void {}
