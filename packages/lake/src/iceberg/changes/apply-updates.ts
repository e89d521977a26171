/**
 * Applies updates to table metadata. Pure: what was in the metadata and is not named by an update stays as it is, also
 * what this version does not know.
 */
import { QueryError } from '@svc/base';
import { typedPartitionSpecs } from '../scan/partition-types.js';
import { fieldIdsOf } from '../spec/field-ids.js';
import type { JsonObject, JsonValue } from '../spec/lossless-json.js';
import { jsonNumber } from '../spec/lossless-json.js';
import { tableMetadataOf } from '../spec/parse-table-metadata.js';
import type { Snapshot, SnapshotReference } from '../spec/snapshot.js';
import { printReference, printSnapshot } from '../spec/snapshot.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import { parseTransform } from '../transforms/transform.js';
import { addSchema, addSortOrder, addSpec, setCurrent } from './add-definition.js';
import {
  type Draft,
  draftOf,
  emptyDraft,
  invalidChange,
  listIn,
  newestWrittenFormat,
} from './metadata-draft.js';
import { mainBranch, type TableUpdate } from './table-change.js';

const definingActions: ReadonlySet<TableUpdate['action']> = new Set([
  'set-current-schema',
  'set-default-spec',
]);

/**
 * `metadata` is `undefined` for a table that is created. Throws INVALID_ARGUMENT for updates that do not fit the table or
 * each other, UNSUPPORTED_TABLE_FEATURE for snapshots of format version 3, which this version does not write.
 */
export function applyUpdates(
  metadata: TableMetadata | undefined,
  updates: readonly TableUpdate[],
  nowMs: number,
): TableMetadata {
  const draft = metadata === undefined ? emptyDraft(updates) : draftOf(metadata);
  for (const update of updates) applyUpdate(draft, update, nowMs);
  const json = finished(draft, metadata?.lastUpdatedMs ?? 0, nowMs);
  try {
    const changed = tableMetadataOf(json, 'The changed metadata');
    if (updates.some((update) => definingActions.has(update.action))) checkDefaultSpec(changed);
    return changed;
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== 'DATA_CORRUPT') throw error;
    throw invalidChange(error.message.replace(/\.$/, ''));
  }
}

/** Throws INVALID_ARGUMENT when a column that the table is partitioned by is not there, or has another type. */
function checkDefaultSpec(metadata: TableMetadata): void {
  const schema = metadata.schemas.find((each) => each.schemaId === metadata.currentSchemaId);
  const fieldIds = new Set(fieldIdsOf(schema?.fields ?? []));
  const spec =
    schema && typedPartitionSpecs({ ...metadata, schemas: [schema] }, schema).get(metadata.defaultSpecId);
  for (const [slot, { name, transform, sourceIds }] of (spec?.spec.fields ?? []).entries()) {
    if (transform === 'void' || parseTransform(transform).kind === 'unknown') continue;
    if (!sourceIds.every((id) => fieldIds.has(id)))
      throw invalidChange(
        `the partition field ${JSON.stringify(name)} is made of a column that is not there`,
      );
    if (spec?.types[slot] === undefined)
      throw invalidChange(`the type of its column cannot be partitioned by ${transform}`);
  }
}

function applyUpdate(draft: Draft, update: TableUpdate, nowMs: number): void {
  const { json } = draft;
  switch (update.action) {
    case 'assign-uuid':
      if (draft.tableUuid !== '' && draft.tableUuid.toLowerCase() !== update.uuid.toLowerCase())
        throw invalidChange('the UUID of a table cannot change');
      draft.tableUuid = update.uuid;
      json.set('table-uuid', update.uuid);
      break;
    case 'upgrade-format-version':
      upgrade(draft, update.formatVersion);
      break;
    case 'add-schema':
      addSchema(draft, update.schema, update.lastColumnId);
      break;
    case 'set-current-schema':
      setCurrent(draft, 'schema', update.schemaId);
      break;
    case 'add-spec':
      addSpec(draft, update.spec);
      break;
    case 'set-default-spec':
      setCurrent(draft, 'spec', update.specId);
      break;
    case 'add-sort-order':
      addSortOrder(draft, update.sortOrder);
      break;
    case 'set-default-sort-order':
      setCurrent(draft, 'sortOrder', update.sortOrderId);
      break;
    case 'add-snapshot':
      addSnapshot(draft, update.snapshot);
      break;
    case 'set-snapshot-ref':
      setReference(draft, update.refName, update.reference, nowMs);
      break;
    case 'remove-snapshots':
      removeSnapshots(draft, new Set(update.snapshotIds));
      break;
    case 'remove-snapshot-ref':
      removeReference(draft, update.refName);
      break;
    case 'set-location':
      json.set('location', update.location);
      break;
    case 'set-properties':
      json.set('properties', { ...draft.properties(), ...Object.fromEntries(update.updates) });
      break;
    case 'remove-properties': {
      const removals = new Set(update.removals);
      json.set(
        'properties',
        Object.fromEntries(Object.entries(draft.properties()).filter(([key]) => !removals.has(key))),
      );
    }
  }
}

