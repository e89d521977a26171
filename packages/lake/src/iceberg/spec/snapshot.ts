/** Snapshots, references and logs (specification, "Snapshots", "Snapshot References", "Table Metadata Fields"). */
import type { JsonFields } from './json-fields.js';

export interface Snapshot {
  readonly snapshotId: bigint;
  readonly parentSnapshotId: bigint | undefined;
  /** 0 in format 1. */
  readonly sequenceNumber: bigint;
  readonly timestampMs: number;
  readonly manifestList: string | undefined;
  /** Format 1 may list its manifests here instead of in a manifest list. */
  readonly manifests: readonly string[] | undefined;
  readonly schemaId: number | undefined;
  readonly operation: string | undefined;
  readonly summary: ReadonlyMap<string, string>;
  /** Format 3: the first row id given to the rows this snapshot added. */
  readonly firstRowId: bigint | undefined;
}

export interface SnapshotReference {
  readonly snapshotId: bigint;
  readonly type: 'branch' | 'tag';
}

export interface SnapshotLogEntry {
  readonly timestampMs: number;
  readonly snapshotId: bigint;
}

export interface MetadataLogEntry {
  readonly timestampMs: number;
  readonly metadataFile: string;
}

/** A statistics file, of the table or of its partitions. */
export interface StatisticsFile {
  readonly snapshotId: bigint;
  readonly location: string;
  readonly sizeBytes: number;
}

export function parseSnapshot(json: JsonFields): Snapshot {
  const summary = json.stringMap('summary');
  const manifestList = json.optionalString('manifest-list');
  const manifests = json.strings('manifests');
  if (manifestList === undefined && manifests === undefined)
    throw json.corrupt('has neither a manifest-list nor manifests');
  return {
    snapshotId: json.long('snapshot-id'),
    parentSnapshotId: json.optionalLong('parent-snapshot-id'),
    sequenceNumber: json.optionalLong('sequence-number') ?? 0n,
    timestampMs: json.integer('timestamp-ms'),
    manifestList,
    manifests,
    schemaId: json.optionalInteger('schema-id'),
    operation: summary.get('operation'),
    summary,
    firstRowId: json.optionalLong('first-row-id'),
  };
}

export function parseReference(json: JsonFields): SnapshotReference {
  const type = json.string('type');
  if (type !== 'branch' && type !== 'tag')
    throw json.corrupt(`has the type "${type}", neither branch nor tag`);
  return { snapshotId: json.long('snapshot-id'), type };
}

export function parseSnapshotLogEntry(json: JsonFields): SnapshotLogEntry {
  return { timestampMs: json.integer('timestamp-ms'), snapshotId: json.long('snapshot-id') };
}

export function parseMetadataLogEntry(json: JsonFields): MetadataLogEntry {
  return { timestampMs: json.integer('timestamp-ms'), metadataFile: json.string('metadata-file') };
}

export function parseStatisticsFile(json: JsonFields): StatisticsFile {
  return {
    snapshotId: json.long('snapshot-id'),
    location: json.string('statistics-path'),
    sizeBytes: json.integer('file-size-in-bytes'),
  };
}
