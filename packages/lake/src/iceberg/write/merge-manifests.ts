/**
 * Which manifests an append writes anew as one, as Iceberg's own writers do: those of one partition spec are packed from
 * the oldest into bins of the target size, so that a large manifest is written once and then left alone. The bin with
 * the newest manifest waits until it has the least number of manifests.
 */
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import type { ManifestFile } from '../manifests/manifest-list.js';

export interface MergePlan {
  /** Groups to be written anew, each of two or more manifests of one spec. */
  readonly merges: readonly (readonly ManifestFile[])[];
  readonly kept: readonly ManifestFile[];
}

export interface MergeLimits {
  readonly targetBytes: number;
  readonly minManifests: number;
}

/** What is decoded of a manifest takes many times its size: more are not read at one time. */
const maxMergedBytes = 2 * 1024 * 1024;

/** `manifests` are listed newest first; the new ones of the commit come first. */
export function planMerges(
  manifests: readonly ManifestFile[],
  specs: ReadonlyMap<number, TypedPartitionSpec>,
  limits: MergeLimits,
): MergePlan {
  const merges: (readonly ManifestFile[])[] = [];
  const [newest] = manifests;
  const groups = new Map<number, ManifestFile[]>();
  const kept = new Set<ManifestFile>();
  for (const manifest of manifests) {
    if (!isMergeable(manifest, specs)) kept.add(manifest);
    else groups.set(manifest.specId ?? 0, [...(groups.get(manifest.specId ?? 0) ?? []), manifest]);
  }
  for (const group of groups.values())
    for (const bin of packFromEnd(group, Math.min(limits.targetBytes, maxMergedBytes))) {
      const waits = newest !== undefined && bin.includes(newest) && bin.length < limits.minManifests;
      if (bin.length > 1 && !waits) merges.push(bin);
      else for (const manifest of bin) kept.add(manifest);
    }
  return { merges, kept: manifests.filter((manifest) => kept.has(manifest)) };
}

/**
 * Delete manifests, encrypted ones, and those with partition values that are not understood stay as they are. Those with
 * UUIDs too: they are apart because readers do not agree on the order of UUIDs.
 */
function isMergeable(manifest: ManifestFile, specs: ReadonlyMap<number, TypedPartitionSpec>): boolean {
  const types = specs.get(manifest.specId ?? -1)?.types;
  return (
    manifest.content === 'data' &&
    manifest.keyMetadata === null &&
    types?.every((type) => type !== undefined && type.kind !== 'uuid') === true
  );
}

function packFromEnd(manifests: readonly ManifestFile[], targetBytes: number): readonly ManifestFile[][] {
  const bins: ManifestFile[][] = [];
  let bin: ManifestFile[] = [];
  let bytes = 0;
  for (const manifest of manifests.toReversed()) {
    const length = manifest.lengthBytes ?? 0;
    if (bin.length > 0 && bytes + length > targetBytes) {
      bins.push(bin);
      bin = [];
      bytes = 0;
    }
    bin.unshift(manifest);
    bytes += length;
  }
  if (bin.length > 0) bins.push(bin);
  return bins;
}
