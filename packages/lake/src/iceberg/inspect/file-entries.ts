/** The files of a manifest as its metadata table shows them: only the fields that are asked for are decoded. */
import { namedAvroError } from '../avro/avro-error.js';
import { type AvroFile, readAvroRecords } from '../avro/container-reader.js';
import { createPacer } from '../avro/pacer.js';
import {
  bytes,
  type FieldShape,
  integer,
  integerMap,
  list,
  optional,
  record,
  row,
  type Shape,
  text,
  withDefault,
} from '../avro/shapes.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import { partitionShapes, statusDeleted } from '../manifests/manifest.js';
import type { PrimitiveValue } from '../spec/values.js';

/** A live file of a snapshot. What was not asked for, or is not written, is `null`. */
export interface FileEntry {
  /** 0: data, 1: position deletes, 2: equality deletes. */
  readonly content: number;
  readonly location: string;
  readonly format: string;
  /** In the order of the spec's fields; `undefined` where a value could not be read. */
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
  readonly equalityIds: readonly number[] | null;
  readonly sortOrderId: number | null;
}

/** What is read only when it is asked for. */
export type SeldomField = keyof typeof notRead;

type WrittenFile = Omit<FileEntry, keyof typeof notRead> & Partial<Pick<FileEntry, keyof typeof notRead>>;

interface WrittenEntry {
  readonly status: number;
  readonly file: WrittenFile;
}

/** Entries decoded before other work gets its turn. */
const entriesPerSlice = 500;

const counts = optional(integerMap(integer));
const bounds = optional(integerMap(bytes));

/** The fields that may be large, or are seldom asked for; the others are always read. */
const seldomFields: { readonly [K in SeldomField]: FieldShape<FileEntry[K]> } = {
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
};

const notRead = {
  columnSizes: null,
  valueCounts: null,
  nullValueCounts: null,
  nanValueCounts: null,
  lowerBounds: null,
  upperBounds: null,
  keyMetadata: null,
  splitOffsets: null,
  equalityIds: null,
  sortOrderId: null,
};

/** A reader for the manifests of one spec, which answers their live files. Throws DATA_CORRUPT naming the manifest. */
export function createFileEntryReader(
  partitionSpec: TypedPartitionSpec,
  wanted: ReadonlySet<SeldomField>,
): (avro: AvroFile, signal: AbortSignal) => AsyncGenerator<FileEntry, void, undefined> {
  const shape = entryShape(partitionSpec, wanted);
  return async function* read(avro, signal) {
    const pacer = createPacer(entriesPerSlice, signal);
    try {
      for (const { status, file } of readAvroRecords(avro, shape)) {
        if (pacer.spend(1)) await pacer.pause();
        if (status !== statusDeleted) yield { ...notRead, ...file };
      }
    } catch (error) {
      throw namedAvroError(avro.source, error);
    }
  };
}

function entryShape(
  partitionSpec: TypedPartitionSpec,
  wanted: ReadonlySet<SeldomField>,
): Shape<WrittenEntry> {
  return record<WrittenEntry>({
    status: { id: 0, name: 'status', shape: integer },
    file: { id: 2, name: 'data_file', shape: fileShape(partitionSpec, wanted) },
  });
}

function fileShape(partitionSpec: TypedPartitionSpec, wanted: ReadonlySet<SeldomField>): Shape<WrittenFile> {
  const asked = Object.entries(seldomFields).filter(([name]) => wanted.has(name as SeldomField));
  return record<WrittenFile>({
    ...Object.fromEntries(asked),
    content: { id: 134, name: 'content', shape: withDefault(integer, 0) },
    location: { id: 100, name: 'file_path', shape: text },
    format: { id: 101, name: 'file_format', shape: withDefault(text, 'PARQUET') },
    partition: { id: 102, name: 'partition', shape: row(partitionShapes(partitionSpec)) },
    recordCount: { id: 103, name: 'record_count', shape: integer },
    sizeBytes: { id: 104, name: 'file_size_in_bytes', shape: integer },
  });
}
