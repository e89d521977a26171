/** Table metadata while updates are applied to it: its JSON, and what the updates ask of it. */
import { QueryError } from '@svc/base';
import { isJsonObject, type JsonObject, type JsonValue, jsonNumber } from '../spec/lossless-json.js';
import { printPartitionSpec, printSortOrder } from '../spec/partition-spec.js';
import { printSchema } from '../spec/schema-json.js';
import { printReference } from '../spec/snapshot.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import { noPartitionFieldId } from '../write/new-partition-spec.js';
import type { TableUpdate } from './table-change.js';

export interface Draft {
  /** By key, in the order of the file. */
  readonly json: Map<string, JsonValue>;
  formatVersion: number;
  tableUuid: string;
  lastSequenceNumber: bigint;
  lastColumnId: number;
  lastPartitionId: number;
  /** Set by an update that has a time of its own. */
  lastUpdatedMs: number | undefined;
  /** When each snapshot was made, milliseconds since 1970. */
  readonly snapshotTimes: Map<bigint, number>;
  readonly addedSnapshots: Set<bigint>;
  readonly refs: Map<string, JsonObject>;
  /** The id of what an update added last, for those that refer to it as -1. */
  readonly lastAdded: { schema?: number; spec?: number; sortOrder?: number };
  properties(): JsonObject;
}

/** Rows of format 3 have ids that a writer must give them, which is not done here. */
export const newestWrittenFormat = 2;

export function draftOf(metadata: TableMetadata): Draft {
  const json = new Map(Object.entries(metadata.json));
  const known = objectIn(json, 'refs');
  const refs = new Map<string, JsonObject>();
  for (const [name, reference] of metadata.refs) {
    const written = known[name];
    refs.set(name, isJsonObject(written) ? written : printReference(reference));
  }
  const draft: Draft = {
    ...draftFrom(json),
    formatVersion: metadata.formatVersion,
    tableUuid: metadata.tableUuid,
    lastSequenceNumber: metadata.lastSequenceNumber,
    lastColumnId: metadata.lastColumnId,
    lastPartitionId: metadata.lastPartitionId,
    snapshotTimes: new Map(metadata.snapshots.map((each) => [each.snapshotId, each.timestampMs])),
    refs,
  };
  if (metadata.formatVersion === 1) fillIn(json, metadata);
  return draft;
}

/** A table that is being created has the format version that its own updates name first. */
export function emptyDraft(updates: readonly TableUpdate[]): Draft {
  const upgrade = updates.find((update) => update.action === 'upgrade-format-version');
  const formatVersion = upgrade?.formatVersion ?? newestWrittenFormat;
  if (formatVersion !== 1 && formatVersion !== newestWrittenFormat)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `Tables of format version ${formatVersion} are not written; versions 1 and 2 are.`,
    );
  const json: JsonObject = {
    'format-version': jsonNumber(formatVersion),
    'table-uuid': '',
    location: '',
    ...(formatVersion > 1 && { 'last-sequence-number': jsonNumber(0) }),
    'last-updated-ms': jsonNumber(0),
    'last-column-id': jsonNumber(0),
    'current-schema-id': jsonNumber(-1),
    schemas: [],
    'default-spec-id': jsonNumber(-1),
    'partition-specs': [],
    'last-partition-id': jsonNumber(noPartitionFieldId),
    'default-sort-order-id': jsonNumber(-1),
    'sort-orders': [],
    properties: {},
    refs: {},
    snapshots: [],
    'snapshot-log': [],
    'metadata-log': [],
  };
  return { ...draftFrom(new Map(Object.entries(json))), formatVersion };
}

export function invalidChange(problem: string): QueryError {
  return new QueryError('INVALID_ARGUMENT', `The table cannot be changed so: ${problem}.`);
}

/** The objects of a list; what is none of them was refused when the metadata was read. */
export function listIn(json: ReadonlyMap<string, JsonValue>, key: string): readonly JsonObject[] {
  const list = json.get(key);
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function objectIn(json: ReadonlyMap<string, JsonValue>, key: string): JsonObject {
  const value = json.get(key);
  return isJsonObject(value) ? value : {};
}

function draftFrom(json: Map<string, JsonValue>): Draft {
  return {
    json,
    formatVersion: newestWrittenFormat,
    tableUuid: '',
    lastSequenceNumber: 0n,
    lastColumnId: 0,
    lastPartitionId: noPartitionFieldId,
    lastUpdatedMs: undefined,
    snapshotTimes: new Map(),
    addedSnapshots: new Set(),
    refs: new Map(),
    lastAdded: {},
    properties: () => objectIn(json, 'properties'),
  };
}

/** Format 1 may say its schema and its spec only in the old way, and leave out ids and sort orders. */
function fillIn(json: Map<string, JsonValue>, metadata: TableMetadata): void {
  if (listIn(json, 'schemas').length === 0) json.set('schemas', metadata.schemas.map(printSchema));
  if (listIn(json, 'partition-specs').length === 0)
    json.set('partition-specs', metadata.partitionSpecs.map(printPartitionSpec));
  if (listIn(json, 'sort-orders').length === 0)
    json.set(
      'sort-orders',
      (metadata.sortOrders.length > 0 ? metadata.sortOrders : [{ orderId: 0, fields: [] }]).map(
        printSortOrder,
      ),
    );
  json.set('current-schema-id', jsonNumber(metadata.currentSchemaId));
  json.set('default-spec-id', jsonNumber(metadata.defaultSpecId));
  json.set('last-partition-id', jsonNumber(metadata.lastPartitionId));
  json.set('default-sort-order-id', jsonNumber(metadata.defaultSortOrderId));
}
