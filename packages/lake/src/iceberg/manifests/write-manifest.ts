/** Writing manifests and manifest lists of format 2. */
import { writeAvroFile } from '../avro/container-writer.js';
import type { AvroEncoder } from '../avro/encoder.js';
import type { FieldSummary } from '../expressions/evaluate-filter.js';
import { encodeBinaryValue, encodeUnscaled } from '../spec/binary-value.js';
import { printJson } from '../spec/lossless-json.js';
import { printPartitionField } from '../spec/partition-spec.js';
import { printSchema } from '../spec/schema-json.js';
import type { PrimitiveType, Schema } from '../spec/types.js';
import { compareValues, isFloating, isNaNValue, type PrimitiveValue, toComparable } from '../spec/values.js';
import { decimalBytes, manifestListSchema, manifestSchema } from './avro-schemas.js';
import type { TypedPartitionSpec } from './data-file.js';
import type { ManifestFile } from './manifest-list.js';

/** What is known of a data file's columns, by field id; bounds in single-value binary form. */
export interface DataFileMetrics {
  readonly recordCount: number;
  readonly columnSizes: ReadonlyMap<number, number>;
  readonly valueCounts: ReadonlyMap<number, number>;
  readonly nullValueCounts: ReadonlyMap<number, number>;
  /** Only of float and double columns whose NaNs were counted. */
  readonly nanValueCounts: ReadonlyMap<number, number>;
  readonly lowerBounds: ReadonlyMap<number, Uint8Array>;
  readonly upperBounds: ReadonlyMap<number, Uint8Array>;
  /** Where the row groups begin, ascending. */
  readonly splitOffsets: readonly number[];
}

/** A data file that a commit adds. */
export interface AddedDataFile {
  readonly location: string;
  readonly sizeBytes: number;
  /** In the order of the spec's fields. */
  readonly partition: readonly (PrimitiveValue | null)[];
  readonly metrics: DataFileMetrics;
}

export interface ManifestToWrite {
  readonly schema: Schema;
  readonly partitionSpec: TypedPartitionSpec;
  readonly snapshotId: bigint;
  readonly sync: Uint8Array;
  readonly files: readonly AddedDataFile[];
}

const statusAdded = 1;

/** The manifest's bytes, and what a manifest list says of its partitions. */
export function writeManifest(manifest: ManifestToWrite): {
  readonly bytes: Uint8Array;
  readonly partitions: readonly FieldSummary[];
} {
  const { schema, partitionSpec, files } = manifest;
  const bytes = writeAvroFile({
    schema: manifestSchema(partitionSpec),
    metadata: {
      schema: printJson(printSchema(schema)),
      'schema-id': String(schema.schemaId),
      'partition-spec': printJson(partitionSpec.spec.fields.map(printPartitionField)),
      'partition-spec-id': String(partitionSpec.spec.specId),
      'format-version': '2',
      content: 'data',
    },
    codec: 'deflate',
    sync: manifest.sync,
    records: files,
    write: (encoder, file) => writeEntry(encoder, file, manifest),
  });
  const partitions = partitionSpec.types.map((type, slot) =>
    summariseValues(
      type,
      files.map((file) => file.partition[slot] ?? null),
    ),
  );
  return { bytes, partitions };
}

export interface ManifestListToWrite {
  readonly snapshotId: bigint;
  readonly parentSnapshotId: bigint | undefined;
  readonly sequenceNumber: bigint;
  readonly sync: Uint8Array;
  readonly manifests: readonly ManifestFile[];
}

export function writeManifestList(list: ManifestListToWrite): Uint8Array {
  return writeAvroFile({
    schema: manifestListSchema,
    metadata: {
      'snapshot-id': String(list.snapshotId),
      'parent-snapshot-id': String(list.parentSnapshotId ?? 'null'),
      'sequence-number': String(list.sequenceNumber),
      'format-version': '2',
    },
    codec: 'deflate',
    sync: list.sync,
    records: list.manifests,
    write: (encoder, manifest) => writeManifestFile(encoder, manifest, list.snapshotId),
  });
}

