/** The fields of `data_file` in a manifest (specification, "Manifests"): every reader of manifests takes those that it needs. */
import {
  boolean,
  bytes,
  type FieldShape,
  floating,
  integer,
  integerMap,
  list,
  long,
  optional,
  type Read,
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
import type { TableFile, TypedPartitionSpec } from './data-file.js';

/** A file as it is written; what is `null` is not. */
export interface WrittenFile extends ColumnMetrics {
  /** 0: data, 1: position deletes, 2: equality deletes. */
  readonly content: number;
  readonly location: string;
  readonly format: string;
  readonly partition: TableFile['partition'];
  readonly sizeBytes: number;
  readonly columnSizes: ReadonlyMap<number, number> | null;
  readonly keyMetadata: Uint8Array | null;
  readonly splitOffsets: readonly number[] | null;
  readonly equalityIds: readonly number[] | null;
  readonly sortOrderId: number | null;
  readonly firstRowId: bigint | null;
  readonly referencedDataFile: string | null;
  readonly contentOffset: number | null;
  readonly contentBytes: number | null;
}

/** The fields of ColumnMetrics. */
export const metricFields = [
  'recordCount',
  'valueCounts',
  'nullValueCounts',
  'nanValueCounts',
  'lowerBounds',
  'upperBounds',
] as const;

type FileFields = { readonly [K in keyof WrittenFile]: FieldShape<WrittenFile[K]> };

/** Metrics are decoded of `fieldIds` only, or of all columns. A field that is not named is skipped, not decoded. */
export function fileFields<K extends keyof WrittenFile>(
  partitionSpec: TypedPartitionSpec,
  names: readonly K[],
  fieldIds?: ReadonlySet<number>,
): Pick<FileFields, K> {
  const counts = optional(integerMap(integer, fieldIds));
  const bounds = optional(integerMap(bytes, fieldIds));
  const all: FileFields = {
    content: { id: 134, name: 'content', shape: withDefault(integer, 0) },
    location: { id: 100, name: 'file_path', shape: text },
    format: { id: 101, name: 'file_format', shape: text },
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
    equalityIds: { id: 135, name: 'equality_ids', shape: optional(list(integer)) },
    sortOrderId: { id: 140, name: 'sort_order_id', shape: optional(integer) },
    firstRowId: { id: 142, name: 'first_row_id', shape: optional(long) },
    referencedDataFile: { id: 143, name: 'referenced_data_file', shape: optional(text) },
    contentOffset: { id: 144, name: 'content_offset', shape: optional(integer) },
    contentBytes: { id: 145, name: 'content_size_in_bytes', shape: optional(integer) },
  };
  return Object.fromEntries(names.map((name) => [name, all[name]])) as Pick<FileFields, K>;
}

/** Of a file that does not name its format, since its writer knew only one. */
export function orParquet(format: FieldShape<string>): FieldShape<string> {
  return { ...format, shape: withDefault(format.shape, 'PARQUET') };
}

function partitionShapes({
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
