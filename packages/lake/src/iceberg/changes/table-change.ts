/**
 * Changes of a table as the REST catalog protocol has them (REST OpenAPI, "TableRequirement", "TableUpdate"): what must
 * still hold, and what is then done. Every catalog commits these; their JSON form is in change-json.ts.
 */
import type { PartitionSpec, SortOrder } from '../spec/partition-spec.js';
import type { Snapshot, SnapshotReference } from '../spec/snapshot.js';
import type { Schema } from '../spec/types.js';

export type TableRequirement =
  | { readonly type: 'assert-create' }
  | { readonly type: 'assert-table-uuid'; readonly uuid: string }
  /** `undefined`: the reference must not exist. */
  | { readonly type: 'assert-ref-snapshot-id'; readonly ref: string; readonly snapshotId: bigint | undefined }
  | { readonly type: 'assert-last-assigned-field-id'; readonly lastAssignedFieldId: number }
  | { readonly type: 'assert-current-schema-id'; readonly currentSchemaId: number }
  | { readonly type: 'assert-last-assigned-partition-id'; readonly lastAssignedPartitionId: number }
  | { readonly type: 'assert-default-spec-id'; readonly defaultSpecId: number }
  | { readonly type: 'assert-default-sort-order-id'; readonly defaultSortOrderId: number };

/** Schemas, specs and sort orders are given new ids when they are added; the id -1 means the one added last. */
export type TableUpdate =
  | { readonly action: 'assign-uuid'; readonly uuid: string }
  | { readonly action: 'upgrade-format-version'; readonly formatVersion: number }
  | { readonly action: 'add-schema'; readonly schema: Schema; readonly lastColumnId?: number }
  | { readonly action: 'set-current-schema'; readonly schemaId: number }
  | { readonly action: 'add-spec'; readonly spec: PartitionSpec }
  | { readonly action: 'set-default-spec'; readonly specId: number }
  | { readonly action: 'add-sort-order'; readonly sortOrder: SortOrder }
  | { readonly action: 'set-default-sort-order'; readonly sortOrderId: number }
  | { readonly action: 'add-snapshot'; readonly snapshot: Snapshot }
  | { readonly action: 'set-snapshot-ref'; readonly refName: string; readonly reference: SnapshotReference }
  | { readonly action: 'remove-snapshots'; readonly snapshotIds: readonly bigint[] }
  | { readonly action: 'remove-snapshot-ref'; readonly refName: string }
  | { readonly action: 'set-location'; readonly location: string }
  | { readonly action: 'set-properties'; readonly updates: ReadonlyMap<string, string> }
  | { readonly action: 'remove-properties'; readonly removals: readonly string[] };

export interface TableCommit {
  readonly requirements: readonly TableRequirement[];
  readonly updates: readonly TableUpdate[];
}

export const lastAdded = -1;
export const mainBranch = 'main';
