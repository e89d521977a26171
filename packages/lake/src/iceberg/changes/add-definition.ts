/** Adding schemas, partition specs and sort orders, which are never removed or changed: the same one is reused. */

import { fieldIdsOf } from '../spec/field-ids.js';
import { JsonFields } from '../spec/json-fields.js';
import { type JsonObject, jsonNumber, printJson } from '../spec/lossless-json.js';
import {
  type PartitionSpec,
  parsePartitionSpec,
  parseSortOrder,
  printPartitionSpec,
  printSortOrder,
  type SortOrder,
} from '../spec/partition-spec.js';
import { parseSchema, printSchema } from '../spec/schema-json.js';
import type { Schema } from '../spec/types.js';
import { type Draft, invalidChange, listIn } from './metadata-draft.js';
import { lastAdded } from './table-change.js';

type Definition = keyof Draft['lastAdded'];

interface Keys {
  readonly list: string;
  readonly id: string;
  readonly current: string;
  readonly noun: string;
}

const keysOf: Readonly<Record<Definition, Keys>> = {
  schema: { list: 'schemas', id: 'schema-id', current: 'current-schema-id', noun: 'schema' },
  spec: { list: 'partition-specs', id: 'spec-id', current: 'default-spec-id', noun: 'partition spec' },
  sortOrder: { list: 'sort-orders', id: 'order-id', current: 'default-sort-order-id', noun: 'sort order' },
};

const source = 'The metadata';

export function addSchema(draft: Draft, schema: Schema, lastColumnId: number | undefined): void {
  draft.lastColumnId = Math.max(draft.lastColumnId, lastColumnId ?? 0, ...fieldIdsOf(schema.fields));
  draft.json.set('last-column-id', jsonNumber(draft.lastColumnId));
  const print = (schemaId: number) => printSchema({ ...schema, schemaId });
  const same = (json: JsonObject) => printSchema({ ...parseSchema(fields(json), 0), schemaId: 0 });
  addDefinition(draft, 'schema', print, same, 0);
}

/** A field with the id of one that is there already is the same field of another spec. */
export function addSpec(draft: Draft, spec: PartitionSpec): void {
  draft.lastPartitionId = Math.max(draft.lastPartitionId, ...spec.fields.map((field) => field.fieldId));
  draft.json.set('last-partition-id', jsonNumber(draft.lastPartitionId));
  const print = (specId: number) => printPartitionSpec({ ...spec, specId });
  const same = (json: JsonObject) => printPartitionSpec({ ...parsePartitionSpec(fields(json)), specId: 0 });
  addDefinition(draft, 'spec', print, same, 0);
}

/** 0 is the id of the order that sorts by nothing, and of no other. */
export function addSortOrder(draft: Draft, order: SortOrder): void {
  const isUnsorted = order.fields.length === 0;
  const print = (orderId: number) => printSortOrder({ ...order, orderId: isUnsorted ? 0 : orderId });
  const same = (json: JsonObject) => printSortOrder({ ...parseSortOrder(fields(json)), orderId: 0 });
  addDefinition(draft, 'sortOrder', print, same, 1);
}

export function setCurrent(draft: Draft, what: Definition, wanted: number): void {
  const { list, id, current, noun } = keysOf[what];
  const found = wanted === lastAdded ? draft.lastAdded[what] : wanted;
  if (found === undefined) throw invalidChange(`no ${noun} was added that could be made the current one`);
  if (!listIn(draft.json, list).some((each) => Number(String(each[id])) === found))
    throw invalidChange(`there is no ${noun} ${found}`);
  draft.json.set(current, jsonNumber(found));
}

function addDefinition(
  draft: Draft,
  what: Definition,
  print: (id: number) => JsonObject,
  withIdZero: (json: JsonObject) => JsonObject,
  firstId: number,
): void {
  const { list, id } = keysOf[what];
  const existing = listIn(draft.json, list);
  const wanted = printJson(print(0));
  const same = existing.find((each) => printJson(withIdZero(each)) === wanted);
  const highest = existing.reduce((most, each) => Math.max(most, Number(String(each[id]))), firstId - 1);
  const added = same ?? print(highest + 1);
  draft.lastAdded[what] = Number(String(added[id]));
  if (same === undefined) draft.json.set(list, [...existing, added]);
}

function fields(json: JsonObject): JsonFields {
  return new JsonFields(json, source);
}
