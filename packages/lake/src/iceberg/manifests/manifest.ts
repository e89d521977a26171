/**
 * Manifests (specification, "Manifests"). Only what planning asks for is decoded: of the statistics the columns that
 * are filtered on, of a pruned file nothing but these.
 */
import { QueryError } from '@svc/base';
import type { RowFacts } from '../../scan/row-use.js';
import { namedAvroError } from '../avro/avro-error.js';
import type { AvroFile } from '../avro/container-reader.js';
import { readAvroRecords } from '../avro/container-reader.js';
import { createPacer } from '../avro/pacer.js';
import {
  type Deferred,
  deferred,
  integer,
  long,
  optional,
  readDeferred,
  record,
  type Shape,
} from '../avro/shapes.js';
import type { ColumnMetrics } from '../expressions/evaluate-filter.js';
import type { DataFile, TypedPartitionSpec } from './data-file.js';
import { fileFields, metricFields, type WrittenFile } from './file-fields.js';
import type { ManifestFile } from './manifest-list.js';

/** Decides by what is cheap to read; both answers true keep the file. */
export interface FilePruning {
  /** The columns whose statistics `mayMatch` looks at. */
  readonly fieldIds: ReadonlySet<number>;
  readonly partitionMightMatch: (values: DataFile['partition']) => boolean;
  readonly fileMightMatch: (metrics: ColumnMetrics) => boolean;
  /** What is to be kept of the statistics. */
  readonly describe?: ((metrics: ColumnMetrics, partition: DataFile['partition']) => RowFacts) | undefined;
}

export interface ManifestContent {
  readonly files: readonly DataFile[];
  /** Live files in the manifest, whether pruned or not, and their bytes. */
  readonly liveFileCount: number;
  readonly liveBytes: number;
}

/** What is kept of a file is read late: most files are pruned. */
type PrunableFile = Pick<WrittenFile, (typeof prunedBy)[number]> & {
  readonly location: Deferred<string>;
  readonly format: Deferred<string>;
  readonly splitOffsets: Deferred<readonly number[] | null> | null;
};

interface WrittenEntry {
  readonly status: number;
  readonly sequenceNumber: bigint | null;
  readonly file: PrunableFile;
}

export const statusDeleted = 2;
/** Entries decoded before other work gets its turn. */
const entriesPerSlice = 1000;

/** Throws DATA_CORRUPT, and UNSUPPORTED_TABLE_FEATURE for encrypted files. */
export type ManifestReader = (
  avro: AvroFile,
  manifest: ManifestFile,
  signal?: AbortSignal,
) => Promise<ManifestContent>;

/** A reader for all manifests of data files that have one partition spec. */
export function createManifestReader(
  partitionSpec: TypedPartitionSpec,
  pruning: FilePruning,
): ManifestReader {
  const shape = entryShape(partitionSpec, pruning.fieldIds);
  return async (avro, manifest, signal) => {
    const pacer = createPacer(entriesPerSlice, signal);
    const files: DataFile[] = [];
    let [liveFileCount, liveBytes] = [0, 0];
    let nextRowId = manifest.firstRowId;
    try {
      for (const entry of readAvroRecords(avro, shape)) {
        if (pacer.spend(1)) await pacer.pause();
        if (entry.status === statusDeleted) continue;
        liveFileCount++;
        liveBytes += entry.file.sizeBytes;
        if (entry.file.content !== 0) throw unexpectedDeleteFile(avro, entry.file);
        // Files just added have no id of their own: theirs follow the manifest's ("First Row ID Inheritance").
        const firstRowId: bigint | null = entry.file.firstRowId ?? nextRowId;
        if (entry.file.firstRowId === null && nextRowId !== null) nextRowId += BigInt(entry.file.recordCount);
        if (!pruning.partitionMightMatch(entry.file.partition) || !pruning.fileMightMatch(entry.file))
          continue;
        const facts = pruning.describe?.(entry.file, entry.file.partition);
        files.push({ ...toDataFile(entry, { manifest, partitionSpec, facts }), firstRowId });
      }
    } catch (error) {
      throw namedAvroError(avro.source, error);
    }
    return { files, liveFileCount, liveBytes };
  };
}

/** The spec that the manifest's files are partitioned by, as its own header has it. */
export function manifestSpecId(avro: AvroFile): number {
  const text = Buffer.from(avro.metadata.get('partition-spec-id') ?? Buffer.from('0')).toString();
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

interface FileOrigin {
  readonly manifest: ManifestFile;
  readonly partitionSpec: TypedPartitionSpec;
  readonly facts: RowFacts | undefined;
}

function toDataFile(
  { sequenceNumber, file }: WrittenEntry,
  { manifest, partitionSpec, facts }: FileOrigin,
): Omit<DataFile, 'firstRowId'> {
  const location = readDeferred(file.location);
  if (file.keyMetadata !== null)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The data file ${location} is encrypted, which is not supported.`,
    );
  return {
    location,
    format: readDeferred(file.format).toUpperCase(),
    sizeBytes: file.sizeBytes,
    recordCount: file.recordCount,
    partitionSpec,
    partition: file.partition,
    // A file just added has the number that its manifest was given at commit ("Sequence Number Inheritance").
    sequenceNumber: sequenceNumber ?? manifest.sequenceNumber,
    splitOffsets: file.splitOffsets === null ? null : readDeferred(file.splitOffsets),
    ...(facts && { facts }),
  };
}

function entryShape(partitionSpec: TypedPartitionSpec, fieldIds: ReadonlySet<number>): Shape<WrittenEntry> {
  return record<WrittenEntry>({
    status: { id: 0, name: 'status', shape: integer },
    sequenceNumber: { id: 3, name: 'sequence_number', shape: optional(long) },
    file: { id: 2, name: 'data_file', shape: fileShape(partitionSpec, fieldIds) },
  });
}

const prunedBy = ['content', 'partition', 'sizeBytes', ...metricFields, 'keyMetadata', 'firstRowId'] as const;

function fileShape(partitionSpec: TypedPartitionSpec, fieldIds: ReadonlySet<number>): Shape<PrunableFile> {
  const { location, format, splitOffsets, ...fields } = fileFields(
    partitionSpec,
    [...prunedBy, 'location', 'format', 'splitOffsets'],
    fieldIds,
  );
  return record<PrunableFile>({
    ...fields,
    location: { ...location, shape: deferred(location.shape) },
    format: { ...format, shape: deferred(format.shape) },
    splitOffsets: { ...splitOffsets, shape: { absent: { value: null }, ...deferred(splitOffsets.shape) } },
  });
}

function unexpectedDeleteFile(avro: AvroFile, file: PrunableFile): QueryError {
  return new QueryError(
    'DATA_CORRUPT',
    `${avro.source} is a manifest of data files, but lists the delete file ${readDeferred(file.location)}.`,
  );
}
