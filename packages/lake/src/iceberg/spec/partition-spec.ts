/** Partition specs and sort orders (specification, "Partitioning", "Sorting"; Appendix C). Transforms stay text here. */
import type { JsonFields } from './json-fields.js';
import { type JsonObject, jsonNumber } from './lossless-json.js';

export interface PartitionField {
  /** Several only for transforms of format 3 that take several columns, which are tolerated and never evaluated. */
  readonly sourceIds: readonly number[];
  readonly fieldId: number;
  readonly name: string;
  /** `identity`, `bucket[16]`, …: see transforms/transform.ts. */
  readonly transform: string;
}

export interface PartitionSpec {
  readonly specId: number;
  readonly fields: readonly PartitionField[];
}

export interface SortField {
  readonly sourceIds: readonly number[];
  readonly transform: string;
  readonly direction: string;
  readonly nullOrder: string;
}

export interface SortOrder {
  readonly orderId: number;
  readonly fields: readonly SortField[];
}

/** Ids of fields written before ids were stored count up from here (specification, "Partition Evolution"). */
const firstPartitionFieldId = 1000;

export function parsePartitionSpec(json: JsonFields): PartitionSpec {
  return { specId: json.integer('spec-id'), fields: parsePartitionFields(json.objects('fields')) };
}

/** A format 1 `partition-spec`: only the list of fields. */
export function parsePartitionFields(fields: readonly JsonFields[]): readonly PartitionField[] {
  return fields.map((field, index) => ({
    sourceIds: parseSourceIds(field),
    fieldId: field.optionalInteger('field-id') ?? firstPartitionFieldId + index,
    name: field.string('name'),
    transform: field.string('transform'),
  }));
}

export function parseSortOrder(json: JsonFields): SortOrder {
  return {
    orderId: json.integer('order-id'),
    fields: json.objects('fields').map((field) => ({
      sourceIds: parseSourceIds(field),
      transform: field.string('transform'),
      direction: field.string('direction'),
      nullOrder: field.string('null-order'),
    })),
  };
}

export function printPartitionField(field: PartitionField): JsonObject {
  return {
    ...printSourceIds(field.sourceIds),
    'field-id': jsonNumber(field.fieldId),
    name: field.name,
    transform: field.transform,
  };
}

export function printPartitionSpec(spec: PartitionSpec): JsonObject {
  return { 'spec-id': jsonNumber(spec.specId), fields: spec.fields.map(printPartitionField) };
}

export function printSortOrder(order: SortOrder): JsonObject {
  return {
    'order-id': jsonNumber(order.orderId),
    fields: order.fields.map((field) => ({
      ...printSourceIds(field.sourceIds),
      transform: field.transform,
      direction: field.direction,
      'null-order': field.nullOrder,
    })),
  };
}

function parseSourceIds(json: JsonFields): readonly number[] {
  return json.integers('source-ids') ?? [json.integer('source-id')];
}

function printSourceIds(ids: readonly number[]): JsonObject {
  const [only] = ids;
  return ids.length === 1 && only !== undefined
    ? { 'source-id': jsonNumber(only) }
    : { 'source-ids': ids.map(jsonNumber) };
}
