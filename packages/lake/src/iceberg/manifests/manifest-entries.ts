/** All that a manifest says of its live data files, for writing it anew: unlike planning, which reads what a filter needs. */
import { namedAvroError } from '../avro/avro-error.js';
import { type AvroFile, readAvroRecords } from '../avro/container-reader.js';
import { integer, long, optional, record, type Shape } from '../avro/shapes.js';
import type { TypedPartitionSpec } from './data-file.js';
import { fileFields, metricFields, orParquet, type WrittenFile } from './file-fields.js';
import { statusDeleted } from './manifest.js';
import type { ManifestFile } from './manifest-list.js';
import type { AddedDataFile, ManifestEntry } from './write-manifest.js';

type WrittenData = Pick<WrittenFile, (typeof dataFields)[number]>;

interface WrittenEntry {
  readonly status: number;
  readonly snapshotId: bigint | null;
  readonly sequenceNumber: bigint | null;
  readonly fileSequenceNumber: bigint | null;
  readonly file: WrittenData;
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

function toDataFile(file: WrittenData): AddedDataFile {
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

const dataFields = [
  'location',
  'format',
  'partition',
  'sizeBytes',
  'columnSizes',
  ...metricFields,
  'keyMetadata',
  'splitOffsets',
  'sortOrderId',
] as const;

function fileShape(partitionSpec: TypedPartitionSpec): Shape<WrittenData> {
  const fields = fileFields(partitionSpec, dataFields);
  return record<WrittenData>({ ...fields, format: orParquet(fields.format) });
}
