/** The manifests that a new snapshot takes over from the one before it. */
import { QueryError } from '@svc/base';
import { mapConcurrently } from '../../storage/map-concurrently.js';
import type { ObjectStore } from '../../storage/object-store.js';
import type { MetadataFiles } from '../cache/metadata-files.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import { manifestSpecId } from '../manifests/manifest.js';
import { readManifestEntries } from '../manifests/manifest-entries.js';
import { type ManifestFile, namedManifest, readManifestList } from '../manifests/manifest-list.js';
import type { ManifestEntry } from '../manifests/write-manifest.js';
import { specOfManifest } from '../scan/partition-types.js';
import type { Snapshot } from '../spec/snapshot.js';

export interface ManifestReading {
  readonly store: ObjectStore;
  readonly files: MetadataFiles;
  readonly specs: ReadonlyMap<number, TypedPartitionSpec>;
  readonly signal: AbortSignal | undefined;
}

/** Manifests being read at one time. */
const maxConcurrentReads = 8;

/** Newest first, as they are listed, with every count that a manifest list must have. */
export async function existingManifests(
  reading: ManifestReading,
  snapshot: Snapshot | undefined,
): Promise<readonly ManifestFile[]> {
  if (snapshot === undefined) return [];
  const { store, files, signal } = reading;
  const options = signal && { signal };
  const listed =
    snapshot.manifestList === undefined
      ? (snapshot.manifests ?? []).map(namedManifest)
      : readManifestList((await files.avroFile(store, snapshot.manifestList, options)).file);
  const live = listed.filter((each) => each.addedFileCount !== 0 || each.existingFileCount !== 0);
  return mapConcurrently(live, { maxConcurrent: maxConcurrentReads, signal }, async (manifest) =>
    isComplete(manifest) ? manifest : complete(reading, manifest),
  );
}

/** Throws UNSUPPORTED_TABLE_FEATURE for an encrypted manifest. */
export async function entriesOf(
  { store, files, specs, signal }: ManifestReading,
  manifest: ManifestFile,
): Promise<readonly ManifestEntry[]> {
  if (manifest.keyMetadata !== null)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The manifest ${manifest.location} is encrypted, which is not supported.`,
    );
  const { file } = await files.avroFile(store, manifest.location, signal && { signal });
  const specId = manifest.specId ?? manifestSpecId(file);
  return readManifestEntries(file, manifest, specOfManifest(specs, specId, manifest.location));
}

function isComplete(manifest: ManifestFile): boolean {
  return (
    manifest.lengthBytes !== null &&
    manifest.specId !== null &&
    manifest.addedSnapshotId !== null &&
    manifest.addedFileCount !== null &&
    manifest.existingFileCount !== null &&
    manifest.deletedFileCount !== null &&
    manifest.addedRowCount !== null &&
    manifest.existingRowCount !== null &&
    manifest.deletedRowCount !== null
  );
}

/**
 * Format 1 may leave the counts out, which other readers take for zero. All live files count as existing; how many were
 * deleted says nothing of the table as it is.
 */
async function complete(reading: ManifestReading, manifest: ManifestFile): Promise<ManifestFile> {
  const { store, files, signal } = reading;
  const { file, sizeBytes } = await files.avroFile(store, manifest.location, signal && { signal });
  const entries = await entriesOf(reading, manifest);
  return {
    ...manifest,
    lengthBytes: sizeBytes,
    specId: manifest.specId ?? manifestSpecId(file),
    addedSnapshotId: manifest.addedSnapshotId ?? entries[0]?.snapshotId ?? 0n,
    addedFileCount: 0,
    existingFileCount: entries.length,
    deletedFileCount: manifest.deletedFileCount ?? 0,
    addedRowCount: 0,
    existingRowCount: entries.reduce((sum, entry) => sum + entry.file.metrics.recordCount, 0),
    deletedRowCount: manifest.deletedRowCount ?? 0,
  };
}
