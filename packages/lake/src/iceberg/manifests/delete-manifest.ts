/** Manifests of delete files (specification, "Manifests" and "Delete Formats"). */
import { QueryError } from '@svc/base';
import { namedAvroError } from '../avro/avro-error.js';
import { type AvroFile, readAvroRecords } from '../avro/container-reader.js';
import { createPacer } from '../avro/pacer.js';
import { integer, long, optional, record, type Shape } from '../avro/shapes.js';
import { type BoundFilter, onlyOnFields } from '../expressions/bind-filter.js';
import { fileMightMatch } from '../expressions/evaluate-filter.js';
import type { TableFile, TypedPartitionSpec } from './data-file.js';
import { type DeleteFile, filePathId } from './delete-file.js';
import { fileFields, metricFields, type WrittenFile } from './file-fields.js';
import { statusDeleted } from './manifest.js';
import type { ManifestFile } from './manifest-list.js';

type WrittenDeletes = Pick<WrittenFile, (typeof deleteFields)[number]>;

interface WrittenEntry {
  readonly status: number;
  readonly sequenceNumber: bigint | null;
  readonly file: WrittenDeletes;
}

export interface DeletePruning {
  /** Of the query: a line of an equality delete file that it does not want takes none of the rows that it wants. */
  readonly filter: BoundFilter;
  readonly fieldIds: ReadonlySet<number>;
  readonly partitionMightMatch: (values: TableFile['partition']) => boolean;
}

const contentPositions = 1;
const contentEquality = 2;
const entriesPerSlice = 1000;

/** The live delete files that may matter. Throws DATA_CORRUPT, and UNSUPPORTED_TABLE_FEATURE for encrypted files. */
export type DeleteManifestReader = (
  avro: AvroFile,
  manifest: ManifestFile,
  signal?: AbortSignal,
) => Promise<readonly DeleteFile[]>;

/** A reader for all manifests of delete files that have one partition spec. */
export function createDeleteManifestReader(
  partitionSpec: TypedPartitionSpec,
  pruning: DeletePruning,
): DeleteManifestReader {
  const shape = entryShape(partitionSpec, new Set([...pruning.fieldIds, filePathId]));
  return async (avro, manifest, signal) => {
    const pacer = createPacer(entriesPerSlice, signal);
    const files: DeleteFile[] = [];
    try {
      for (const { status, sequenceNumber, file } of readAvroRecords(avro, shape)) {
        if (pacer.spend(1)) await pacer.pause();
        if (status === statusDeleted || file.recordCount === 0) continue;
        if (!pruning.partitionMightMatch(file.partition)) continue;
        const equalityIds = file.content === contentEquality ? equalityIdsOf(file) : undefined;
        if (equalityIds !== undefined && !fileMightMatch(onlyOnFields(pruning.filter, equalityIds), file))
          continue;
        files.push(
          toDeleteFile(file, {
            ...{ location: file.location, format: file.format.toUpperCase(), sizeBytes: file.sizeBytes },
            ...{ recordCount: file.recordCount, partition: file.partition, partitionSpec },
            sequenceNumber: sequenceNumber ?? manifest.sequenceNumber,
          }),
        );
      }
    } catch (error) {
      throw namedAvroError(avro.source, error);
    }
    return files;
  };
}

function toDeleteFile(file: WrittenDeletes, common: TableFile): DeleteFile {
  if (file.keyMetadata !== null)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The delete file ${file.location} is encrypted, which is not supported.`,
    );
  if (file.content === contentEquality)
    return { ...common, kind: 'equality', equalityIds: [...equalityIdsOf(file)].sort((a, b) => a - b) };
  if (file.content !== contentPositions)
    throw corrupt(file, `has the content ${file.content}; a delete file has 1 or 2`);
  if (common.format === 'PUFFIN') return toVector(file, common);
  return {
    ...common,
    kind: 'positions',
    referencedDataFile: file.referencedDataFile,
    lowerLocation: file.lowerBounds?.get(filePathId)?.slice() ?? null,
    upperLocation: file.upperBounds?.get(filePathId)?.slice() ?? null,
  };
}

function toVector(file: WrittenDeletes, common: TableFile): DeleteFile {
  const { referencedDataFile, contentOffset: start, contentBytes: length } = file;
  if (referencedDataFile === null || start === null || length === null)
    throw corrupt(file, 'is a deletion vector without its place in the file, or without its data file');
  if (start < 0 || length < 0 || start + length > file.sizeBytes)
    throw corrupt(
      file,
      `is said to have a deletion vector in bytes ${start} to ${start + length} of ${file.sizeBytes}`,
    );
  return { ...common, kind: 'vector', referencedDataFile, start, end: start + length };
}

function equalityIdsOf(file: WrittenDeletes): ReadonlySet<number> {
  if (file.equalityIds === null || file.equalityIds.length === 0)
    throw corrupt(file, 'does not say which columns it compares (equality_ids)');
  return new Set(file.equalityIds);
}

function corrupt(file: WrittenDeletes, problem: string): QueryError {
  return new QueryError('DATA_CORRUPT', `The delete file ${file.location} ${problem}.`);
}

const deleteFields = [
  'content',
  'location',
  'format',
  'partition',
  'sizeBytes',
  ...metricFields,
  'keyMetadata',
  'equalityIds',
  'referencedDataFile',
  'contentOffset',
  'contentBytes',
] as const;

function entryShape(partitionSpec: TypedPartitionSpec, fieldIds: ReadonlySet<number>): Shape<WrittenEntry> {
  const file = record<WrittenDeletes>(fileFields(partitionSpec, deleteFields, fieldIds));
  return record<WrittenEntry>({
    status: { id: 0, name: 'status', shape: integer },
    sequenceNumber: { id: 3, name: 'sequence_number', shape: optional(long) },
    file: { id: 2, name: 'data_file', shape: file },
  });
}
