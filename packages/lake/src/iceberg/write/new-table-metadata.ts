import { type JsonObject, jsonNumber } from '../spec/lossless-json.js';
import { type PartitionSpec, printPartitionSpec } from '../spec/partition-spec.js';
import { printSchema } from '../spec/schema-json.js';
import type { Schema } from '../spec/types.js';

export interface NewTable {
  readonly tableUuid: string;
  readonly location: string;
  readonly schema: Schema;
  readonly lastColumnId: number;
  readonly partitionSpec: PartitionSpec;
  readonly properties: Readonly<Record<string, string>>;
  readonly timestampMs: number;
  /** The table's first snapshot. */
  readonly snapshot: NewSnapshot;
}

export interface NewSnapshot {
  readonly snapshotId: bigint;
  readonly manifestList: string;
  readonly addedFiles: number;
  readonly addedRecords: number;
  readonly addedBytes: number;
}

/** The sequence number of a table's first snapshot. */
export const firstSequenceNumber = 1n;

/** Metadata of format 2 of a table that begins with one append. */
export function newTableMetadata(table: NewTable): JsonObject {
  const { snapshot, schema, partitionSpec } = table;
  const timestamp = jsonNumber(table.timestampMs);
  const snapshotId = jsonNumber(snapshot.snapshotId);
  return {
    'format-version': jsonNumber(2),
    'table-uuid': table.tableUuid,
    location: table.location,
    'last-sequence-number': jsonNumber(firstSequenceNumber),
    'last-updated-ms': timestamp,
    'last-column-id': jsonNumber(table.lastColumnId),
    'current-schema-id': jsonNumber(schema.schemaId),
    schemas: [printSchema(schema)],
    'default-spec-id': jsonNumber(partitionSpec.specId),
    'partition-specs': [printPartitionSpec(partitionSpec)],
    'last-partition-id': jsonNumber(
      partitionSpec.fields.reduce((id, field) => Math.max(id, field.fieldId), 999),
    ),
    'default-sort-order-id': jsonNumber(0),
    'sort-orders': [{ 'order-id': jsonNumber(0), fields: [] }],
    properties: table.properties,
    'current-snapshot-id': snapshotId,
    refs: { main: { 'snapshot-id': snapshotId, type: 'branch' } },
    snapshots: [
      {
        'snapshot-id': snapshotId,
        'sequence-number': jsonNumber(firstSequenceNumber),
        'timestamp-ms': timestamp,
        'manifest-list': snapshot.manifestList,
        'schema-id': jsonNumber(schema.schemaId),
        summary: printSummary(snapshot),
      },
    ],
    'snapshot-log': [{ 'timestamp-ms': timestamp, 'snapshot-id': snapshotId }],
    'metadata-log': [],
    statistics: [],
    'partition-statistics': [],
  };
}

function printSummary({ addedFiles, addedRecords, addedBytes }: NewSnapshot): JsonObject {
  return {
    operation: 'append',
    'added-data-files': String(addedFiles),
    'added-records': String(addedRecords),
    'added-files-size': String(addedBytes),
    'total-data-files': String(addedFiles),
    'total-records': String(addedRecords),
    'total-files-size': String(addedBytes),
    'total-delete-files': '0',
    'total-position-deletes': '0',
    'total-equality-deletes': '0',
  };
}
