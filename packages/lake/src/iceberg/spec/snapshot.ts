/** Snapshots, references and logs (specification, "Snapshots", "Snapshot References", "Table Metadata Fields"). */
import type { JsonFields } from './json-fields.js';
import { type JsonObject, jsonNumber } from './lossless-json.js';

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
  /** How much of a branch's history expiry keeps; absent: as the table's properties say. */
  readonly minSnapshotsToKeep?: bigint;
  readonly maxSnapshotAgeMs?: bigint;
  /** When the reference itself may be removed; never that of `main`. */
  readonly maxRefAgeMs?: bigint;
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
  const minSnapshotsToKeep = json.optionalLong('min-snapshots-to-keep');
  const maxSnapshotAgeMs = json.optionalLong('max-snapshot-age-ms');
  const maxRefAgeMs = json.optionalLong('max-ref-age-ms');
  return {
    snapshotId: json.long('snapshot-id'),
    type,
    ...(minSnapshotsToKeep !== undefined && { minSnapshotsToKeep }),
    ...(maxSnapshotAgeMs !== undefined && { maxSnapshotAgeMs }),
    ...(maxRefAgeMs !== undefined && { maxRefAgeMs }),
  };
}

export function printReference(reference: SnapshotReference): JsonObject {
  const { minSnapshotsToKeep, maxSnapshotAgeMs, maxRefAgeMs } = reference;
  return {
    'snapshot-id': jsonNumber(reference.snapshotId),
    type: reference.type,
    ...(minSnapshotsToKeep !== undefined && { 'min-snapshots-to-keep': jsonNumber(minSnapshotsToKeep) }),
    ...(maxSnapshotAgeMs !== undefined && { 'max-snapshot-age-ms': jsonNumber(maxSnapshotAgeMs) }),
    ...(maxRefAgeMs !== undefined && { 'max-ref-age-ms': jsonNumber(maxRefAgeMs) }),
  };
}

/** The sequence number is left out when it is 0, as in format 1. */
export function printSnapshot(snapshot: Snapshot): JsonObject {
  const { parentSnapshotId, sequenceNumber, manifestList, manifests, schemaId, firstRowId } = snapshot;
  return {
    'snapshot-id': jsonNumber(snapshot.snapshotId),
    ...(parentSnapshotId !== undefined && { 'parent-snapshot-id': jsonNumber(parentSnapshotId) }),
    ...(sequenceNumber !== 0n && { 'sequence-number': jsonNumber(sequenceNumber) }),
    'timestamp-ms': jsonNumber(snapshot.timestampMs),
    ...(manifestList !== undefined && { 'manifest-list': manifestList }),
    ...(manifests !== undefined && { manifests }),
    ...(schemaId !== undefined && { 'schema-id': jsonNumber(schemaId) }),
    ...(snapshot.summary.size > 0 && { summary: Object.fromEntries(snapshot.summary) }),
    ...(firstRowId !== undefined && { 'first-row-id': jsonNumber(firstRowId) }),
  };
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