/** Format 2 drops what format 1 says twice, and has sequence numbers. */
function upgrade(draft: Draft, formatVersion: number): void {
  if (formatVersion < draft.formatVersion)
    throw invalidChange(`a table of format version ${draft.formatVersion} cannot become ${formatVersion}`);
  if (formatVersion === draft.formatVersion) return;
  if (formatVersion > newestWrittenFormat)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `Tables of format version ${formatVersion} are not written; versions 1 and 2 are.`,
    );
  const { json } = draft;
  if (draft.tableUuid === '') throw invalidChange('a table of format version 2 needs a UUID');
  if (listIn(json, 'snapshots').some((snapshot) => snapshot['manifest-list'] === undefined))
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      'The table has snapshots without a manifest list, which format version 2 does not allow.',
    );
  draft.formatVersion = formatVersion;
  json.set('format-version', jsonNumber(formatVersion));
  json.set('last-sequence-number', jsonNumber(draft.lastSequenceNumber));
}

function addSnapshot(draft: Draft, snapshot: Snapshot): void {
  if (draft.formatVersion > newestWrittenFormat)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The table has format version ${draft.formatVersion}; rows are added to tables of versions 1 and 2.`,
    );
  const { snapshotId, sequenceNumber, timestampMs } = snapshot;
  if (draft.snapshotTimes.has(snapshotId))
    throw invalidChange(`the table has a snapshot ${snapshotId} already`);
  if (draft.formatVersion > 1 && sequenceNumber <= draft.lastSequenceNumber)
    throw invalidChange(
      `the snapshot's sequence number ${sequenceNumber} is not above the table's ${draft.lastSequenceNumber}`,
    );
  if (draft.formatVersion > 1) {
    draft.lastSequenceNumber = sequenceNumber;
    draft.json.set('last-sequence-number', jsonNumber(sequenceNumber));
  }
  draft.snapshotTimes.set(snapshotId, timestampMs);
  draft.addedSnapshots.add(snapshotId);
  draft.lastUpdatedMs = timestampMs;
  const printed = printSnapshot(draft.formatVersion === 1 ? { ...snapshot, sequenceNumber: 0n } : snapshot);
  draft.json.set('snapshots', [...listIn(draft.json, 'snapshots'), printed]);
}

function setReference(draft: Draft, name: string, reference: SnapshotReference, nowMs: number): void {
  const { snapshotId } = reference;
  const time = draft.snapshotTimes.get(snapshotId);
  if (time === undefined)
    throw invalidChange(
      `the reference ${JSON.stringify(name)} names the snapshot ${snapshotId}, which is not there`,
    );
  const before = draft.refs.get(name);
  draft.refs.set(name, printReference(reference));
  if (name !== mainBranch) return;
  if (reference.type !== 'branch') throw invalidChange('main is a branch, not a tag');
  if (before !== undefined && idIn(before) === snapshotId) return;
  draft.lastUpdatedMs = draft.addedSnapshots.has(snapshotId)
    ? time
    : Math.max(nowMs, draft.lastUpdatedMs ?? 0);
  draft.json.set('current-snapshot-id', jsonNumber(snapshotId));
  const entry = { 'timestamp-ms': jsonNumber(draft.lastUpdatedMs), 'snapshot-id': jsonNumber(snapshotId) };
  draft.json.set('snapshot-log', [...listIn(draft.json, 'snapshot-log'), entry]);
}

function removeReference(draft: Draft, name: string): void {
  if (draft.refs.delete(name) && name === mainBranch) draft.json.delete('current-snapshot-id');
}

/** The log of what was current cannot be told from before a snapshot that is gone. */
function removeSnapshots(draft: Draft, ids: ReadonlySet<bigint>): void {
  const { json } = draft;
  const isKept = (each: JsonObject): boolean => !ids.has(idIn(each));
  json.set('snapshots', listIn(json, 'snapshots').filter(isKept));
  const log = listIn(json, 'snapshot-log');
  json.set('snapshot-log', log.slice(log.findLastIndex((entry) => !isKept(entry)) + 1));
  for (const files of ['statistics', 'partition-statistics'])
    if (json.get(files) !== undefined) json.set(files, listIn(json, files).filter(isKept));
  for (const id of ids) draft.snapshotTimes.delete(id);
  for (const [name, reference] of draft.refs) if (!isKept(reference)) removeReference(draft, name);
}

function idIn(json: JsonObject): bigint {
  return BigInt(String(json['snapshot-id']));
}

function finished(draft: Draft, previousMs: number, nowMs: number): JsonObject {
  const { json } = draft;
  json.set('last-updated-ms', jsonNumber(Math.max(draft.lastUpdatedMs ?? nowMs, previousMs)));
  json.set('refs', Object.fromEntries(draft.refs));
  const schema = currentOf(json, 'schemas', 'schema-id', 'current-schema-id');
  const spec = currentOf(json, 'partition-specs', 'spec-id', 'default-spec-id');
  if (draft.formatVersion > 1) {
    json.delete('schema');
    json.delete('partition-spec');
  } else {
    // Format 1 requires the current ones a second time, where its oldest readers look.
    if (schema !== undefined) json.set('schema', schema);
    const { fields } = spec ?? {};
    if (fields !== undefined) json.set('partition-spec', fields);
  }
  return Object.fromEntries(json);
}

function currentOf(
  json: ReadonlyMap<string, JsonValue>,
  list: string,
  id: string,
  current: string,
): JsonObject | undefined {
  const wanted = json.get(current);
  return listIn(json, list).find((each) => String(each[id]) === String(wanted));
}
