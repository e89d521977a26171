/** The files of a manifest as its metadata table shows them: only the fields that are asked for are decoded. */
import { namedAvroError } from '../avro/avro-error.js';
import { type AvroFile, readAvroRecords } from '../avro/container-reader.js';
import { createPacer } from '../avro/pacer.js';
import { integer, record, type Shape } from '../avro/shapes.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import { fileFields, orParquet, type WrittenFile } from '../manifests/file-fields.js';
import { statusDeleted } from '../manifests/manifest.js';

/** A live file of a snapshot. What was not asked for, or is not written, is `null`. */
export type FileEntry = Pick<WrittenFile, (typeof alwaysRead)[number] | SeldomField>;

/** What is read only when it is asked for. */
export type SeldomField = keyof typeof notRead;

type ReadFile = Omit<FileEntry, SeldomField> & Partial<Pick<FileEntry, SeldomField>>;

interface WrittenEntry {
  readonly status: number;
  readonly file: ReadFile;
}

/** Entries decoded before other work gets its turn. */
const entriesPerSlice = 500;

const alwaysRead = ['content', 'location', 'format', 'partition', 'recordCount', 'sizeBytes'] as const;

/** The fields that may be large, or are seldom asked for; the others are always read. */
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

function fileShape(partitionSpec: TypedPartitionSpec, wanted: ReadonlySet<SeldomField>): Shape<ReadFile> {
  const { format, ...fields } = fileFields(partitionSpec, alwaysRead);
  const asked = fileFields(partitionSpec, [...wanted]);
  return record<ReadFile>({ ...asked, ...fields, format: orParquet(format) });
}
