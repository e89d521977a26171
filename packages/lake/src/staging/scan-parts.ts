/** A scan in parts: files in their order, and what one of them has too much of divided by row groups. */
import type { ParquetFooter } from '../parquet/footer.js';
import { rowGroupsWithRows } from '../parquet/footer.js';
import type { FileGroup, FileScan, ScanCounts, TableScan } from '../scan/table-scan.js';
import { selectionBytes } from './compact-layout.js';

export interface ScanPartsOptions {
  readonly maxBytes: number;
  readonly bytesOf: (file: FileScan) => number;
  /** A file of more bytes than a part may have. */
  readonly divide: (file: FileScan) => Promise<readonly FileScan[]>;
}

/** All rows of the groups, each once. A part has more than `maxBytes` only where a single piece has. */
export async function scanParts(
  scan: TableScan,
  { maxBytes, bytesOf, divide }: ScanPartsOptions,
): Promise<readonly TableScan[]> {
  const parts: PartDraft[] = [];
  for (const group of scan.groups)
    for (const file of group.files)
      for (const piece of bytesOf(file) <= maxBytes ? [file] : await divide(file)) {
        const bytes = bytesOf(piece);
        const last = parts.at(-1);
        if (last !== undefined && last.bytes + bytes <= maxBytes) last.add(group, piece, bytes);
        else parts.push(new PartDraft(group, piece, bytes));
      }
  return parts.map((part, index) => ({ ...scan, groups: part.groups, counts: countsOf(scan, part, index) }));
}

class PartDraft {
  readonly groups: (FileGroup & { readonly files: FileScan[] })[] = [];
  bytes = 0;
  #group: FileGroup | undefined;

  constructor(group: FileGroup, file: FileScan, bytes: number) {
    this.add(group, file, bytes);
  }

  add(group: FileGroup, file: FileScan, bytes: number): void {
    const last = this.groups.at(-1);
    if (last !== undefined && this.#group === group) last.files.push(file);
    else this.groups.push({ ...group, files: [file] });
    this.#group = group;
    this.bytes += bytes;
  }
}

/** Counted once for the whole scan, but for the bytes. */
function countsOf({ counts }: TableScan, { groups }: PartDraft, index: number): ScanCounts {
  const bytesPlanned = groups
    .flatMap(({ files }) => files)
    .reduce((sum, { selectedBytes }) => sum + selectedBytes, 0);
  return { ...counts, bytesPlanned, ...(index > 0 && { rowGroupsPlanned: 0 }) };
}

export interface FilePiecesOptions {
  readonly maxBytes: number;
  /** What a piece takes besides its chunks. */
  readonly overheadBytes: number;
  /** Told of a row group that is too large; where it returns, that is a piece nevertheless. */
  readonly onTooLarge?: (rowGroup: number, bytes: number) => void;
}

export function filePieces(
  file: FileScan,
  footer: ParquetFooter,
  { maxBytes, overheadBytes, onTooLarge }: FilePiecesOptions,
): readonly FileScan[] {
  const pieces: { rowGroups: number[]; bytes: number }[] = [];
  for (const rowGroup of file.rowGroups ?? rowGroupsWithRows(footer)) {
    const bytes = selectionBytes(footer, { rowGroups: [rowGroup], columns: file.columnNames });
    if (bytes + overheadBytes > maxBytes) onTooLarge?.(rowGroup, bytes);
    const last = pieces.at(-1);
    if (last !== undefined && last.bytes + bytes + overheadBytes <= maxBytes) {
      last.rowGroups.push(rowGroup);
      last.bytes += bytes;
    } else pieces.push({ rowGroups: [rowGroup], bytes });
  }
  return pieces.map(({ rowGroups, bytes }) => ({ ...file, rowGroups, isPart: true, selectedBytes: bytes }));
}
