/**
 * Which delete files take rows of which data files (specification, "Scan Planning"): by sequence numbers, partitions,
 * and the locations that a delete file is about.
 */
import { QueryError } from '@svc/base';
import { createPacer } from '../avro/pacer.js';
import type { DataFile, TableFile } from '../manifests/data-file.js';
import type {
  DeleteFile,
  DeletionVector,
  EqualityDeleteFile,
  PositionDeleteFile,
} from '../manifests/delete-file.js';
import { parseTransform } from '../transforms/transform.js';

/** Delete files that are alike: one anti-join applies them all. */
export interface DeleteFileSet {
  readonly kind: 'positions' | 'equality';
  /** The columns that are compared; none where rows are listed by position. */
  readonly equalityIds: readonly number[];
  /** Whether a delete file takes rows of its own partition only. */
  readonly isScoped: boolean;
  /** Those that some data file needs. */
  readonly files: readonly (PositionDeleteFile | EqualityDeleteFile)[];
}

export interface AssignedDeletes {
  readonly sets: readonly DeleteFileSet[];
  /** By data file, in their order. */
  readonly files: readonly FileDeletes[];
  /** A number for each partition of each spec, of data and delete files alike. */
  readonly partitionOf: (file: TableFile) => number;
}

export interface FileDeletes {
  /** Indexes of the sets that may take rows of the file, ascending. */
  readonly sets: readonly number[];
  readonly vector: DeletionVector | undefined;
}

/** Pairs of files looked at before other work of the process gets its turn. */
const pairsPerSlice = 100_000;

/** Throws DATA_CORRUPT for two deletion vectors of one data file, UNSUPPORTED_TABLE_FEATURE for unknown partitions. */
export async function assignDeletes(
  files: readonly DataFile[],
  deletes: readonly DeleteFile[],
  signal: AbortSignal | undefined,
): Promise<AssignedDeletes> {
  const partitionOf = numberPartitions();
  if (deletes.length === 0)
    return { sets: [], partitionOf, files: files.map(() => ({ sets: [], vector: undefined })) };
  const vectors = vectorsByLocation(deletes);
  const assigned = files.map((file): { readonly sets: number[]; vector: DeletionVector | undefined } => {
    const vector = vectors.get(file.location);
    return { sets: [], vector: vector && appliesTo(vector, file, partitionOf) ? vector : undefined };
  });
  const sets: DeleteFileSet[] = [];
  for (const set of groupDeletes(deletes)) {
    const { needed, touched } =
      set.kind === 'equality'
        ? assignEqualities(set, files, partitionOf)
        : await assignPositions(set, files, assigned, partitionOf, signal);
    if (needed.length === 0) continue;
    for (const index of touched) assigned[index]?.sets.push(sets.length);
    sets.push({ ...set, files: needed });
  }
  return { sets, files: assigned, partitionOf };
}

interface Assignment {
  readonly needed: readonly (PositionDeleteFile | EqualityDeleteFile)[];
  /** Indexes of data files. */
  readonly touched: readonly number[];
}

type PartitionNumbers = (file: TableFile) => number;

/** Throws UNSUPPORTED_TABLE_FEATURE when a value is not known: then nothing tells partitions apart. */
function numberPartitions(): PartitionNumbers {
  const numbers = new Map<string, number>();
  return (file) => {
    const values = file.partition.map((value) => {
      if (value === undefined)
        throw new QueryError(
          'UNSUPPORTED_TABLE_FEATURE',
          `The file ${file.location} is in a partition by a transform that is not known, so that row-level deletes cannot be applied to it.`,
        );
      if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
      return value === null ? null : `${typeof value} ${String(value)}`;
    });
    const key = JSON.stringify([file.partitionSpec.spec.specId, values]);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, numbers.size);
    return numbers.size - 1;
  };
}

function vectorsByLocation(deletes: readonly DeleteFile[]): ReadonlyMap<string, DeletionVector> {
  const vectors = new Map<string, DeletionVector>();
  for (const vector of deletes) {
    if (vector.kind !== 'vector') continue;
    const other = vectors.get(vector.referencedDataFile);
    if (other !== undefined)
      throw new QueryError(
        'DATA_CORRUPT',
        `The data file ${vector.referencedDataFile} has two deletion vectors, in ${other.location} and ${vector.location}.`,
      );
    vectors.set(vector.referencedDataFile, vector);
  }
  return vectors;
}

function appliesTo(vector: DeletionVector, file: DataFile, partitionOf: PartitionNumbers): boolean {
  return file.sequenceNumber <= vector.sequenceNumber && partitionOf(file) === partitionOf(vector);
}

