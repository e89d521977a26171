/** All that a manifest says of its live data files, for writing it anew: unlike planning, which reads what a filter needs. */
import { namedAvroError } from '../avro/avro-error.js';
import { type AvroFile, readAvroRecords } from '../avro/container-reader.js';
import {
  bytes,
  integer,
  integerMap,
  list,
  long,
  optional,
  record,
  row,
  type Shape,
  text,
  withDefault,
} from '../avro/shapes.js';
import type { PrimitiveValue } from '../spec/values.js';
import type { TypedPartitionSpec } from './data-file.js';
import { partitionShapes, statusDeleted } from './manifest.js';
import type { ManifestFile } from './manifest-list.js';
import type { AddedDataFile, ManifestEntry } from './write-manifest.js';

interface WrittenFile {
  readonly location: string;
  readonly format: string;
  readonly partition: readonly (PrimitiveValue | null | undefined)[];
  readonly recordCount: number;
  readonly sizeBytes: number;
  readonly columnSizes: ReadonlyMap<number, number> | null;
  readonly valueCounts: ReadonlyMap<number, number> | null;
  readonly nullValueCounts: ReadonlyMap<number, number> | null;
  readonly nanValueCounts: ReadonlyMap<number, number> | null;
  readonly lowerBounds: ReadonlyMap<number, Uint8Array> | null;
  readonly upperBounds: ReadonlyMap<number, Uint8Array> | null;
  readonly keyMetadata: Uint8Array | null;
  readonly splitOffsets: readonly number[] | null;
  readonly sortOrderId: number | null;
}

interface WrittenEntry {
  readonly status: number;
  readonly snapshotId: bigint | null;
  readonly sequenceNumber: bigint | null;
  readonly fileSequenceNumber: bigint | null;
  readonly file: WrittenFile;
}

const none = new Map<number, never>();

/** The live entries, with the numbers that they inherit from `manifest` filled in. Throws DATA_CORRUPT. */
export function readManifestEntries(
  avro: AvroFile,
  manifest: ManifestFile,
  partitionSpec: TypedPartitionSpec,
): readonly ManifestEntry[] {
  try {
    const entries = Array.from(readAvroRecords(avro, entryShape(partitionSpec)));
    return entries
      .filter((entry) => entry.status !== statusDeleted)
      .map(({ file, ...entry }) => ({
        status: 'existing',
        snapshotId: entry.snapshotId ?? manifest.addedSnapshotId ?? 0n,
        sequenceNumber: entry.sequenceNumber ?? manifest.sequenceNumber,
        fileSequenceNumber: entry.fileSequenceNumber ?? entry.sequenceNumber ?? manifest.sequenceNumber,
        file: toDataFile(file),
      }));
  } catch (error) {
    throw namedAvroError(avro.source, error);
  }
}

function toDataFile(file: WrittenFile): AddedDataFile {
  const { location, format, sizeBytes, keyMetadata, sortOrderId } = file;
  return {
    location,
    format,
    sizeBytes,
    partition: file.partition.map((value) => value ?? null),
    keyMetadata,
    sortOrderId,
    metrics: {
      recordCount: file.recordCount,
      columnSizes: file.columnSizes ?? none,
      valueCounts: file.valueCounts ?? none,
      nullValueCounts: file.nullValueCounts ?? none,
      nanValueCounts: file.nanValueCounts ?? none,
      lowerBounds: file.lowerBounds ?? none,
      upperBounds: file.upperBounds ?? none,
      splitOffsets: file.splitOffsets ?? [],
    },
  };
}

function entryShape(partitionSpec: TypedPartitionSpec): Shape<WrittenEntry> {
  return record<WrittenEntry>({
    status: { id: 0, name: 'status', shape: integer },
    snapshotId: { id: 1, name: 'snapshot_id', shape: optional(long) },
    sequenceNumber: { id: 3, name: 'sequence_number', shape: optional(long) },
    fileSequenceNumber: { id: 4, name: 'file_sequence_number', shape: optional(long) },
    file: { id: 2, name: 'data_file', shape: fileShape(partitionSpec) },
  });
}

function fileShape(partitionSpec: TypedPartitionSpec): Shape<WrittenFile> {
  const counts = optional(integerMap(integer));
  const bounds = optional(integerMap(bytes));
  return record<WrittenFile>({
    location: { id: 100, name: 'file_path', shape: text },
    format: { id: 101, name: 'file_format', shape: withDefault(text, 'PARQUET') },
    partition: { id: 102, name: 'partition', shape: row(partitionShapes(partitionSpec)) },
    recordCount: { id: 103, name: 'record_count', shape: integer },
    sizeBytes: { id: 104, name: 'file_size_in_bytes', shape: integer },
    columnSizes: { id: 108, name: 'column_sizes', shape: counts },
    valueCounts: { id: 109, name: 'value_counts', shape: counts },
    nullValueCounts: { id: 110, name: 'null_value_counts', shape: counts },
    nanValueCounts: { id: 137, name: 'nan_value_counts', shape: counts },
    lowerBounds: { id: 125, name: 'lower_bounds', shape: bounds },
    upperBounds: { id: 128, name: 'upper_bounds', shape: bounds },
    keyMetadata: { id: 131, name: 'key_metadata', shape: optional(bytes) },
    splitOffsets: { id: 132, name: 'split_offsets', shape: optional(list(integer)) },
    sortOrderId: { id: 140, name: 'sort_order_id', shape: optional(integer) },
  });
}
