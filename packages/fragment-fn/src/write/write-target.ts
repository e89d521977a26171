/** Where the rows of a writing fragment go: plain data, like the rest of the request. */
import type { NestedField } from '@svc/lake';
import type { FragmentRequest } from '../request.js';

export interface WriteTarget {
  /** The table's columns in order, with their field ids. */
  readonly columns: readonly TargetColumn[];
  /** The fields of the partition spec in order. */
  readonly partitions: readonly TargetPartition[];
  readonly codec: 'zstd' | 'snappy' | 'uncompressed';
  readonly rowGroupRows: number;
  /**
   * A file ends soon after it has grown to this size. Partitioned files are measured before compression, of which a factor
   * of three is expected.
   */
  readonly targetFileBytes: number;
}

export interface TargetColumn {
  readonly field: NestedField;
  /**
   * Which of the query's columns it takes, from 0. Without, every row gets the field's write default, which is NULL when
   * it has none.
   */
  readonly position?: number;
}

export interface TargetPartition {
  /** Field id of a column or of a field within structs. */
  readonly sourceId: number;
  /** As table metadata spells it: `identity`, `bucket[16]`, `truncate[4]`, `year`, … */
  readonly transform: string;
}

/** The defaults of a table that says nothing. */
export const defaultWriteSettings = {
  codec: 'zstd',
  rowGroupRows: 122_880,
  targetFileBytes: 256 * 2 ** 20,
} as const satisfies Partial<WriteTarget>;

/** A fragment whose rows become Parquet files. Its `sql` is one query, without a semicolon or with. */
export interface WriteRequest extends FragmentRequest {
  readonly target: WriteTarget;
}
