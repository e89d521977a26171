import type { JsonObject } from './lossless-json.js';
import type { PartitionSpec, SortOrder } from './partition-spec.js';
import type {
  MetadataLogEntry,
  Snapshot,
  SnapshotLogEntry,
  SnapshotReference,
  StatisticsFile,
} from './snapshot.js';
import type { Schema } from './types.js';

/**
 * Table metadata (table specification, "Table Metadata"), formats 1 to 3, with what format 1 leaves out filled in.
 * `json` is the whole file as it was read: a changed table is printed from it, so that nothing unknown is lost.
 */
export interface TableMetadata {
  readonly formatVersion: number;
  /** Empty when a format 1 table has none. */
  readonly tableUuid: string;
  readonly location: string;
  readonly lastSequenceNumber: bigint;
  readonly lastUpdatedMs: number;
  readonly lastColumnId: number;
  readonly currentSchemaId: number;
  readonly schemas: readonly Schema[];
  readonly defaultSpecId: number;
  readonly partitionSpecs: readonly PartitionSpec[];
  readonly lastPartitionId: number;
  readonly defaultSortOrderId: number;
  readonly sortOrders: readonly SortOrder[];
  readonly properties: ReadonlyMap<string, string>;
  /** `undefined` when the table is empty. */
  readonly currentSnapshotId: bigint | undefined;
  readonly snapshots: readonly Snapshot[];
  readonly snapshotLog: readonly SnapshotLogEntry[];
  readonly metadataLog: readonly MetadataLogEntry[];
  /** By name; `main` is there whenever the table has a current snapshot. */
  readonly refs: ReadonlyMap<string, SnapshotReference>;
  readonly statistics: readonly StatisticsFile[];
  readonly partitionStatistics: readonly StatisticsFile[];
  /** Format 3. */
  readonly nextRowId: bigint | undefined;
  readonly json: JsonObject;
}
