/** Tables in memory: metadata, manifest lists and manifests as a writer would make them, without data files. */
import { QueryError } from '@svc/base';
import type { LoadedTable } from '../../catalogs/catalog.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import type { ManifestFile } from '../manifests/manifest-list.js';
import { type AddedDataFile, writeManifest, writeManifestList } from '../manifests/write-manifest.js';
import { printJson } from '../spec/lossless-json.js';
import { parseTableMetadata } from '../spec/parse-table-metadata.js';
import type { NestedField, Schema } from '../spec/types.js';
import { newTableMetadata } from '../write/new-table-metadata.js';
import { createMemoryStore, type MemoryStore } from './memory-store.js';

export interface FixtureTable extends LoadedTable {
  readonly store: MemoryStore;
}

export interface FixtureManifest {
  readonly files: readonly AddedDataFile[];
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
  const listed = manifests.map(({ files, overrides }, index) => {
    const written = writeManifest({ schema, partitionSpec, snapshotId: fixtureSnapshotId, sync, files });
    const location = `mem/metadata/m${index}.avro`;
    store.objects.set(location, written.bytes);
    return {
      ...manifestFile(location, written.bytes.length, files),
      partitions: written.partitions,
      ...overrides,
    };
  });
  const list = writeManifestList({
    snapshotId: fixtureSnapshotId,
    parentSnapshotId: undefined,
    sequenceNumber: 1n,
    sync,
    manifests: listed,
  });
  store.objects.set('mem/metadata/snap.avro', list);
  const files = manifests.flatMap((manifest) => manifest.files);
  const json = newTableMetadata({
    tableUuid: 'd1f0c7a2-5f0b-4a43-9d0e-3c2b1a0f9e8d',
    location: 'mem',
    schema,
    lastColumnId: 100,
    partitionSpec: partitionSpec.spec,
    properties: {},
    timestampMs: 1_700_000_000_000,
    snapshot: {
      snapshotId: fixtureSnapshotId,
      manifestList: 'mem/metadata/snap.avro',
      addedFiles: files.length,
      addedRecords: 0,
      addedBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
    },
  });
  return tableOf(printJson(json), store);
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

function manifestFile(location: string, lengthBytes: number, files: readonly AddedDataFile[]): ManifestFile {
  return {
    location,
    lengthBytes,
    specId: 0,
    content: 'data',
    sequenceNumber: 1n,
    minSequenceNumber: 1n,
    addedSnapshotId: fixtureSnapshotId,
    addedFileCount: files.length,
    existingFileCount: 0,
    deletedFileCount: 0,
    addedRowCount: files.reduce((sum, file) => sum + file.metrics.recordCount, 0),
    existingRowCount: 0,
    deletedRowCount: 0,
    partitions: null,
    keyMetadata: null,
    firstRowId: null,
  };
}

/** For `assert.rejects`: the code and a part of the message. */
export function queryError(code: string, message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof QueryError && error.code === code && message.test(error.message);
}
