/** The partition spec that replaces those of a table, whose field ids are never used for anything else. */
import type { PartitionField, PartitionSpec } from '../spec/partition-spec.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import type { NestedField } from '../spec/types.js';
import { newPartitionSpec, type PartitionDefinition } from './new-partition-spec.js';

/** `fields` are those of the new schema. Throws what `newPartitionSpec` throws. */
export function nextPartitionSpec(
  metadata: TableMetadata,
  fields: readonly NestedField[],
  definitions: readonly PartitionDefinition[],
  formatVersion: number,
): PartitionSpec {
  const wanted = newPartitionSpec(fields, definitions).fields;
  let last = metadata.lastPartitionId;
  const withNextId = (field: PartitionField): PartitionField => {
    last += 1;
    return { ...field, fieldId: last };
  };
  if (formatVersion > 1) {
    const known = metadata.partitionSpecs.flatMap((each) => each.fields);
    return { specId: 0, fields: wanted.map((field) => withKnownId(field, known) ?? withNextId(field)) };
  }
  // Readers of format 1 tell partition fields by their position: none may go, so what is not wanted becomes void.
  const current =
    metadata.partitionSpecs.find((each) => each.specId === metadata.defaultSpecId)?.fields ?? [];
  const kept = current.map((field) => ({
    ...(wanted.find((each) => isSameField(each, field)) ?? { ...field, transform: 'void' }),
    fieldId: field.fieldId,
  }));
  const added = wanted.filter((field) => !current.some((each) => isSameField(each, field)));
  const all = [...kept, ...added.map(withNextId)];
  return { specId: 0, fields: all.map((field, index) => withFreeName(field, index, all, fields)) };
}

function withKnownId(field: PartitionField, known: readonly PartitionField[]): PartitionField | undefined {
  const fieldId = known.findLast((each) => isSameField(each, field))?.fieldId;
  return fieldId === undefined ? undefined : { ...field, fieldId };
}

function isSameField(left: PartitionField, right: PartitionField): boolean {
  return left.transform === right.transform && left.sourceIds.join() === right.sourceIds.join();
}

/** A field that became void gives way to a column or another field of its name. */
function withFreeName(
  field: PartitionField,
  index: number,
  all: readonly PartitionField[],
  columns: readonly NestedField[],
): PartitionField {
  if (field.transform !== 'void') return field;
  const isTaken =
    all.some((each, other) => other !== index && each.name === field.name) ||
    columns.some((column) => column.name === field.name);
  return isTaken ? { ...field, name: `${field.name}_${field.fieldId}` } : field;
}
