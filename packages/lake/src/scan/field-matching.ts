/**
 * Which column of a data file is which field of the table (table specification, "Column Projection"): by field id,
 * and for columns without one by the table's name mapping.
 */
import type { MappedField } from '../iceberg/spec/name-mapping.js';
import type { FileField } from '../parquet/file-type.js';

export type NameMapping = readonly MappedField[];

/** The mapping of a list's element and a map's key and value stands under these names. */
export type InnerName = 'element' | 'key' | 'value';

/** A file's field with the part of the name mapping that holds below it. */
export interface MatchedField {
  readonly field: FileField;
  readonly mapping: NameMapping | undefined;
}

/** The fields of a file or a struct by the ids they have or are mapped to. An id in the file wins over a mapped one. */
export function fieldsById(
  fields: readonly FileField[],
  mapping: NameMapping | undefined,
): ReadonlyMap<number, MatchedField> {
  const result = new Map<number, MatchedField>();
  const byName = new Map<string, MappedField>();
  for (const mapped of mapping ?? []) for (const name of mapped.names) byName.set(name, mapped);
  for (const field of fields) {
    const mapped = byName.get(field.name);
    const id = field.fieldId ?? mapped?.fieldId;
    if (id === undefined || (field.fieldId === undefined && result.has(id))) continue;
    result.set(id, { field, mapping: mapped?.fields ?? (mapping && []) });
  }
  return result;
}

export function innerMapping(mapping: NameMapping | undefined, name: InnerName): NameMapping | undefined {
  return mapping && (mapping.find((mapped) => mapped.names.includes(name))?.fields ?? []);
}
