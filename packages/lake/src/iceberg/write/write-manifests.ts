/** Writing the manifests of a commit: several when one would be larger than its target size. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { ObjectStore } from '../../storage/object-store.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import type { ManifestFile } from '../manifests/manifest-list.js';
import { type ManifestEntry, type WrittenManifest, writeManifest } from '../manifests/write-manifest.js';
import type { Schema } from '../spec/types.js';
import type { PrimitiveValue } from '../spec/values.js';

export interface ManifestWriting {
  readonly store: ObjectStore;
  /** The folder of the table's metadata. */
  readonly folder: string;
  readonly formatVersion: number;
  readonly schema: Schema;
  readonly snapshotId: bigint;
  readonly sequenceNumber: bigint;
  readonly targetBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Told of a file before it is written, so that it can be cleaned up whatever happens then. */
  readonly onFile: (location: string) => void;
}

/** Entries keep their order, but where UUIDs are partition values: see `groupByUuidOrder`. */
export async function writeManifests(
  writing: ManifestWriting,
  partitionSpec: TypedPartitionSpec,
  entries: readonly ManifestEntry[],
): Promise<readonly ManifestFile[]> {
  const { store, folder, targetBytes, signal } = writing;
  const uuid = randomUUID();
  const manifests: ManifestFile[] = [];
  for (const group of groupByUuidOrder(partitionSpec, entries))
    for (const { bytes, manifest } of encodeParts(writing, partitionSpec, group, targetBytes)) {
      const location = `${folder}/${uuid}-m${manifests.length}.avro`;
      writing.onFile(location);
      await store.write(location, bytes, signal && { signal });
      manifests.push({ ...manifest, location });
    }
  return manifests;
}

/**
 * Readers do not agree on the order of UUIDs (see `isAgreedUuidRange`), but a manifest list must say the bounds of
 * partition values. So those that are ordered differently go into different manifests.
 */
function groupByUuidOrder(
  { types }: TypedPartitionSpec,
  entries: readonly ManifestEntry[],
): readonly (readonly ManifestEntry[])[] {
  if (!types.some((type) => type?.kind === 'uuid')) return [entries];
  const groups = new Map<string, ManifestEntry[]>();
  for (const entry of entries) {
    const key = types.map((type, slot) => (type?.kind === 'uuid' ? signsOf(entry.file.partition[slot]) : ''));
    const group = groups.get(key.join()) ?? [];
    groups.set(key.join(), group);
    group.push(entry);
  }
  return [...groups.values()];
}

function signsOf(value: PrimitiveValue | null | undefined): string {
  return value instanceof Uint8Array ? [0, 8].map((index) => (value[index] ?? 0) >> 7).join('') : 'null';
}

/** How well entries compress is only known once all are: a first try says how many parts there must be. */
function encodeParts(
  { formatVersion, schema, snapshotId, sequenceNumber }: ManifestWriting,
  partitionSpec: TypedPartitionSpec,
  entries: readonly ManifestEntry[],
  targetBytes: number,
): readonly WrittenManifest[] {
  if (entries.length === 0) return [];
  const common = { location: '', formatVersion, schema, partitionSpec, snapshotId, sequenceNumber };
  const encode = (part: readonly ManifestEntry[]) =>
    writeManifest({ ...common, sync: randomBytes(16), entries: part });
  const whole = encode(entries);
  const count = Math.min(Math.ceil(whole.bytes.length / targetBytes), entries.length);
  if (count === 1) return [whole];
  const length = Math.ceil(entries.length / count);
  return Array.from({ length: Math.ceil(entries.length / length) }, (_unused, index) =>
    encode(entries.slice(index * length, (index + 1) * length)),
  );
}
