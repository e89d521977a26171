/**
 * A planned scan of one table snapshot: which files and row groups must be read, and how each file's physical columns
 * become the table's. Plain data, so that it can travel in a fragment to another machine.
 */
import type { DeletedRows } from '../deletes/deleted-rows.js';
import type { IcebergType, NestedField } from '../iceberg/spec/types.js';

/**
 * What must happen to a physical value before it is cast to the table's type, where a cast alone would be wrong.
 * `decode-utf8`: text without the annotation, which the engine reads as BLOB: `decode(value)`. `at-utc`: a local time
 * that is meant in UTC, or an instant that is to become one: `value AT TIME ZONE 'UTC'`, whatever the session's zone.
 */
export type ColumnConversion = 'decode-utf8' | 'at-utc';

/** How one column (or nested field) of the table is made from a file. */
export type ColumnSource =
  /**
   * A physical value read as `type`. `name` is the column's at the top level and the field's inside of a struct;
   * `element`, `key` and `value` inside lists and maps.
   */
  | {
      readonly kind: 'column';
      readonly name: string;
      /** Whether the engine's Parquet reader answers exactly `type`: then nothing is to be done. */
      readonly isExactType: boolean;
      /** Only where `isExactType` is false: to be applied before the cast to `type`. */
      readonly conversion?: ColumnConversion;
      readonly type: IcebergType;
    }
  /** Struct fields re-made one by one: renamed, reordered, added or dropped since the file was written. NULL stays NULL. */
  | {
      readonly kind: 'struct';
      readonly name: string;
      readonly fields: readonly { readonly name: string; readonly source: ColumnSource }[];
      readonly type: IcebergType;
    }
  | {
      readonly kind: 'list';
      readonly name: string;
      readonly element: ColumnSource;
      readonly type: IcebergType;
    }
  | {
      readonly kind: 'map';
      readonly name: string;
      readonly key: ColumnSource;
      readonly value: ColumnSource;
      readonly type: IcebergType;
    }
  /**
   * What rows inherit from their file: the id of its first row and the position in it, or its sequence number. Rows
   * with a value in `stored` have that.
   */
  | {
      readonly kind: 'row-id' | 'sequence-number';
      readonly stored: ColumnSource | undefined;
      readonly type: IcebergType;
    }
  /**
   * Not in the file: NULL, or the field's initial default, or an identity partition value. JSON single-value form of
   * the specification, but numbers are text, so that none of their digits is lost on the way.
   */
  | { readonly kind: 'constant'; readonly value: unknown; readonly type: IcebergType };

/** Files that share one physical schema share one list of sources, by index into `TableScan.columns`. */
export interface FileGroup {
  readonly sources: readonly ColumnSource[];
  readonly files: readonly FileScan[];
  /** The delete sets that may take rows of these files. */
  readonly deletes?: readonly AppliedDeletes[];
}

export interface AppliedDeletes {
  /** Index into `TableScan.deletes`. */
  readonly set: number;
  /** What is compared with the set's keys, by their index; nothing where rows are listed by position. */
  readonly sources: readonly ColumnSource[];
}

/** Delete files that are applied together. Their sources are by index into `keys`. */
export interface DeleteSet {
  /**
   * `positions`: rows are listed by the location of their file and their position in it, and go from files that are not
   * newer. `equality`: rows with the listed values go, NULL being equal to NULL, from files that are older.
   */
  readonly kind: 'positions' | 'equality';
  /** Whether a delete file takes rows of its own partition only. */
  readonly isScoped: boolean;
  /** Top-level fields; of a struct only what leads to the one field that is compared. */
  readonly keys: readonly NestedField[];
  readonly groups: readonly FileGroup[];
}

/** What the manifests say of a file that its rows are told apart by. */
export interface FileOrigin {
  readonly sequenceNumber: bigint;
  /** Equal numbers mean the same partition of the same spec, among all files of a scan. */
  readonly partition: number;
  /** `null`: its rows have no ids but those that they carry. */
  readonly firstRowId: bigint | null;
}

export interface FileScan {
  readonly location: string;
  readonly sizeBytes: number;
  readonly recordCount: number;
  /** See ObjectInfo.version. */
  readonly version: string;
  /** See DataFileInfo. The row groups of such a file are always listed: it is never read in place. */
  readonly avroRows?: number;
  /** Row groups to read, ascending; `undefined` when the whole file is needed. */
  readonly rowGroups: readonly number[] | undefined;
  /** The file's other row groups are another part of the scan: what is staged must not have them too. */
  readonly isPart?: true;
  /** Physical top-level column names to read (compact staging copies only these chunks). */
  readonly columnNames: readonly string[];
  /** Bytes of the chunks to read: what distributing and budgets are decided by. */
  readonly selectedBytes: number;
  /** Rows of the file that are not the table's any more; they are in `recordCount` nevertheless. */
  readonly deletedRows?: DeletedRows;
  /** Of delete files, of files that delete sets apply to, and where rows inherit something. */
  readonly origin?: FileOrigin;
}

/**
 * Rows that are not read: the statement asks how many there are, and at most for the least and the greatest value of
 * columns. The first of them has the values of `low`, all others those of `high`; columns that it looks at for no more
 * than its filters have a value that passes them, all others NULL.
 */
export interface CountedRows {
  readonly rowCount: number;
  /** One for each of the table's columns, all constants. */
  readonly low: readonly ColumnSource[];
  readonly high: readonly ColumnSource[];
}

export interface ScanCounts {
  readonly manifestsTotal: number;
  readonly manifestsRead: number;
  readonly filesTotal: number;
  readonly filesPlanned: number;
  readonly filesPruned: number;
  readonly rowGroupsTotal: number;
  readonly rowGroupsPlanned: number;
  readonly rowGroupsPrunedByStatistics: number;
  readonly rowGroupsPrunedByBloom: number;
  /** Files that list deleted rows, read besides those above. */
  readonly deleteFilesPlanned?: number;
  /** Bytes of the whole table snapshot, and of the chunks left after pruning and projection. */
  readonly bytesTotal: number;
  readonly bytesPlanned: number;
  /** Rows of the row groups left after pruning, deleted ones among them. */
  readonly rowsPlanned: number;
}

export interface TableScan {
  /** `catalog.schema.table`, for messages. */
  readonly tableName: string;
  readonly tableUuid: string;
  readonly snapshotId: bigint | undefined;
  /** All columns of the snapshot's schema, in order; those that the query does not read have a NULL constant as source. */
  readonly columns: readonly NestedField[];
  readonly groups: readonly FileGroup[];
  /** Rows besides those of the groups. */
  readonly counted?: CountedRows;
  /** Rows that are no rows of the table any more, besides those that `FileScan.deletedRows` names. */
  readonly deletes?: readonly DeleteSet[];
  readonly counts: ScanCounts;
}
