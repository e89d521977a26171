import type { RowFacts } from '../../scan/row-use.js';
import type { PartitionSpec } from '../spec/partition-spec.js';
import type { PrimitiveType } from '../spec/types.js';
import type { PrimitiveValue } from '../spec/values.js';

/** A spec with the types of its partition values: `undefined` where the transform or its source column is unknown. */
export interface TypedPartitionSpec {
  readonly spec: PartitionSpec;
  readonly types: readonly (PrimitiveType | undefined)[];
}

/** What data files and delete files have in common. */
export interface TableFile {
  readonly location: string;
  /** In upper case: `PARQUET`, `ORC`, `AVRO`, `PUFFIN`. */
  readonly format: string;
  readonly sizeBytes: number;
  readonly recordCount: number;
  readonly partitionSpec: TypedPartitionSpec;
  /** In the order of the spec's fields; `undefined` where the value could not be read. */
  readonly partition: readonly (PrimitiveValue | null | undefined)[];
  /** 0 for files of format 1. */
  readonly sequenceNumber: bigint;
}

/** A live data file of a snapshot, as its manifest describes it (specification, "Manifests", `data_file`). */
export interface DataFile extends TableFile {
  /** Offsets of row groups, or `null`. */
  readonly splitOffsets: readonly number[] | null;
  /** What the manifest says of its rows, where the use that is made of them asks for it. */
  readonly facts?: RowFacts;
  /** Format 3: the id of its first row, unless its rows have ids of their own; `null` where rows have none. */
  readonly firstRowId: bigint | null;
}
