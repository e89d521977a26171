import { type DataType, RecordBatchReader } from 'apache-arrow';

export interface ArrowField {
  readonly name: string;
  readonly type: string;
}

/** Names and types of an encapsulated Arrow schema, in Arrow's own words. */
export function arrowFields(schema: Uint8Array): readonly ArrowField[] {
  const reader = RecordBatchReader.from(schema).open();
  return reader.schema.fields.map((field) => ({ name: field.name, type: typeText(field.type) }));
}

function typeText(type: DataType): string {
  return String(type);
}
