/**
 * Rows of a data file that are no rows of its table any more, as positions in the file. Delta's deletion vectors are
 * such sets, and so are Iceberg's of format 3, in the same bytes. Plain data, so that it can travel in a fragment.
 */
export interface DeletedRows {
  /** How many rows there are in the set. */
  readonly rowCount: number;
  readonly bitmap: BitmapPlace;
}

export type BitmapPlace =
  /** The magic number and the bitmap, in Base64. */
  | { readonly kind: 'inline'; readonly base64: string }
  /**
   * Bytes `[start, end)` of a file: the length of what follows without the checksum (big-endian), magic number and
   * bitmap, their CRC-32 (big-endian).
   */
  | { readonly kind: 'stored'; readonly location: string; readonly start: number; readonly end: number };

/** Names of columns that a file with deleted rows must not have: the engine adds these to find the rows by. */
export const positionColumns = { row: 'file_row_number', file: '__svc_file' } as const;

/** What all further names of columns begin with by which the engine finds deleted rows. */
export const reservedPrefix = '__svc_';

/** Columns of the Parquet files that list deleted rows for the engine. */
export const deletionColumns = { file: '__deleted_file', position: '__deleted_position' } as const;
