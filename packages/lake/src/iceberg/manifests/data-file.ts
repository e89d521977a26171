import type { RowFacts } from '../../scan/row-use.js';
import type { PartitionSpec } from '../spec/partition-spec.js';
import type { PrimitiveType } from '../spec/types.js';
import type { PrimitiveValue } from '../spec/values.js';

/** A spec with the types of its partition values: `undefined` where the transform or its source column is unknown. */
export interface TypedPartitionSpec {
  readonly spec: PartitionSpec;
  readonly types: readonly (PrimitiveType | undefined)[];
}

/** A live data file of a snapshot, as its manifest describes it (specification, "Manifests", `data_file`). */
export interface DataFile {
  readonly location: string;
  /** In upper case: `PARQUET`, `ORC`, `AVRO`. */
  readonly format: string;
  readonly sizeBytes: number;
  readonly recordCount: number;
  readonly partitionSpec: TypedPartitionSpec;
  /** In the order of the spec's fields; `undefined` where the value could not be read. */
  readonly partition: readonly (PrimitiveValue | null | undefined)[];
  /** 0 for files of format 1. */
  readonly sequenceNumber: bigint;
  /** Offsets of row groups, or `null`. */
  readonly splitOffsets: readonly number[] | null;
  /** What the manifest says of its rows, where the use that is made of them asks for it. */
  readonly facts?: RowFacts;
}
