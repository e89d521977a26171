/** Requirements and updates in the JSON form of the REST catalog protocol. Numbers keep every digit. */
import { QueryError } from '@svc/base';
import { JsonFields } from '../spec/json-fields.js';
import { clip, isJsonObject, type JsonObject, type JsonValue, jsonNumber } from '../spec/lossless-json.js';
import {
  parsePartitionSpec,
  parseSortOrder,
  printPartitionSpec,
  printSortOrder,
} from '../spec/partition-spec.js';
import { parseSchema, printSchema } from '../spec/schema-json.js';
import { parseReference, parseSnapshot, printReference, printSnapshot } from '../spec/snapshot.js';
import type { TableCommit, TableRequirement, TableUpdate } from './table-change.js';

const source = 'The commit';

export function printCommit({ requirements, updates }: TableCommit): JsonObject {
  return { requirements: requirements.map(printRequirement), updates: updates.map(printUpdate) };
}

/**
 * Throws DATA_CORRUPT naming what is malformed, and NOT_SUPPORTED for an action, a requirement or a field of one that
 * this version does not know: leaving it out would make another change than the one that was asked for.
 */
export function parseCommit(value: JsonValue): TableCommit {
  const json = new JsonFields(value, source);
  return {
    requirements: json
      .objects('requirements')
      .map((each) => exactly(each, parseRequirement, printRequirement)),
    updates: json.objects('updates').map((each) => exactly(each, parseUpdate, printUpdate)),
  };
}

export function printRequirement(requirement: TableRequirement): JsonObject {
  const { type } = requirement;
  switch (type) {
    case 'assert-create':
      return { type };
    case 'assert-table-uuid':
      return { type, uuid: requirement.uuid };
    case 'assert-ref-snapshot-id': {
      const { ref, snapshotId } = requirement;
      return { type, ref, 'snapshot-id': snapshotId === undefined ? null : jsonNumber(snapshotId) };
    }
    case 'assert-last-assigned-field-id':
      return { type, 'last-assigned-field-id': jsonNumber(requirement.lastAssignedFieldId) };
    case 'assert-current-schema-id':
      return { type, 'current-schema-id': jsonNumber(requirement.currentSchemaId) };
    case 'assert-last-assigned-partition-id':
      return { type, 'last-assigned-partition-id': jsonNumber(requirement.lastAssignedPartitionId) };
    case 'assert-default-spec-id':
      return { type, 'default-spec-id': jsonNumber(requirement.defaultSpecId) };
    case 'assert-default-sort-order-id':
      return { type, 'default-sort-order-id': jsonNumber(requirement.defaultSortOrderId) };
  }
}

function parseRequirement(json: JsonFields): TableRequirement {
  const type = json.string('type');
  switch (type) {
    case 'assert-create':
      return { type };
    case 'assert-table-uuid':
      return { type, uuid: json.string('uuid') };
    case 'assert-ref-snapshot-id':
      return { type, ref: json.string('ref'), snapshotId: json.optionalLong('snapshot-id') };
    case 'assert-last-assigned-field-id':
      return { type, lastAssignedFieldId: json.integer('last-assigned-field-id') };
    case 'assert-current-schema-id':
      return { type, currentSchemaId: json.integer('current-schema-id') };
    case 'assert-last-assigned-partition-id':
      return { type, lastAssignedPartitionId: json.integer('last-assigned-partition-id') };
    case 'assert-default-spec-id':
      return { type, defaultSpecId: json.integer('default-spec-id') };
    case 'assert-default-sort-order-id':
      return { type, defaultSortOrderId: json.integer('default-sort-order-id') };
    default:
      throw unknown(`the requirement ${JSON.stringify(clip(type, 60))}`);
  }
}

