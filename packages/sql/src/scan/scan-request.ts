/**
 * What a query needs of one table: the columns it reads and the filters that may be used to skip files, row groups
 * and pages. Filters are hints: the query runs them again, so a reader may ignore any part it does not understand.
 *
 * A filter keeps the rows for which it is true, in the engine's semantics: nothing compares with NULL; NaN equals NaN
 * and is above every other float, so bounds that leave NaN out cannot refute `>`, `>=` or `<>` unless the file is known
 * to have none; text compares by its UTF-8 bytes.
 */

/** A column by its path of names from the table's root, structs entered by field name: `['address', 'city']`. */
export type ColumnPath = readonly string[];

/**
 * A typed constant. `type` is the engine's logical type as it prints it (`DECIMAL(15,2)`, `TIMESTAMP WITH TIME ZONE`).
 * `value` is exact: integers, dates (days since 1970), times and timestamps (in the type's own unit: seconds,
 * milliseconds, microseconds or nanoseconds), decimals (unscaled) and hugeints are bigint; floats are number;
 * text is string; blob and uuid (16 bytes, big-endian) are bytes. NULL is never a literal: see `is-null`.
 */
export interface Literal {
  readonly type: string;
  readonly value: boolean | bigint | number | string | Uint8Array;
}

export type ComparisonOperator = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type ScanFilter =
  | {
      readonly kind: 'compare';
      readonly column: ColumnPath;
      readonly operator: ComparisonOperator;
      readonly literal: Literal;
    }
  | { readonly kind: 'in'; readonly column: ColumnPath; readonly literals: readonly Literal[] }
  | { readonly kind: 'starts-with'; readonly column: ColumnPath; readonly prefix: string }
  | { readonly kind: 'is-null'; readonly column: ColumnPath }
  | { readonly kind: 'is-not-null'; readonly column: ColumnPath }
  | { readonly kind: 'and'; readonly filters: readonly ScanFilter[] }
  | { readonly kind: 'or'; readonly filters: readonly ScanFilter[] };

/**
 * What the statement makes of the rows that the filters keep, where that is less than all their values. Then a reader may
 * answer fewer rows, or rows that it made itself, as long as the statement answers the same.
 */
export type RowUse =
  /**
   * How many rows there are, and of some columns the least and the greatest value. No other value is looked at once the
   * filters have let the row pass.
   */
  | { readonly kind: 'extremes'; readonly columns: readonly string[] }
  /** Any rows, so many. */
  | { readonly kind: 'first'; readonly rowCount: bigint }
  /** So many rows, those that come first in this order; further columns may order what is equal in this one. */
  | {
      readonly kind: 'top';
      readonly rowCount: bigint;
      readonly column: string;
      readonly descending: boolean;
      readonly nullsFirst: boolean;
    };

export interface ScanRequest {
  /** Top-level columns and struct fields that the query reads; `undefined` means all, empty means only the row count. */
  readonly columns: readonly ColumnPath[] | undefined;
  /** Joined by AND. */
  readonly filters: readonly ScanFilter[];
  /** Absent: the statement may look at everything. */
  readonly use?: LimitedUse;
}

export interface LimitedUse {
  readonly rows: RowUse;
  /** True for every row that the scan's filters do not keep; so where it cannot be true, all rows are kept. */
  readonly rejected: ScanFilter;
}
