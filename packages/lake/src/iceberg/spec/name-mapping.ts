/**
 * Name mappings (specification, "Column Projection", Appendix C "Name Mapping Serialization"): the field ids of data
 * files that were written without ids, by column name.
 */
import { QueryError } from '@svc/base';
import { JsonFields } from './json-fields.js';
import { type JsonValue, jsonNumber, parseJson, printJson } from './lossless-json.js';
import type { TableMetadata } from './table-metadata.js';
import type { IcebergType, NestedField } from './types.js';

export const nameMappingProperty = 'schema.name-mapping.default';

export interface MappedField {
  /** Absent when the column is in data files but not in the table. */
  readonly fieldId: number | undefined;
  readonly names: readonly string[];
  /** Lists have the child `element`, maps `key` and `value`. */
  readonly fields: readonly MappedField[];
}

const maxDepth = 100;

/** The table's name mapping, if it has one. Throws DATA_CORRUPT naming the table's location when it does not parse. */
export function readNameMapping(metadata: TableMetadata): readonly MappedField[] | undefined {
  const text = metadata.properties.get(nameMappingProperty);
  return text === undefined ? undefined : parseNameMapping(text, metadata.location);
}

export function parseNameMapping(text: string, tableLocation: string): readonly MappedField[] {
  const source = `The property ${nameMappingProperty} of table ${tableLocation}`;
  const wrapped = new JsonFields({ mapping: parseJson(text, source) }, source);
  return parseFields(wrapped.objects('mapping'), source, 0);
}

/** The mapping under which a file with the schema's own names, and no ids, is read. */
export function nameMappingOf(fields: readonly NestedField[]): string {
  return printJson(fields.map((field) => printMapped(field.id, field.name, field.type)));
}

function parseFields(fields: readonly JsonFields[], source: string, depth: number): readonly MappedField[] {
  if (depth > maxDepth)
    throw new QueryError('DATA_CORRUPT', `${source} is nested deeper than ${maxDepth} levels.`);
  return fields.map((field) => ({
    fieldId: field.optionalInteger('field-id'),
    names: field.strings('names') ?? [],
    fields: parseFields(field.optionalObjects('fields') ?? [], source, depth + 1),
  }));
}

function printMapped(id: number, name: string, type: IcebergType): JsonValue {
  const fields = children(type);
  return { 'field-id': jsonNumber(id), names: [name], ...(fields.length > 0 && { fields }) };
}

function children(type: IcebergType): readonly JsonValue[] {
  switch (type.kind) {
    case 'struct':
      return type.fields.map((field) => printMapped(field.id, field.name, field.type));
    case 'list':
      return [printMapped(type.elementId, 'element', type.element)];
    case 'map':
      return [printMapped(type.keyId, 'key', type.key), printMapped(type.valueId, 'value', type.value)];
    default:
      return [];
  }
}
