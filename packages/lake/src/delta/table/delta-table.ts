import type { NestedField } from '../../iceberg/spec/types.js';
import type { ObjectStore } from '../../storage/object-store.js';
import type { AddedFile } from '../log/actions.js';
import type { ColumnMappingMode } from './check-protocol.js';
import type { DeltaSchema } from './parse-schema.js';

/** A version of a Delta table, as far as a reader needs to know it. */
export interface DeltaTable extends DeltaSchema {
  /** Its folder, without a slash at the end. */
  readonly location: string;
  readonly uuid: string;
  /** What its makers call it. */
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly version: number;
  readonly columns: readonly NestedField[];
  /** The columns that the table is partitioned by, in the order of the partitioning. */
  readonly partitionFields: readonly NestedField[];
  readonly mappingMode: ColumnMappingMode;
  readonly files: readonly AddedFile[];
  /** Rows that are not deleted; `undefined` when the log does not say it of every file. */
  readonly rowCount: number | undefined;
  readonly sizeBytes: number;
  /** How many files of the log were read. */
  readonly logFileCount: number;
  readonly store: ObjectStore;
}
