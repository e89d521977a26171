import { QueryError } from '@svc/base';
import type { LoadedTable } from '../../catalogs/catalog.js';
import type { LoadedAvroFile, MetadataFiles } from '../cache/metadata-files.js';
import { type ManifestFile, namedManifest, readManifestList } from '../manifests/manifest-list.js';
import type { Snapshot } from '../spec/snapshot.js';

export interface InspectOptions {
  readonly files: MetadataFiles;
  readonly signal: AbortSignal;
}

/** All manifests of a snapshot, of data files and of deletes, in their order. Throws DATA_CORRUPT, DATA_FILE_MISSING. */
export async function snapshotManifests(
  table: LoadedTable,
  snapshot: Snapshot,
  options: InspectOptions,
): Promise<readonly ManifestFile[]> {
  if (snapshot.manifestList === undefined) return (snapshot.manifests ?? []).map(namedManifest);
  const { file } = await metadataFile(table, snapshot.manifestList, options);
  return readManifestList(file);
}

/** Throws DATA_CORRUPT when the manifest is shorter than its list says. */
export async function manifestContent(
  table: LoadedTable,
  manifest: ManifestFile,
  options: InspectOptions,
): Promise<LoadedAvroFile> {
  const { location, keyMetadata, lengthBytes } = manifest;
  if (keyMetadata !== null)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The manifest ${location} is encrypted, which is not supported.`,
    );
  const loaded = await metadataFile(table, location, options);
  if (lengthBytes !== null && loaded.sizeBytes < lengthBytes)
    throw new QueryError(
      'DATA_CORRUPT',
      `The manifest ${location} has ${loaded.sizeBytes} bytes instead of ${lengthBytes}: it is cut short.`,
    );
  return loaded;
}

function metadataFile(
  table: LoadedTable,
  location: string,
  { files, signal }: InspectOptions,
): Promise<LoadedAvroFile> {
  return files.avroFile(table.store, location, { signal });
}