/** Sequence numbers stay null: a reader takes them from the manifest list ("Sequence Number Inheritance"). */
function writeEntry(
  encoder: AvroEncoder,
  file: AddedDataFile,
  { partitionSpec, snapshotId }: ManifestToWrite,
): void {
  const { metrics } = file;
  encoder.integer(statusAdded);
  encoder.optional(snapshotId, (id) => encoder.integer(id));
  encoder.integer(0);
  encoder.integer(0);
  encoder.integer(0);
  encoder.text(file.location);
  encoder.text('PARQUET');
  for (const [slot, type] of partitionSpec.types.entries())
    encoder.optional(file.partition[slot], (value) => writePartitionValue(encoder, type, value));
  encoder.integer(metrics.recordCount);
  encoder.integer(file.sizeBytes);
  const counts = [metrics.columnSizes, metrics.valueCounts, metrics.nullValueCounts, metrics.nanValueCounts];
  for (const map of counts) writeMap(encoder, map, (value) => encoder.integer(value));
  for (const map of [metrics.lowerBounds, metrics.upperBounds])
    writeMap(encoder, map, (value) => encoder.byteString(value));
  encoder.integer(0);
  encoder.optional(metrics.splitOffsets, (offsets) =>
    encoder.list(offsets, (offset) => encoder.integer(offset)),
  );
  encoder.integer(0);
  encoder.optional(0, (sortOrderId) => encoder.integer(sortOrderId));
}

function writeMap<T>(encoder: AvroEncoder, map: ReadonlyMap<number, T>, write: (value: T) => void): void {
  encoder.optional(map, (present) =>
    encoder.list(present, ([key, value]) => {
      encoder.integer(key);
      write(value);
    }),
  );
}

function writePartitionValue(
  encoder: AvroEncoder,
  type: PrimitiveType | undefined,
  value: PrimitiveValue,
): void {
  if (type?.kind === 'decimal') encoder.raw(signExtended(value, decimalBytes(type.precision)));
  else if (type?.kind === 'float') encoder.float(Number(value));
  else if (typeof value === 'boolean') encoder.boolean(value);
  else if (typeof value === 'string') encoder.text(value);
  else if (value instanceof Uint8Array && type?.kind !== 'binary') encoder.raw(value);
  else if (value instanceof Uint8Array) encoder.byteString(value);
  else if (type?.kind === 'double') encoder.double(Number(value));
  else encoder.integer(value);
}

/** A decimal in exactly so many bytes of two's complement. */
function signExtended(value: PrimitiveValue, length: number): Uint8Array {
  if (typeof value !== 'bigint') throw new TypeError(`A ${typeof value} is no decimal.`);
  const digits = encodeUnscaled(value);
  const bytes = new Uint8Array(length).fill(value < 0n ? 0xff : 0);
  bytes.set(digits, length - digits.length);
  return bytes;
}

function writeManifestFile(encoder: AvroEncoder, manifest: ManifestFile, snapshotId: bigint): void {
  encoder.text(manifest.location);
  encoder.integer(manifest.lengthBytes ?? 0);
  encoder.integer(manifest.specId ?? 0);
  encoder.integer(manifest.content === 'data' ? 0 : 1);
  encoder.integer(manifest.sequenceNumber);
  encoder.integer(manifest.minSequenceNumber);
  encoder.integer(manifest.addedSnapshotId ?? snapshotId);
  for (const files of [manifest.addedFileCount, manifest.existingFileCount, manifest.deletedFileCount])
    encoder.integer(files ?? 0);
  for (const rows of [manifest.addedRowCount, manifest.existingRowCount, manifest.deletedRowCount])
    encoder.integer(rows ?? 0);
  encoder.optional(manifest.partitions, (summaries) =>
    encoder.list(summaries, (summary) => {
      encoder.boolean(summary.containsNull);
      encoder.optional(summary.containsNaN, (value) => encoder.boolean(value));
      encoder.optional(summary.lowerBound, (value) => encoder.byteString(value));
      encoder.optional(summary.upperBound, (value) => encoder.byteString(value));
    }),
  );
  encoder.optional(manifest.keyMetadata, (value) => encoder.byteString(value));
}

function summariseValues(
  type: PrimitiveType | undefined,
  values: readonly (PrimitiveValue | null)[],
): FieldSummary {
  const present = values.filter((value) => value !== null);
  const ordered = present
    .filter((value) => !isNaNValue(value))
    .sort((a, b) => compareValues(toComparable(a), toComparable(b)));
  const [lower, upper] = [ordered[0], ordered.at(-1)];
  return {
    containsNull: present.length < values.length,
    containsNaN: type !== undefined && isFloating(type) ? present.some(isNaNValue) : null,
    lowerBound: type === undefined || lower === undefined ? null : encodeBinaryValue(type, lower),
    upperBound: type === undefined || upper === undefined ? null : encodeBinaryValue(type, upper),
  };
}
