import { QueryError } from '@svc/base';
import { isPrimitive } from '../iceberg/spec/type-text.js';
import type { NestedField, Schema } from '../iceberg/spec/types.js';

/**
 * The columns that equality delete files compare, as `schemas` have them: the first one that knows a column says its
 * name and type, so that columns dropped since are found in older schemas. A field in structs is a struct of nothing else:
 * a struct that is NULL is not equal to one with NULL in it, as in Iceberg's own library. Throws DATA_CORRUPT naming a file that
 * compares what no schema has, or what is no plain value.
 */
export function deleteKeys(
  equalityIds: readonly number[],
  schemas: readonly Schema[],
  deleteFile: string,
): readonly NestedField[] {
  return equalityIds.map((id) => {
    for (const { fields } of schemas) {
      const key = findKey(id, fields);
      if (key !== undefined) return key;
    }
    throw new QueryError(
      'DATA_CORRUPT',
      `The delete file ${deleteFile} compares the field ${id}, which is no column of the table with plain values.`,
    );
  });
}

function findKey(id: number, fields: readonly NestedField[]): NestedField | undefined {
  for (const field of fields) {
    if (field.id === id) return isPrimitive(field.type) ? field : undefined;
    if (field.type.kind !== 'struct') continue;
    const inner = findKey(id, field.type.fields);
    if (inner !== undefined) return { ...field, type: { kind: 'struct', fields: [inner] } };
  }
  return undefined;
}
