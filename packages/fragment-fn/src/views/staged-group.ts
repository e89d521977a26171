import type { AppliedDeletes, ColumnSource, FileOrigin, NestedField } from '@svc/lake';

/** See `StagedGroup` of `@svc/lake`. */
export interface StagedGroup {
  readonly sources: readonly ColumnSource[];
  readonly paths: readonly string[];
  /** Which of the table's files each of `paths` is, or is a part of. */
  readonly locations: readonly string[];
  /** Lists of rows that are to be left out: see `StagedGroup` of `@svc/lake`. */
  readonly deletions?: readonly string[];
  readonly hasRowDelta?: boolean;
  readonly deletes?: readonly AppliedDeletes[];
  /** One for each of `paths`. */
  readonly origins?: readonly FileOrigin[];
}

/** See `StagedDeletes` of `@svc/lake`. */
export interface StagedDeletes {
  readonly kind: 'positions' | 'equality';
  readonly isScoped: boolean;
  readonly keys: readonly NestedField[];
  readonly groups: readonly StagedGroup[];
}
