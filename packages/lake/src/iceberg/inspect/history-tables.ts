/** Metadata tables whose rows are in the table's metadata file: snapshots, history, references, properties, its log. */
import type { LoadedTable } from '../../catalogs/catalog.js';
import type { MetadataLogEntry, Snapshot, SnapshotLogEntry, SnapshotReference } from '../spec/snapshot.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import { itemTable, type MetadataTable, mapOf, micros, types } from './metadata-table.js';

export function snapshotsTable({ metadata }: LoadedTable): MetadataTable {
  return itemTable<Snapshot>(
    [
      { name: 'committed_at', type: types.timestamptz, cell: (each) => micros(each.timestampMs) },
      { name: 'snapshot_id', type: types.long, cell: (each) => each.snapshotId },
      { name: 'parent_id', type: types.long, cell: (each) => each.parentSnapshotId ?? null },
      { name: 'operation', type: types.string, cell: (each) => each.operation ?? null },
      { name: 'manifest_list', type: types.string, cell: (each) => each.manifestList ?? null },
      { name: 'summary', type: mapOf(types.string, types.string), cell: (each) => otherSummary(each) },
    ],
    () => metadata.snapshots,
  );
}

/** The operation has a column of its own. */
function otherSummary({ summary }: Snapshot): ReadonlyMap<string, string> {
  return new Map([...summary].filter(([key]) => key !== 'operation'));
}

export function historyTable({ metadata }: LoadedTable): MetadataTable {
  const snapshots = snapshotsById(metadata);
  const ancestors = currentAncestors(metadata, snapshots);
  return itemTable<SnapshotLogEntry>(
    [
      { name: 'made_current_at', type: types.timestamptz, cell: (each) => micros(each.timestampMs) },
      { name: 'snapshot_id', type: types.long, cell: (each) => each.snapshotId },
      {
        name: 'parent_id',
        type: types.long,
        cell: (each) => snapshots.get(each.snapshotId)?.parentSnapshotId ?? null,
      },
      {
        name: 'is_current_ancestor',
        type: types.boolean,
        cell: (each) => ancestors.has(each.snapshotId),
      },
    ],
    () => metadata.snapshotLog,
  );
}

export function refsTable({ metadata }: LoadedTable): MetadataTable {
  return itemTable<readonly [string, SnapshotReference]>(
    [
      { name: 'name', type: types.string, cell: ([name]) => name },
      { name: 'type', type: types.string, cell: ([, { type }]) => type.toUpperCase() },
      { name: 'snapshot_id', type: types.long, cell: ([, { snapshotId }]) => snapshotId },
      { name: 'max_reference_age_in_ms', type: types.long, cell: ([, ref]) => ref.maxRefAgeMs ?? null },
      { name: 'min_snapshots_to_keep', type: types.int, cell: ([, ref]) => intOf(ref.minSnapshotsToKeep) },
      { name: 'max_snapshot_age_in_ms', type: types.long, cell: ([, ref]) => ref.maxSnapshotAgeMs ?? null },
    ],
    () => [...metadata.refs],
  );
}

/** Iceberg's libraries hold it in 32 bits: a larger number keeps as many snapshots as the largest of these. */
function intOf(value: bigint | undefined): number | null {
  return value === undefined ? null : Math.min(Number(value), 0x7fffffff);
}

export function propertiesTable({ metadata }: LoadedTable): MetadataTable {
  return itemTable<readonly [string, string]>(
    [
      { name: 'key', type: types.string, cell: ([key]) => key },
      { name: 'value', type: types.string, cell: ([, value]) => value },
    ],
    () => [...metadata.properties],
  );
}

/** The metadata files that were, and the present one; with what was the current snapshot then. */
export function metadataLogTable({ metadata, metadataLocation }: LoadedTable): MetadataTable {
  const snapshots = snapshotsById(metadata);
  const currentAt = currentSnapshotAt(metadata.snapshotLog);
  const snapshotAt = ({ timestampMs }: MetadataLogEntry) => snapshots.get(currentAt(timestampMs) ?? -1n);
  return itemTable<MetadataLogEntry>(
    [
      { name: 'timestamp', type: types.timestamptz, cell: (each) => micros(each.timestampMs) },
      { name: 'file', type: types.string, cell: (each) => each.metadataFile },
      {
        name: 'latest_snapshot_id',
        type: types.long,
        cell: (each) => currentAt(each.timestampMs) ?? null,
      },
      { name: 'latest_schema_id', type: types.int, cell: (each) => snapshotAt(each)?.schemaId ?? null },
      {
        name: 'latest_sequence_number',
        type: types.long,
        cell: (each) => snapshotAt(each)?.sequenceNumber ?? null,
      },
    ],
    () => [...metadata.metadataLog, { timestampMs: metadata.lastUpdatedMs, metadataFile: metadataLocation }],
  );
}

function snapshotsById({ snapshots }: TableMetadata): ReadonlyMap<bigint, Snapshot> {
  return new Map(snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]));
}

/** A chain that leads back into itself ends where it does. */
function currentAncestors(
  { currentSnapshotId }: TableMetadata,
  snapshots: ReadonlyMap<bigint, Snapshot>,
): ReadonlySet<bigint> {
  const ancestors = new Set<bigint>();
  for (let next = currentSnapshotId; next !== undefined && !ancestors.has(next); ) {
    ancestors.add(next);
    next = snapshots.get(next)?.parentSnapshotId;
  }
  return ancestors;
}

/** By binary search: the log may be long, and so may the list of those who ask. */
function currentSnapshotAt(log: readonly SnapshotLogEntry[]): (timestampMs: number) => bigint | undefined {
  const sorted = [...log].sort((a, b) => a.timestampMs - b.timestampMs);
  return (timestampMs) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle]?.timestampMs ?? 0) <= timestampMs) low = middle + 1;
      else high = middle;
    }
    return sorted[low - 1]?.snapshotId;
  };
}
