/** The columns that tables of format 3 have without naming them (specification, "Row Lineage"). */
import type { NestedField } from './types.js';

/** A file has these columns where its rows were there before it; all others inherit theirs. */
export const rowIdField: NestedField = {
  ...{ id: 2147483540, name: '_row_id', required: false },
  type: { kind: 'long' },
};

export const lastUpdatedField: NestedField = {
  ...{ id: 2147483539, name: '_last_updated_sequence_number', required: false },
  type: { kind: 'long' },
};

/** Those that a table with these columns of its own can be asked for. */
export function lineageFields(formatVersion: number, fields: readonly NestedField[]): readonly NestedField[] {
  if (formatVersion < 3) return [];
  const taken = new Set(fields.map(({ name }) => name.toLowerCase()));
  return [rowIdField, lastUpdatedField].filter(({ name }) => !taken.has(name));
}
