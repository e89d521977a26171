import { createHash, randomUUID } from 'node:crypto';
import { copyFile, link, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { QueryError, throwIfAborted } from '@svc/base';
import { rowGroupsWithRows } from '../parquet/footer.js';
import type { FooterCache } from '../parquet/footer-cache.js';
import type {
  AppliedDeletes,
  ColumnSource,
  DeleteSet,
  FileGroup,
  FileOrigin,
  FileScan,
  TableScan,
} from '../scan/table-scan.js';
import { displayLocation } from '../storage/display-location.js';
import { mapConcurrently } from '../storage/map-concurrently.js';
import type { ObjectStore } from '../storage/object-store.js';
import { useCompactFile } from './compact-file.js';
import { makeSelection } from './selection.js';
import { stageDeletedRows } from './stage-deleted-rows.js';
import type { StagingCache } from './staging-cache.js';

/** Files of one physical schema that lie in the folder, ready to be read with one list of sources. */
export interface StagedGroup {
  readonly sources: readonly ColumnSource[];
  readonly paths: readonly string[];
  /** Which of the table's files each of `paths` is, or is a part of: for messages. */
  readonly locations: readonly string[];
  /** Whether the files have the column `__row_delta`; without it `file_row_number` is the original position. */
  readonly hasRowDelta: boolean;
  /** Rows of the files; an upper bound of the scan's when entries of the cache have further row groups. */
  readonly rowCount: number;
  /**
   * Parquet files that list rows which are no rows of the table any more: by the path of the file, and by original
   * position (see deletionColumns). Absent when all rows count.
   */
  readonly deletions?: readonly string[];
  /** As in the scan's group. */
  readonly deletes?: readonly AppliedDeletes[];
  /** One for each of `paths`, where they are delete files or deletes apply to them. */
  readonly origins?: readonly FileOrigin[];
}

/** A delete set of the scan, whose files lie in the folder. */
export interface StagedDeletes extends Omit<DeleteSet, 'groups'> {
  readonly groups: readonly StagedGroup[];
}

export interface StagedTable {
  readonly groups: readonly StagedGroup[];
  /** In the order of the scan's. */
  readonly deletes: readonly StagedDeletes[];
  /** Bytes of compact files that the query was given. */
  readonly bytesStaged: number;
  /** Bytes read from storage for them now. */
  readonly bytesFetched: number;
  readonly filesInPlace: number;
  /** Of the files in place: bytes of the chunks that the scan reads there. */
  readonly bytesInPlace: number;
}

export interface StageOptions {
  readonly store: ObjectStore;
  readonly cache: StagingCache;
  readonly footers: FooterCache;
  /** The folder that the engine may read. What is put there stays valid, and is found again by a later call. */
  readonly directory: string;
  readonly signal?: AbortSignal | undefined;
}

const maxConcurrentFiles = 8;

interface StagedFile {
  readonly path: string;
  readonly location: string;
  readonly origin?: FileOrigin;
  readonly rowCount: number;
  readonly isInPlace: boolean;
  readonly bytesStaged: number;
  readonly bytesFetched: number;
  readonly deletions?: string;
}

/**
 * Makes a scan's files readable in a folder. A local file that is needed whole is hard-linked; of all others a
 * compact file with the needed chunks is made, or found in the cache, and linked. Staged files may hold more row
 * groups than the scan asks for: pruning only decides what is fetched, and the query runs its filters again.
 *
 * Throws DISK_FULL, DATA_CORRUPT, DATA_FILE_MISSING, STORAGE_ERROR, and the signal's reason.
 */
export async function stageScan(
  scan: Pick<TableScan, 'groups' | 'deletes'>,
  options: StageOptions,
): Promise<StagedTable> {
  const sets = scan.deletes ?? [];
  const all = [...scan.groups, ...sets.flatMap((set) => set.groups)];
  const tasks = all.flatMap((group) => group.files.map((file) => ({ group, file })));
  const staged = await mapConcurrently(
    tasks,
    { maxConcurrent: maxConcurrentFiles, signal: options.signal },
    ({ file }) => stageFile(file, options),
  );
  let next = 0;
  const stagedGroups = (group: FileGroup): readonly StagedGroup[] => {
    const files = staged.slice(next, next + group.files.length);
    next += group.files.length;
    return [true, false]
      .flatMap((isInPlace) => [
        toGroup(group, files, { isInPlace, hasDeletions: false }),
        toGroup(group, files, { isInPlace, hasDeletions: true }),
      ])
      .filter((made) => made.paths.length > 0);
  };
  return {
    groups: scan.groups.flatMap(stagedGroups),
    deletes: sets.map((set) => ({ ...set, groups: set.groups.flatMap(stagedGroups) })),
    bytesStaged: staged.reduce((sum, file) => sum + file.bytesStaged, 0),
    bytesFetched: staged.reduce((sum, file) => sum + file.bytesFetched, 0),
    filesInPlace: staged.filter((file) => file.isInPlace).length,
    bytesInPlace: tasks.reduce(
      (sum, { file }, index) => sum + (staged[index]?.isInPlace ? file.selectedBytes : 0),
      0,
    ),
  };
}

function toGroup(
  { sources, deletes }: FileGroup,
  files: readonly StagedFile[],
  { isInPlace, hasDeletions }: { readonly isInPlace: boolean; readonly hasDeletions: boolean },
): StagedGroup {
  const members = files.filter(
    (file) => file.isInPlace === isInPlace && (file.deletions !== undefined) === hasDeletions,
  );
  const origins = members.flatMap((file) => file.origin ?? []);
  return {
    sources,
    paths: members.map((file) => file.path),
    locations: members.map((file) => file.location),
    hasRowDelta: !isInPlace,
    rowCount: members.reduce((sum, file) => sum + file.rowCount, 0),
    ...(hasDeletions && { deletions: members.flatMap((file) => file.deletions ?? []) }),
    ...(deletes && { deletes }),
    ...(origins.length > 0 && { origins }),
  };
}

async function stageFile(file: FileScan, options: StageOptions): Promise<StagedFile> {
  throwIfAborted(options.signal);
  try {
    const made = (await linkInPlace(file, options)) ?? (await linkCompact(file, options));
    const staged = file.origin === undefined ? made : { ...made, origin: file.origin };
    if (file.deletedRows === undefined) return staged;
    return { ...staged, deletions: await stageDeletedRows(file, file.deletedRows, staged.path, options) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException | undefined)?.code ?? '';
    if (error instanceof QueryError || !/^E[A-Z]/.test(code)) throw error;
    const isFull = code === 'ENOSPC' || code === 'EDQUOT';
    throw new QueryError(
      isFull ? 'DISK_FULL' : 'STORAGE_ERROR',
      `${displayLocation(file.location)} could not be staged: ${isFull ? 'the staging disk is full' : `the operating system answered ${code}`}.`,
      { cause: error },
    );
  }
}

/** `undefined` when the file is not local, not needed whole, or cannot be linked into the folder. */
async function linkInPlace(file: FileScan, options: StageOptions): Promise<StagedFile | undefined> {
  const { store, directory, signal } = options;
  const source = file.rowGroups === undefined ? store.localPath(file.location) : undefined;
  if (source === undefined) return undefined;
  const name = createHash('sha256')
    .update(JSON.stringify([file.location, file.version]))
    .digest('hex');
  const path = join(directory, `${name.slice(0, 40)}.parquet`);
  const staged = {
    path,
    location: file.location,
    rowCount: file.recordCount,
    isInPlace: true,
    bytesStaged: 0,
    bytesFetched: 0,
  };
  try {
    await link(source, path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'EEXIST') return staged;
    // Another device, a file system without links, or a file that is not ours to link: then it is read like a remote one.
    if (['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code))
      return undefined;
    if (code !== 'ENOENT') throw error;
  }
  try {
    // After linking: what is linked now is what will be read. A missing file is reported by the store, by name.
    await store.head(file.location, { version: file.version, ...(signal && { signal }) });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return staged;
}

async function linkCompact(file: FileScan, options: StageOptions): Promise<StagedFile> {
  const { directory } = options;
  const { location, version, sizeBytes, avroRows } = file;
  const rowGroups = file.rowGroups ?? (await allRowGroups(file, options));
  const staged = await useCompactFile(
    { location, version, sizeBytes, avroRows },
    makeSelection(rowGroups, file.columnNames),
    { ...options, isPart: file.isPart },
    (source, entry) => linkOrCopy(source, join(directory, entry.name)),
  );
  const { header } = staged.entry;
  return {
    path: staged.result,
    location,
    rowCount: header.rowCount,
    isInPlace: false,
    bytesStaged: header.sizeBytes,
    bytesFetched: staged.bytesFetched,
  };
}

async function allRowGroups(file: FileScan, { store, footers, signal }: StageOptions): Promise<number[]> {
  return rowGroupsWithRows(await footers.get(store, file, signal));
}

/** The engine resolves symbolic links and refuses what they lead to, so a copy is all there is across devices. */
async function linkOrCopy(source: string, target: string): Promise<string> {
  try {
    await link(source, target);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EEXIST') return target;
    if (code !== 'EXDEV' && code !== 'EMLINK') throw error;
    const aside = `${target}.${randomUUID()}.tmp`;
    try {
      await copyFile(source, aside);
      await rename(aside, target);
    } finally {
      await rm(aside, { force: true });
    }
  }
  return target;
}
