/** Manifest lists (specification, "Manifest Lists"): which manifests a snapshot has, and what is in each. */
import { QueryError } from '@svc/base';
import { type AvroFile, readAvroRecords } from '../avro/container-reader.js';
import {
  boolean,
  bytes,
  integer,
  list,
  long,
  optional,
  record,
  type Shape,
  text,
  withDefault,
} from '../avro/shapes.js';
import type { FieldSummary } from '../expressions/evaluate-filter.js';

export interface ManifestFile {
  readonly location: string;
  /** `null` when only the manifest's name is known (format 1). */
  readonly lengthBytes: number | null;
  /** `null` likewise: the manifest itself says it. */
  readonly specId: number | null;
  readonly content: 'data' | 'deletes';
  /** 0 in format 1. */
  readonly sequenceNumber: bigint;
  readonly minSequenceNumber: bigint;
  readonly addedSnapshotId: bigint | null;
  readonly addedFileCount: number | null;
  readonly existingFileCount: number | null;
  readonly deletedFileCount: number | null;
  readonly addedRowCount: number | null;
  readonly existingRowCount: number | null;
  readonly deletedRowCount: number | null;
  /** One per field of the partition spec. */
  readonly partitions: readonly FieldSummary[] | null;
  readonly keyMetadata: Uint8Array | null;
  readonly firstRowId: bigint | null;
}

type WrittenManifestFile = Omit<ManifestFile, 'content'> & { readonly content: number };

/** Of one partition spec. */
const maxPartitionFields = 1000;
/** Of one snapshot. Writers merge manifests long before there are a thousandth of these. */
const maxManifests = 200_000;
const maxSummaries = 2_000_000;

const fieldSummary: Shape<FieldSummary> = record<FieldSummary>({
  containsNull: { id: 509, name: 'contains_null', shape: boolean },
  containsNaN: { id: 518, name: 'contains_nan', shape: optional(boolean) },
  lowerBound: { id: 510, name: 'lower_bound', shape: optional(bytes) },
  upperBound: { id: 511, name: 'upper_bound', shape: optional(bytes) },
});

const manifestFile: Shape<WrittenManifestFile> = record<WrittenManifestFile>({
  location: { id: 500, name: 'manifest_path', shape: text },
  lengthBytes: { id: 501, name: 'manifest_length', shape: optional(integer) },
  specId: { id: 502, name: 'partition_spec_id', shape: optional(integer) },
  content: { id: 517, name: 'content', shape: withDefault(integer, 0) },
  sequenceNumber: { id: 515, name: 'sequence_number', shape: withDefault(long, 0n) },
  minSequenceNumber: { id: 516, name: 'min_sequence_number', shape: withDefault(long, 0n) },
  addedSnapshotId: { id: 503, name: 'added_snapshot_id', shape: optional(long) },
  addedFileCount: { id: 504, name: 'added_files_count', shape: optional(integer) },
  existingFileCount: { id: 505, name: 'existing_files_count', shape: optional(integer) },
  deletedFileCount: { id: 506, name: 'deleted_files_count', shape: optional(integer) },
  addedRowCount: { id: 512, name: 'added_rows_count', shape: optional(integer) },
  existingRowCount: { id: 513, name: 'existing_rows_count', shape: optional(integer) },
  deletedRowCount: { id: 514, name: 'deleted_rows_count', shape: optional(integer) },
  partitions: { id: 507, name: 'partitions', shape: optional(list(fieldSummary, maxPartitionFields)) },
  keyMetadata: { id: 519, name: 'key_metadata', shape: optional(bytes) },
  firstRowId: { id: 520, name: 'first_row_id', shape: optional(long) },
});

/** Throws DATA_CORRUPT naming the list, UNSUPPORTED_TABLE_FEATURE for more manifests than are read. */
export function readManifestList(file: AvroFile): readonly ManifestFile[] {
  const manifests: ManifestFile[] = [];
  let summaries = 0;
  for (const written of readAvroRecords(file, manifestFile)) {
    manifests.push({ ...written, content: written.content === 1 ? 'deletes' : 'data' });
    summaries += written.partitions?.length ?? 0;
    if (manifests.length > maxManifests || summaries > maxSummaries)
      throw new QueryError(
        'UNSUPPORTED_TABLE_FEATURE',
        `The manifest list ${file.source} has more than ${maxManifests} manifests or ${maxSummaries} partition summaries, which are not read: rewrite the table's manifests.`,
      );
  }
  return manifests;
}

/** A manifest of which format 1 metadata only gives the location. */
export function namedManifest(location: string): ManifestFile {
  return {
    location,
    lengthBytes: null,
    specId: null,
    content: 'data',
    sequenceNumber: 0n,
    minSequenceNumber: 0n,
    addedSnapshotId: null,
    addedFileCount: null,
    existingFileCount: null,
    deletedFileCount: null,
    addedRowCount: null,
    existingRowCount: null,
    deletedRowCount: null,
    partitions: null,
    keyMetadata: null,
    firstRowId: null,
  };
}