export function printUpdate(update: TableUpdate): JsonObject {
  const { action } = update;
  switch (action) {
    case 'assign-uuid':
      return { action, uuid: update.uuid };
    case 'upgrade-format-version':
      return { action, 'format-version': jsonNumber(update.formatVersion) };
    case 'add-schema': {
      const { schema, lastColumnId } = update;
      const last = lastColumnId === undefined ? {} : { 'last-column-id': jsonNumber(lastColumnId) };
      return { action, schema: printSchema(schema), ...last };
    }
    case 'set-current-schema':
      return { action, 'schema-id': jsonNumber(update.schemaId) };
    case 'add-spec':
      return { action, spec: printPartitionSpec(update.spec) };
    case 'set-default-spec':
      return { action, 'spec-id': jsonNumber(update.specId) };
    case 'add-sort-order':
      return { action, 'sort-order': printSortOrder(update.sortOrder) };
    case 'set-default-sort-order':
      return { action, 'sort-order-id': jsonNumber(update.sortOrderId) };
    case 'add-snapshot':
      return { action, snapshot: printSnapshot(update.snapshot) };
    case 'set-snapshot-ref':
      return { action, 'ref-name': update.refName, ...printReference(update.reference) };
    case 'remove-snapshots':
      return { action, 'snapshot-ids': update.snapshotIds.map(jsonNumber) };
    case 'remove-snapshot-ref':
      return { action, 'ref-name': update.refName };
    case 'set-location':
      return { action, location: update.location };
    case 'set-properties':
      return { action, updates: Object.fromEntries(update.updates) };
    case 'remove-properties':
      return { action, removals: update.removals };
  }
}

function parseUpdate(json: JsonFields): TableUpdate {
  const action = json.string('action');
  switch (action) {
    case 'assign-uuid':
      return { action, uuid: json.string('uuid') };
    case 'upgrade-format-version':
      return { action, formatVersion: json.integer('format-version') };
    case 'add-schema': {
      const lastColumnId = json.optionalInteger('last-column-id');
      const schema = parseSchema(json.object('schema'), 0);
      return { action, schema, ...(lastColumnId !== undefined && { lastColumnId }) };
    }
    case 'set-current-schema':
      return { action, schemaId: json.integer('schema-id') };
    case 'add-spec':
      return { action, spec: parsePartitionSpec(json.object('spec')) };
    case 'set-default-spec':
      return { action, specId: json.integer('spec-id') };
    case 'add-sort-order':
      return { action, sortOrder: parseSortOrder(json.object('sort-order')) };
    case 'set-default-sort-order':
      return { action, sortOrderId: json.integer('sort-order-id') };
    case 'add-snapshot':
      return { action, snapshot: parseSnapshot(json.object('snapshot')) };
    case 'set-snapshot-ref':
      return { action, refName: json.string('ref-name'), reference: parseReference(json) };
    case 'remove-snapshots':
      return { action, snapshotIds: json.longs('snapshot-ids') ?? [] };
    case 'remove-snapshot-ref':
      return { action, refName: json.string('ref-name') };
    case 'set-location':
      return { action, location: json.string('location') };
    case 'set-properties':
      return { action, updates: json.stringMap('updates') };
    case 'remove-properties':
      return { action, removals: json.strings('removals') ?? [] };
    default:
      throw unknown(`the update ${JSON.stringify(clip(action, 60))}`);
  }
}

/** Parses, and checks that printing it again says everything that was read. */
function exactly<T>(json: JsonFields, parse: (json: JsonFields) => T, print: (value: T) => JsonObject): T {
  const value = parse(json);
  const lost = lostField(json.json, print(value));
  if (lost !== undefined) throw unknown(`the field ${JSON.stringify(clip(lost, 200))}`);
  return value;
}

/** The path of something that is in `read` and not in `printed`; nulls and empty lists and objects say nothing. */
function lostField(read: JsonValue | undefined, printed: JsonValue | undefined): string | undefined {
  if (printed === undefined) return isEmpty(read) ? undefined : '';
  const entries = Array.isArray(read) ? [...read.entries()] : isJsonObject(read) ? Object.entries(read) : [];
  for (const [key, value] of entries) {
    const inner = (printed as { readonly [key: string]: JsonValue } | null)?.[key];
    const lost = lostField(value, inner ?? undefined);
    if (lost !== undefined) return lost === '' ? `${key}` : `${key}.${lost}`;
  }
  return undefined;
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}

function unknown(what: string): QueryError {
  return new QueryError('NOT_SUPPORTED', `${source} has ${what}, which this version does not know.`);
}
