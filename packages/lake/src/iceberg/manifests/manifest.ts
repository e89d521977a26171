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
  boolean,
  bytes,
  type Deferred,
  deferred,
  type FieldShape,
  floating,
  integer,
  integerMap,
  list,
  long,
  optional,
  type Read,
  readDeferred,
  record,
  row,
  type Shape,
  skipped,
  text,
  withDefault,
} from '../avro/shapes.js';
import type { ColumnMetrics } from '../expressions/evaluate-filter.js';
import { decodeUnscaled } from '../spec/binary-value.js';
import type { PrimitiveType } from '../spec/types.js';
import type { PrimitiveValue } from '../spec/values.js';
import type { DataFile, TypedPartitionSpec } from './data-file.js';
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

interface WrittenFile extends ColumnMetrics {
  readonly content: number;
  readonly location: Deferred<string>;
  readonly format: Deferred<string>;
  readonly partition: DataFile['partition'];
  readonly sizeBytes: number;
  readonly splitOffsets: Deferred<readonly number[] | null> | null;
  readonly keyMetadata: Uint8Array | null;
}

interface WrittenEntry {
  readonly status: number;
  readonly sequenceNumber: bigint | null;
  readonly file: WrittenFile;
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
    try {
      for (const entry of readAvroRecords(avro, shape)) {
        if (pacer.spend(1)) await pacer.pause();
        if (entry.status === statusDeleted) continue;
        liveFileCount++;
        liveBytes += entry.file.sizeBytes;
        if (entry.file.content !== 0) throw unexpectedDeleteFile(avro, entry.file);
        if (!pruning.partitionMightMatch(entry.file.partition) || !pruning.fileMightMatch(entry.file))
          continue;
        const facts = pruning.describe?.(entry.file, entry.file.partition);
        files.push(toDataFile(entry, { manifest, partitionSpec, facts }));
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
): DataFile {
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

function fileShape(partitionSpec: TypedPartitionSpec, fieldIds: ReadonlySet<number>): Shape<WrittenFile> {
  const counts = optional(integerMap(integer, fieldIds));
  const bounds = optional(integerMap(bytes, fieldIds));
  return record<WrittenFile>({
    content: { id: 134, name: 'content', shape: withDefault(integer, 0) },
    location: { id: 100, name: 'file_path', shape: deferred(text) },
    format: { id: 101, name: 'file_format', shape: deferred(text) },
    partition: { id: 102, name: 'partition', shape: row(partitionShapes(partitionSpec)) },
    recordCount: { id: 103, name: 'record_count', shape: integer },
    sizeBytes: { id: 104, name: 'file_size_in_bytes', shape: integer },
    valueCounts: { id: 109, name: 'value_counts', shape: counts },
    nullValueCounts: { id: 110, name: 'null_value_counts', shape: counts },
    nanValueCounts: { id: 137, name: 'nan_value_counts', shape: counts },
    lowerBounds: { id: 125, name: 'lower_bounds', shape: bounds },
    upperBounds: { id: 128, name: 'upper_bounds', shape: bounds },
    splitOffsets: {
      id: 132,
      name: 'split_offsets',
      shape: { absent: { value: null }, ...deferred(optional(list(integer))) },
    },
    keyMetadata: { id: 131, name: 'key_metadata', shape: optional(bytes) },
  });
}

export function partitionShapes({
  spec,
  types,
}: TypedPartitionSpec): readonly FieldShape<PrimitiveValue | undefined>[] {
  return spec.fields.map((field, slot) => ({
    id: field.fieldId,
    name: field.name,
    shape: valueShape(types[slot]),
  }));
}

/** How a partition value of the type is written; a value of a source column promoted since is widened. */
function valueShape(type: PrimitiveType | undefined): Shape<PrimitiveValue | undefined> {
  switch (type?.kind) {
    case 'boolean':
      return boolean;
    case 'int':
    case 'date':
      return integer;
    case 'long':
    case 'time':
      return long;
    case 'timestamp':
    case 'timestamptz':
      return timestampShape(86_400_000_000n);
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return timestampShape(86_400_000_000_000n);
    case 'float':
    case 'double':
      return floating;
    case 'decimal':
      return { compile: (written) => mapRead(bytes.compile(written), decodeUnscaled) };
    case 'string':
      return text;
    case 'uuid':
      return { compile: (written) => (written.kind === 'string' ? skipped : copiedBytes).compile(written) };
    case 'fixed':
    case 'binary':
      return copiedBytes;
    case 'unknown':
    case 'unsupported':
    case undefined:
      return skipped;
  }
}

/** The file would otherwise be held in memory by a few bytes of it. */
const copiedBytes: Shape<Uint8Array> = {
  compile: (written) => mapRead(bytes.compile(written), (view) => Uint8Array.from(view)),
};

/** A date column may have become a timestamp (format 3). */
function timestampShape(unitsPerDay: bigint): Shape<bigint> {
  return {
    compile: (written) =>
      written.kind === 'int'
        ? mapRead(integer.compile(written), (days) => BigInt(days) * unitsPerDay)
        : long.compile(written),
  };
}

function mapRead<A, B>(read: Read<A>, convert: (value: A) => B): Read<B> {
  return (cursor) => convert(read(cursor));
}

function unexpectedDeleteFile(avro: AvroFile, file: WrittenFile): QueryError {
  return new QueryError(
    'DATA_CORRUPT',
    `${avro.source} is a manifest of data files, but lists the delete file ${readDeferred(file.location)}.`,
  );
}