function groupDeletes(deletes: readonly DeleteFile[]): readonly DeleteFileSet[] {
  const groups = new Map<
    string,
    DeleteFileSet & { readonly files: (PositionDeleteFile | EqualityDeleteFile)[] }
  >();
  for (const file of deletes) {
    if (file.kind === 'vector') continue;
    const equalityIds = file.kind === 'equality' ? file.equalityIds : [];
    const isScoped = file.kind === 'equality' ? isPartitioned(file) : file.referencedDataFile === null;
    const key = JSON.stringify([file.kind, equalityIds, isScoped]);
    const group = groups.get(key) ?? { kind: file.kind, equalityIds, isScoped, files: [] };
    groups.set(key, group);
    group.files.push(file);
  }
  return [...groups.values()];
}

/** Equality deletes of a spec without partitions are of the whole table, whatever specs it had or has. */
function isPartitioned({ partitionSpec }: TableFile): boolean {
  return partitionSpec.spec.fields.some((field) => parseTransform(field.transform).kind !== 'void');
}

/** A delete file takes rows of all files that are older than it, in its partition or everywhere. */
function assignEqualities(
  { files: deletes, isScoped }: DeleteFileSet,
  files: readonly DataFile[],
  partitionOf: PartitionNumbers,
): Assignment {
  const scopeOf = (file: TableFile): number => (isScoped ? partitionOf(file) : 0);
  const newest = new Map<number, bigint>();
  const oldest = new Map<number, bigint>();
  for (const file of deletes) {
    const known = newest.get(scopeOf(file));
    if (known === undefined || known < file.sequenceNumber) newest.set(scopeOf(file), file.sequenceNumber);
  }
  const touched: number[] = [];
  for (const [index, file] of files.entries()) {
    const scope = scopeOf(file);
    const known = oldest.get(scope);
    if (known === undefined || file.sequenceNumber < known) oldest.set(scope, file.sequenceNumber);
    const newestDelete = newest.get(scope);
    if (newestDelete !== undefined && file.sequenceNumber < newestDelete) touched.push(index);
  }
  const needed = deletes.filter((file) => {
    const oldestFile = oldest.get(scopeOf(file));
    return oldestFile !== undefined && oldestFile < file.sequenceNumber;
  });
  return { needed, touched };
}

interface PlacedFile {
  readonly index: number;
  readonly location: Uint8Array;
  readonly file: DataFile;
}

/** Data files with a deletion vector are left out: it stands for all older lists of positions. */
async function assignPositions(
  { files: deletes, isScoped }: DeleteFileSet,
  files: readonly DataFile[],
  assigned: readonly FileDeletes[],
  partitionOf: PartitionNumbers,
  signal: AbortSignal | undefined,
): Promise<Assignment> {
  const scopeOf = (file: TableFile): number => (isScoped ? partitionOf(file) : 0);
  const byScope = new Map<number, PlacedFile[]>();
  for (const [index, file] of files.entries()) {
    if (assigned[index]?.vector !== undefined) continue;
    const scope = byScope.get(scopeOf(file)) ?? [];
    byScope.set(scopeOf(file), scope);
    scope.push({ index, location: Buffer.from(file.location), file });
  }
  for (const scope of byScope.values()) scope.sort((a, b) => Buffer.compare(a.location, b.location));
  const pacer = createPacer(pairsPerSlice, signal);
  const touched = new Set<number>();
  const needed: (PositionDeleteFile | EqualityDeleteFile)[] = [];
  for (const file of deletes) {
    let isNeeded = false;
    for (const { index, file: dataFile } of withinBounds(file, byScope.get(scopeOf(file)) ?? [])) {
      if (pacer.spend(1)) await pacer.pause();
      if (dataFile.sequenceNumber > file.sequenceNumber) continue;
      isNeeded = true;
      touched.add(index);
    }
    if (isNeeded) needed.push(file);
  }
  return { needed, touched: [...touched] };
}

/** Of files sorted by location. */
function* withinBounds(
  file: PositionDeleteFile | EqualityDeleteFile,
  sorted: readonly PlacedFile[],
): Generator<PlacedFile> {
  if (file.kind !== 'positions') return;
  const only = file.referencedDataFile === null ? null : Buffer.from(file.referencedDataFile);
  const [lower, upper] = [only ?? file.lowerLocation, only ?? file.upperLocation];
  let [start, end] = [0, lower === null ? 0 : sorted.length];
  while (start < end) {
    const middle = (start + end) >>> 1;
    const location = sorted[middle]?.location;
    if (location !== undefined && lower !== null && Buffer.compare(location, lower) < 0) start = middle + 1;
    else end = middle;
  }
  for (let index = start; index < sorted.length; index++) {
    const placed = sorted[index];
    if (placed === undefined || (upper !== null && Buffer.compare(placed.location, upper) > 0)) return;
    yield placed;
  }
}
