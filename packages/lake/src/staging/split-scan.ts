/**
 * Scans that do not fit into the staging space together: which of them are read in parts, and what the parts are. One
 * part after the other is staged, taken over by the engine, and given up, so that staging is bounded whatever a table's
 * size.
 */
import { QueryError } from '@svc/base';
import { rowGroupsWithRows } from '../parquet/footer.js';
import type { FooterCache } from '../parquet/footer-cache.js';
import type { FileScan, TableScan } from '../scan/table-scan.js';
import { displayLocation } from '../storage/display-location.js';
import type { ObjectStore } from '../storage/object-store.js';
import { entriesOfFile, findEntry } from './compact-file.js';
import { selectionBytes } from './compact-layout.js';
import { filePieces, scanParts } from './scan-parts.js';
import { intersectionOf, makeSelection, type Selection } from './selection.js';
import type { CacheEntry, StagingCache } from './staging-cache.js';

export interface ScanToStage {
  readonly scan: TableScan;
  readonly store: ObjectStore;
}

export interface SplitOptions {
  readonly cache: StagingCache;
  readonly footers: FooterCache;
  readonly signal?: AbortSignal | undefined;
}

/** While one part is read the next one is fetched; the rest is for footers, and for queries that come meanwhile. */
const partsAtATime = 3;
/** Of the space: what needs no more is staged as it is. */
const easyShare = 0.25;
/** What a compact file has beside its chunks, at the most of usual files. */
const overheadBytes = 4096;

/**
 * For each scan its parts, or `undefined` when it fits as it is beside those that do; the largest are read in parts first.
 * Throws DISK_FULL naming the file with a row group that no part can hold.
 */
export async function splitScans(
  scans: readonly ScanToStage[],
  options: SplitOptions,
): Promise<readonly (readonly TableScan[] | undefined)[]> {
  const { cache } = options;
  const costOfAll = (files: readonly FileScan[], store: ObjectStore) =>
    sumOf(files.map((file) => costOf(file, store)));
  const most = sumOf(scans.map(({ scan, store }) => costOfAll(filesOf(scan), store)));
  // Looking closer takes a look at every entry: a full cache has room for what is small beside it.
  const easyBytes = Math.max(cache.unusedBytes(), cache.stats().maxBytes * easyShare);
  if (most <= easyBytes) return scans.map(() => undefined);
  const needs = await Promise.all(scans.map((each) => needOf(each, options)));
  const present = new Set(needs.flatMap((need) => need.entries));
  const freeBytes = await cache.freeBytes((entry) => present.has(entry));
  let restBytes = sumOf(needs.map((need) => need.missingBytes));
  if (restBytes <= freeBytes) return scans.map(() => undefined);
  // What lies in the cache already may be given up for the parts.
  const spaceBytes = await cache.freeBytes(() => false);
  const parts: (readonly TableScan[] | undefined)[] = scans.map(() => undefined);
  const largestFirst = needs.map((need, index) => ({ ...need, index }));
  for (const { index, bytes } of largestFirst.sort((a, b) => b.bytes - a.bytes)) {
    const each = scans[index];
    if (each === undefined || restBytes <= spaceBytes / partsAtATime) break;
    // Every part needs all lists of deleted rows; entries of the cache are there once for all of them.
    const listBytes = costOfAll(deleteFilesOf(each.scan), each.store);
    const partBytes = Math.max(0, Math.floor((spaceBytes - listBytes) / partsAtATime));
    parts[index] = await partsOf(each, partBytes, options);
    restBytes -= bytes;
  }
  return parts;
}

/** What staging a scan has to fetch now: what lies in the cache, and what is read in place, is not in it. */
export async function bytesToFetch(scan: ScanToStage, options: SplitOptions): Promise<number> {
  const { cache, footers, signal } = options;
  const { store } = scan;
  let sum = 0;
  for await (const { file, cost, selection, entry } of filesToStage(scan, options)) {
    if (entry !== undefined) continue;
    const footer = await footers.get(store, file, signal);
    const found = entriesOfFile(file, { cache, store }).map(({ header }) =>
      selectionBytes(footer, intersectionOf(selection, header.selection)),
    );
    sum += Math.max(0, cost - Math.max(0, ...found));
  }
  return sum;
}

interface Need {
  /** Of all that is to be staged, and of what is not in the cache. */
  readonly bytes: number;
  readonly missingBytes: number;
  readonly entries: readonly CacheEntry[];
}

async function needOf(scan: ScanToStage, options: SplitOptions): Promise<Need> {
  const entries: CacheEntry[] = [];
  let [bytes, missingBytes] = [0, 0];
  for await (const { cost, entry } of filesToStage(scan, options)) {
    bytes += cost;
    if (entry === undefined) missingBytes += cost;
    else entries.push(entry);
  }
  return { bytes, missingBytes, entries };
}

/** The files that are not read in place, with the entry of the cache that has all that is needed of one, where there is one. */
async function* filesToStage({ scan, store }: ScanToStage, options: SplitOptions) {
  for (const file of filesOf(scan)) {
    const cost = costOf(file, store);
    if (cost === 0) continue;
    const selection = await selectionOf(file, store, options);
    yield { file, cost, selection, entry: findEntry(file, selection, { cache: options.cache, store }) };
  }
}

/** Files in their order; what one of them has too much of goes into parts of its own. */
async function partsOf(
  { scan, store }: ScanToStage,
  maxBytes: number,
  { cache, footers, signal }: SplitOptions,
): Promise<readonly TableScan[]> {
  return await scanParts(scan, {
    maxBytes,
    bytesOf: (file) => costOf(file, store),
    divide: async (file) =>
      filePieces(file, await footers.get(store, file, signal), {
        maxBytes,
        overheadBytes,
        onTooLarge: (rowGroup, bytes) => {
          throw tooLarge(file, { rowGroup, bytes, maxBytes }, cache);
        },
      }),
  });
}

function tooLarge(
  { location }: FileScan,
  {
    rowGroup,
    bytes,
    maxBytes,
  }: { readonly rowGroup: number; readonly bytes: number; readonly maxBytes: number },
  cache: StagingCache,
): QueryError {
  return new QueryError(
    'DISK_FULL',
    `Row group ${rowGroup} of ${displayLocation(location)} needs ${bytes} bytes of staging space, and a query may stage ${maxBytes} bytes at a time now: of ${cache.stats().maxBytes} bytes (cache.disk_bytes), less what other queries and lists of deleted rows hold, a third.`,
  );
}

async function selectionOf(
  file: FileScan,
  store: ObjectStore,
  { footers, signal }: SplitOptions,
): Promise<Selection> {
  const rowGroups = file.rowGroups ?? rowGroupsWithRows(await footers.get(store, file, signal));
  return makeSelection(rowGroups, file.columnNames);
}

/** What a local file that is needed whole takes is nothing: it is linked. */
function costOf(file: FileScan, store: ObjectStore): number {
  const isInPlace = file.rowGroups === undefined && store.localPath(file.location) !== undefined;
  return isInPlace ? 0 : file.selectedBytes + overheadBytes;
}

function filesOf(scan: TableScan): readonly FileScan[] {
  return [...scan.groups.flatMap(({ files }) => files), ...deleteFilesOf(scan)];
}

function deleteFilesOf({ deletes = [] }: TableScan): readonly FileScan[] {
  return deletes.flatMap(({ groups }) => groups.flatMap(({ files }) => files));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
