/** A scan in splits: about as many bytes each, so that different machines read them, and each may be read again. */
import type { FooterCache } from '../parquet/footer-cache.js';
import type { DeleteSet, FileGroup, TableScan } from '../scan/table-scan.js';
import type { ObjectStore } from '../storage/object-store.js';
import { filePieces, scanParts } from './scan-parts.js';

export interface DivideScanOptions {
  /** Of the columns that are read; a row group that has more is a split of its own. */
  readonly targetBytes: number;
  readonly store: ObjectStore | undefined;
  readonly footers: FooterCache;
  readonly signal?: AbortSignal | undefined;
}

/** At least one; together they have each row of the scan once, those among them that are in no file. */
export async function divideScan(
  scan: TableScan,
  { targetBytes, store, footers, signal }: DivideScanOptions,
): Promise<readonly [TableScan, ...TableScan[]]> {
  const parts = await scanParts(scan, {
    maxBytes: targetBytes,
    bytesOf: (file) => file.selectedBytes,
    divide: async (file) => {
      if (store === undefined || file.rowGroups?.length === 1) return [file];
      const footer = await footers.get(store, file, signal);
      const pieces = filePieces(file, footer, { maxBytes: targetBytes, overheadBytes: 0 });
      // A file that is read whole stays so: it may be read in place.
      return pieces.length > 1 ? pieces : [file];
    },
  });
  const { counted, ...uncounted } = scan;
  const [first = { ...uncounted, groups: [] }, ...more] = parts.map((part) => {
    const { counted: _everywhere, ...rest } = part;
    return rest;
  });
  return [
    { ...withOwnDeletes(first), ...(counted && { counted }) },
    ...more.map((part) => withOwnDeletes(part)),
  ];
}

/** Only the lists of deleted rows that its files may be on: each is staged wherever it is named. */
function withOwnDeletes({ deletes, ...scan }: TableScan): TableScan {
  if (deletes === undefined) return scan;
  const used = [...new Set(scan.groups.flatMap((group) => (group.deletes ?? []).map(({ set }) => set)))];
  const kept: readonly DeleteSet[] = used.flatMap((index) => deletes[index] ?? []);
  if (kept.length === 0) return { ...scan, groups: scan.groups.map(withoutDeletes) };
  const groups = scan.groups.map(
    (group): FileGroup =>
      group.deletes === undefined
        ? group
        : {
            ...group,
            deletes: group.deletes.map((applied) => ({ ...applied, set: used.indexOf(applied.set) })),
          },
  );
  return { ...scan, groups, deletes: kept };
}

function withoutDeletes({ deletes: _none, ...group }: FileGroup): FileGroup {
  return group;
}
