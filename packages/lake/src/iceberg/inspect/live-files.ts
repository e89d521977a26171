import type { LoadedTable } from '../../catalogs/catalog.js';
import { mapConcurrently } from '../../storage/map-concurrently.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import { manifestSpecId } from '../manifests/manifest.js';
import type { ManifestFile } from '../manifests/manifest-list.js';
import { specOfManifest } from '../scan/partition-types.js';
import type { Snapshot } from '../spec/snapshot.js';
import { createFileEntryReader, type FileEntry, type SeldomField } from './file-entries.js';
import { type InspectOptions, manifestContent, snapshotManifests } from './snapshot-manifests.js';

export interface LiveFile extends FileEntry {
  readonly partitionSpec: TypedPartitionSpec;
}

export interface LiveFilesOptions extends InspectOptions {
  readonly specs: ReadonlyMap<number, TypedPartitionSpec>;
  /** What is read of the files beside what always is. */
  readonly wanted: ReadonlySet<SeldomField>;
  readonly isWantedManifest: (manifest: ManifestFile) => boolean;
}

/** Manifests that are fetched while others are decoded. */
const maxConcurrentManifests = 8;
/** Files of a piece; one of a thousand columns with all their statistics has some hundred kilobytes. */
const filesPerPiece = 256;

/** The files of a snapshot in pieces, manifest by manifest; what was not asked for is `null`. */
export async function* liveFiles(
  table: LoadedTable,
  snapshot: Snapshot,
  { specs, wanted, isWantedManifest, ...options }: LiveFilesOptions,
): AsyncGenerator<readonly LiveFile[], void, undefined> {
  const readers = new Map<number, ReturnType<typeof createFileEntryReader>>();
  const all = (await snapshotManifests(table, snapshot, options)).filter(isWantedManifest);
  for (let start = 0; start < all.length; start += maxConcurrentManifests) {
    const some = all.slice(start, start + maxConcurrentManifests);
    const loaded = await mapConcurrently(
      some,
      { maxConcurrent: maxConcurrentManifests, signal: options.signal },
      async (manifest) => ({ manifest, ...(await manifestContent(table, manifest, options)) }),
    );
    for (const { manifest, file } of loaded) {
      const partitionSpec = specOfManifest(specs, manifest.specId ?? manifestSpecId(file), manifest.location);
      const { specId } = partitionSpec.spec;
      const read = readers.get(specId) ?? createFileEntryReader(partitionSpec, wanted);
      readers.set(specId, read);
      let piece: LiveFile[] = [];
      for await (const entry of read(file, options.signal)) {
        piece.push({ ...entry, partitionSpec });
        if (piece.length === filesPerPiece) {
          yield piece;
          piece = [];
        }
      }
      yield piece;
    }
  }
}
