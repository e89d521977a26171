import type { TableMetadata } from '@svc/lake';

/** Of a table without columns and rows. */
export const emptyMetadata: TableMetadata = {
  formatVersion: 2,
  tableUuid: 'u',
  location: '/t',
  lastSequenceNumber: 0n,
  lastUpdatedMs: 0,
  lastColumnId: 0,
  currentSchemaId: 0,
  schemas: [{ schemaId: 0, fields: [], identifierFieldIds: [] }],
  defaultSpecId: 0,
  partitionSpecs: [],
  lastPartitionId: 0,
  defaultSortOrderId: 0,
  sortOrders: [],
  properties: new Map(),
  currentSnapshotId: undefined,
  snapshots: [],
  snapshotLog: [],
  metadataLog: [],
  refs: new Map(),
  statistics: [],
  partitionStatistics: [],
  nextRowId: undefined,
  json: {},
};
