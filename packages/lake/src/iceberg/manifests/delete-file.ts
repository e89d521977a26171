import type { TableFile } from './data-file.js';

/** A live delete file of a snapshot (specification, "Delete Formats"). */
export type DeleteFile = PositionDeleteFile | EqualityDeleteFile | DeletionVector;

/** Lists rows by the location of their data file and their position in it. */
export interface PositionDeleteFile extends TableFile {
  readonly kind: 'positions';
  /** The only data file that it is about, where its manifest says so. */
  readonly referencedDataFile: string | null;
  /** Bounds of the locations in it, in UTF-8; the upper one may be cut and is then greater than each of them. */
  readonly lowerLocation: Uint8Array | null;
  readonly upperLocation: Uint8Array | null;
}

/** Lists values of columns: rows that have all of one line's are deleted, NULL being equal to NULL. */
export interface EqualityDeleteFile extends TableFile {
  readonly kind: 'equality';
  /** Ascending, without repetition. */
  readonly equalityIds: readonly number[];
}

/** The deleted rows of one data file, as a bitmap in a Puffin file (format 3). */
export interface DeletionVector extends TableFile {
  readonly kind: 'vector';
  readonly referencedDataFile: string;
  /** Bytes `[start, end)` of the file. */
  readonly start: number;
  readonly end: number;
}

/** The columns of position delete files. */
export const filePathId = 2147483546;
export const positionId = 2147483545;
