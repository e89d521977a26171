/** Tables in memory: metadata, manifest lists and manifests as a writer would make them, without data files. */
import { QueryError } from '@svc/base';
import type { LoadedTable } from '../../catalogs/catalog.js';
import { applyUpdates } from '../changes/apply-updates.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import type { ManifestFile } from '../manifests/manifest-list.js';
import {
  type AddedDataFile,
  addedEntry,
  writeManifest,
  writeManifestList,
} from '../manifests/write-manifest.js';
import { parseTableMetadata, printTableMetadata } from '../spec/parse-table-metadata.js';
import type { NestedField, Schema } from '../spec/types.js';
import { appendUpdates } from '../write/append-files.js';
import { createTableUpdates } from '../write/create-table.js';
import { appendSummary } from '../write/snapshot-summary.js';
import { type FixtureDelete, writeDeleteManifest } from './delete-manifest.js';
import { createMemoryStore, type MemoryStore } from './memory-store.js';

export interface FixtureTable extends LoadedTable {
  readonly store: MemoryStore;
}

export interface FixtureManifest {
  readonly files: readonly AddedDataFile[];
  /** Makes it a manifest of these instead. */
  readonly deletes?: readonly FixtureDelete[];
  /** What the manifest list says instead of the truth. */
  readonly overrides?: Partial<ManifestFile>;
}

export const fixtureSnapshotId = 2n ** 62n + 1n;
const sync = Buffer.alloc(16, 5);

export function fixtureTable(
  fields: readonly NestedField[],
  partitionSpec: TypedPartitionSpec,
  manifests: readonly FixtureManifest[],
): FixtureTable {
  const store = createMemoryStore();
  const schema: Schema = { schemaId: 0, fields, identifierFieldIds: [] };
  const written = {
    formatVersion: 2,
    schema,
    partitionSpec,
    snapshotId: fixtureSnapshotId,
    sequenceNumber: 1n,
    sync,
  };
  const listed = manifests.map(({ files, deletes, overrides }, index) => {
    const location = `mem/metadata/m${index}.avro`;
    const entries = files.map((file) => addedEntry(file, fixtureSnapshotId));
    const { bytes, manifest } = writeManifest({ ...written, location, entries });
    store.objects.set(location, deletes === undefined ? bytes : writeDeleteManifest(partitionSpec, deletes));
    if (deletes === undefined) return { ...manifest, ...overrides };
    const counts = { addedFileCount: deletes.length, lengthBytes: null, partitions: null };
    return { ...manifest, content: 'deletes' as const, ...counts, ...overrides };
  });
  const manifestList = 'mem/metadata/snap.avro';
  store.objects.set(
    manifestList,
    writeManifestList({ ...written, parentSnapshotId: undefined, manifests: listed }),
  );
  const creation = createTableUpdates({
    tableUuid: 'd1f0c7a2-5f0b-4a43-9d0e-3c2b1a0f9e8d',
    location: 'mem',
    formatVersion: 2,
    schema,
    lastColumnId: 100,
    partitionSpec: partitionSpec.spec,
    properties: {},
  });
  const timestampMs = 1_700_000_000_000;
  const snapshot = {
    snapshotId: fixtureSnapshotId,
    parentSnapshotId: undefined,
    sequenceNumber: 1n,
    timestampMs,
    manifestList,
    manifests: undefined,
    schemaId: 0,
    operation: 'append',
    summary: appendSummary(
      undefined,
      manifests.flatMap((manifest) => manifest.files),
      {},
    ),
    firstRowId: undefined,
  };
  const metadata = applyUpdates(undefined, [...creation, ...appendUpdates(snapshot, undefined)], timestampMs);
  return tableOf(printTableMetadata(metadata), store);
}

export function tableOf(metadataText: string, store: MemoryStore): FixtureTable {
  return {
    identifier: { namespace: ['test'], name: 'fixture' },
    metadata: parseTableMetadata(Buffer.from(metadataText), 'mem/metadata/v1.metadata.json'),
    metadataLocation: 'mem/metadata/v1.metadata.json',
    store,
  };
}

/** A file without statistics but its number of rows. */
export function plainFile(location: string, overrides: Partial<AddedDataFile> = {}): AddedDataFile {
  const none = new Map<number, never>();
  return {
    location,
    sizeBytes: 100,
    partition: [],
    metrics: {
      recordCount: 10,
      columnSizes: none,
      valueCounts: none,
      nullValueCounts: none,
      nanValueCounts: none,
      lowerBounds: none,
      upperBounds: none,
      splitOffsets: [],
    },
    ...overrides,
  };
}

/** For `assert.rejects`: the code and a part of the message. */
export function queryError(code: string, message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof QueryError && error.code === code && message.test(error.message);
}
