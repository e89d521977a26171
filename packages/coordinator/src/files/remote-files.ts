/**
 * Files that are not on this machine, for a statement of the command line. Of Parquet files the chunks that the statement
 * needs are fetched, into the cache that tables use too; everything else is fetched whole.
 */
import { createHash } from 'node:crypto';
import { link, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FileToRead, PlacedFile } from '@svc/fragment-fn';
import {
  displayLocation,
  type FileScan,
  type FooterCache,
  mapConcurrently,
  type ObjectInfo,
  type ObjectStore,
  planParquetFile,
  type StagingCache,
  stageScan,
} from '@svc/lake';
import type { ScanRequest } from '@svc/sql';
import { expandPattern, isPattern } from './expand-pattern.js';
import type { FetchedFiles } from './fetched-files.js';

export interface RemoteFilesOptions {
  readonly store: ObjectStore;
  readonly staging: StagingCache;
  readonly footers: FooterCache;
  readonly fetched: FetchedFiles;
}

export interface PlannedChunks {
  readonly files: readonly FileToRead[];
  /** Columns of the files that nothing reads. */
  readonly unread: readonly string[];
}

export interface PlacedFiles {
  readonly files: readonly PlacedFile[];
  readonly bytesFetched: number;
  readonly bytesStaged: number;
}

export interface RemoteFiles {
  /** The objects that a location or pattern means, in order. */
  locate(location: string, signal: AbortSignal): Promise<readonly ObjectInfo[]>;
  /** Puts what tells the columns of Parquet files into a folder: their footers, without any rows. */
  placeShapes(
    files: readonly ObjectInfo[],
    directory: string,
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  planChunks(files: readonly ObjectInfo[], request: ScanRequest, signal: AbortSignal): Promise<PlannedChunks>;
  /** Brings files to where the engine reads them. */
  place(files: readonly FileToRead[], directory: string, signal: AbortSignal): Promise<PlacedFiles>;
}

const maxConcurrentFiles = 8;

export function createRemoteFiles(options: RemoteFilesOptions): RemoteFiles {
  const { store, footers, staging: cache } = options;
  const planOne = (file: ObjectInfo, request: ScanRequest, signal: AbortSignal) =>
    planParquetFile(file, request, { store, footers, signal });
  const placeChunks = async (scans: readonly FileScan[], directory: string, signal: AbortSignal) => {
    const scan = { groups: [{ sources: [], files: scans }] };
    const staged = await stageScan(scan, { store, cache, footers, directory, signal });
    const paths = staged.groups.flatMap((group) => group.paths);
    const placed = paths.map((path, index) => withFolders(path, scans[index]?.location ?? '', directory));
    return { ...staged, paths: await Promise.all(placed) };
  };
  return {
    async locate(location, signal) {
      const isListed = isPattern(location) && /^s3/i.test(location);
      const locations = isListed ? await expandPattern(location, store, signal) : [location];
      return await mapConcurrently(locations, { maxConcurrent: maxConcurrentFiles, signal }, (each) =>
        store.head(each, { signal }),
      );
    },
    async placeShapes(files, directory, signal) {
      const scans = await mapConcurrently(
        files,
        { maxConcurrent: maxConcurrentFiles, signal },
        async (file) => ({ ...(await planOne(file, everything, signal)), rowGroups: [] }),
      );
      return (await placeChunks(scans, directory, signal)).paths;
    },
    async planChunks(files, request, signal) {
      const scans = await mapConcurrently(files, { maxConcurrent: maxConcurrentFiles, signal }, (file) =>
        planOne(file, request, signal),
      );
      const read = new Set(scans.flatMap((scan) => scan.columnNames));
      const all = await Promise.all(files.map((file) => footers.get(store, file, signal)));
      const names = new Set(all.flatMap((footer) => footer.schema.root.children.map(({ name }) => name)));
      return {
        files: scans.map((scan) => ({ kind: 'chunks', scan })),
        unread: [...names].filter((name) => !read.has(name)),
      };
    },
    async place(files, directory, signal) {
      const before = options.fetched.bytesFetched;
      const scans = files.flatMap((file) => (file.kind === 'chunks' ? [file.scan] : []));
      const chunks = await placeChunks(scans, directory, signal);
      const chunkPaths = chunks.paths.values();
      const placed: PlacedFile[] = [];
      for (const file of files)
        switch (file.kind) {
          case 'in-place':
            placed.push({ path: file.path, location: file.path });
            break;
          case 'whole': {
            const path = await options.fetched.fetch(file.object, signal);
            placed.push({ path, location: displayLocation(file.object.location) });
            break;
          }
          case 'chunks': {
            const path = chunkPaths.next().value ?? '';
            placed.push({ path, location: displayLocation(file.scan.location) });
          }
        }
      const fetchedWhole = options.fetched.bytesFetched - before;
      return {
        files: placed,
        bytesFetched: chunks.bytesFetched + fetchedWhole,
        bytesStaged: chunks.bytesStaged + fetchedWhole,
      };
    },
  };
}

const everything: ScanRequest = { columns: undefined, filters: [] };

/** The same file below folders such as `year=2024` of its location, whose values are columns to the engine. */
async function withFolders(path: string, location: string, directory: string): Promise<string> {
  const folders = location
    .split('/')
    .slice(0, -1)
    .filter((segment) => /^[^=]+=[^=]*$/.test(segment));
  if (folders.length === 0) return path;
  const key = createHash('sha256').update(location).digest('hex').slice(0, 16);
  const folder = join(directory, key, ...folders);
  await mkdir(folder, { recursive: true });
  const target = join(folder, basename(path));
  await link(path, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return target;
}
