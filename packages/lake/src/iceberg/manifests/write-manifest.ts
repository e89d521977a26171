/** Writing manifests and manifest lists of formats 1 and 2. */
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
  /** What only files have that were written by others: format `PARQUET`, and no key, when left out. */
  readonly format?: string;
  readonly keyMetadata?: Uint8Array | null;
  readonly sortOrderId?: number | null;
}

/** A line of a manifest. Numbers that are `null` are those that the manifest is given at commit. */
export interface ManifestEntry {
  readonly status: 'added' | 'existing';
  readonly snapshotId: bigint;
  readonly sequenceNumber: bigint | null;
  readonly fileSequenceNumber: bigint | null;
  readonly file: AddedDataFile;
}

export interface ManifestToWrite {
  readonly location: string;
  readonly formatVersion: number;
  readonly schema: Schema;
  readonly partitionSpec: TypedPartitionSpec;
  /** The snapshot that the manifest is written for. */
  readonly snapshotId: bigint;
  /** Of that snapshot; 0 in format 1. */
  readonly sequenceNumber: bigint;
  readonly sync: Uint8Array;
  readonly entries: readonly ManifestEntry[];
}

export interface WrittenManifest {
  readonly bytes: Uint8Array;
  /** What a manifest list says of it. */
  readonly manifest: ManifestFile;
}

const contentData = 0;
const contentDeletes = 1;
const unsorted = 0;
const statusCodes = { existing: 0, added: 1 } as const;
/** A field that format 1 requires and nobody reads. */
const blockSizeBytes = 64 * 1024 * 1024;

export function addedEntry(file: AddedDataFile, snapshotId: bigint): ManifestEntry {
  return { status: 'added', snapshotId, sequenceNumber: null, fileSequenceNumber: null, file };
}

export function writeManifest(manifest: ManifestToWrite): WrittenManifest {
  const { schema, partitionSpec, formatVersion, entries } = manifest;
  const bytes = writeAvroFile({
    schema: manifestSchema(partitionSpec, formatVersion),
    metadata: {
      schema: printJson(printSchema(schema)),
      'schema-id': String(schema.schemaId),
      'partition-spec': printJson(partitionSpec.spec.fields.map(printPartitionField)),
      'partition-spec-id': String(partitionSpec.spec.specId),
      'format-version': String(formatVersion),
      ...(formatVersion > 1 && { content: 'data' }),
    },
    codec: 'deflate',
    sync: manifest.sync,
    records: entries,
    write: (encoder, entry) => writeEntry(encoder, entry, manifest),
  });
  return { bytes, manifest: describeManifest(manifest, bytes.length) };
}

export interface ManifestListToWrite {
  readonly formatVersion: number;
  readonly snapshotId: bigint;
  readonly parentSnapshotId: bigint | undefined;
  readonly sequenceNumber: bigint;
  readonly sync: Uint8Array;
  /** With all counts that the format requires. */
  readonly manifests: readonly ManifestFile[];
}

export function writeManifestList(list: ManifestListToWrite): Uint8Array {
  const { formatVersion } = list;
  return writeAvroFile({
    schema: manifestListSchema(formatVersion),
    metadata: {
      'snapshot-id': String(list.snapshotId),
      'parent-snapshot-id': String(list.parentSnapshotId ?? 'null'),
      ...(formatVersion > 1 && { 'sequence-number': String(list.sequenceNumber) }),
      'format-version': String(formatVersion),
    },
    codec: 'deflate',
    sync: list.sync,
    records: list.manifests,
    write: (encoder, manifest) => writeManifestFile(encoder, manifest, list),
  });
}

function describeManifest(manifest: ManifestToWrite, lengthBytes: number): ManifestFile {
  const { entries, partitionSpec, sequenceNumber, snapshotId } = manifest;
  const added = entries.filter((entry) => entry.status === 'added');
  const existing = entries.filter((entry) => entry.status === 'existing');
  const rows = (some: readonly ManifestEntry[]) =>
    some.reduce((sum, entry) => sum + entry.file.metrics.recordCount, 0);
  return {
    location: manifest.location,
    lengthBytes,
    specId: partitionSpec.spec.specId,
    content: 'data',
    sequenceNumber,
    minSequenceNumber: entries.reduce((least, entry) => {
      const number = entry.sequenceNumber ?? sequenceNumber;
      return number < least ? number : least;
    }, sequenceNumber),
    addedSnapshotId: snapshotId,
    addedFileCount: added.length,
    existingFileCount: existing.length,
    deletedFileCount: 0,
    addedRowCount: rows(added),
    existingRowCount: rows(existing),
    deletedRowCount: 0,
    partitions: partitionSpec.types.map((type, slot) =>
      summariseValues(
        type,
        entries.map((entry) => entry.file.partition[slot] ?? null),
      ),
    ),
    keyMetadata: null,
    firstRowId: null,
  };
}

/** Sequence numbers of added files stay null: a reader takes them from the manifest list ("Sequence Number Inheritance"). */
function writeEntry(
  encoder: AvroEncoder,
  entry: ManifestEntry,
  { partitionSpec, formatVersion }: ManifestToWrite,
): void {
  const { file } = entry;
  const { metrics } = file;
  const isFirst = formatVersion === 1;
  const number = (value: number | bigint): void => encoder.integer(value);
  encoder.integer(statusCodes[entry.status]);
  if (isFirst) encoder.integer(entry.snapshotId);
  else {
    encoder.optional(entry.snapshotId, number);
    encoder.optional(entry.sequenceNumber, number);
    encoder.optional(entry.fileSequenceNumber, number);
    encoder.integer(contentData);
  }
  encoder.text(file.location);
  encoder.text(file.format ?? 'PARQUET');
  for (const [slot, type] of partitionSpec.types.entries())
    encoder.optional(file.partition[slot], (value) => writePartitionValue(encoder, type, value));
  encoder.integer(metrics.recordCount);
  encoder.integer(file.sizeBytes);
  if (isFirst) encoder.integer(blockSizeBytes);
  const counts = [metrics.columnSizes, metrics.valueCounts, metrics.nullValueCounts, metrics.nanValueCounts];
  for (const map of counts) writeMap(encoder, map, number);
  for (const map of [metrics.lowerBounds, metrics.upperBounds])
    writeMap(encoder, map, (value) => encoder.byteString(value));
  encoder.optional(file.keyMetadata, (value) => encoder.byteString(value));
  const offsets = metrics.splitOffsets.length === 0 ? null : metrics.splitOffsets;
  encoder.optional(offsets, (present) => encoder.list(present, number));
  // The columns that an equality delete file compares: none in a data file.
  if (!isFirst) encoder.optional(null, number);
  encoder.optional(file.sortOrderId === undefined ? unsorted : file.sortOrderId, number);
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

function writeManifestFile(encoder: AvroEncoder, manifest: ManifestFile, list: ManifestListToWrite): void {
  encoder.text(manifest.location);
  encoder.integer(manifest.lengthBytes ?? 0);
  encoder.integer(manifest.specId ?? 0);
  if (list.formatVersion > 1) {
    encoder.integer(manifest.content === 'data' ? contentData : contentDeletes);
    encoder.integer(manifest.sequenceNumber);
    encoder.integer(manifest.minSequenceNumber);
  }
  encoder.integer(manifest.addedSnapshotId ?? list.snapshotId);
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
