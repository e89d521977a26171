import type { IcebergType, NestedField } from './types.js';

/** All field ids of a schema: those of nested fields, list elements, map keys and values too. */
export function fieldIdsOf(fields: readonly NestedField[]): readonly number[] {
  const ids: number[] = [];
  const visit = (type: IcebergType): void => {
    if (type.kind === 'struct') {
      for (const field of type.fields) {
        ids.push(field.id);
        visit(field.type);
      }
    } else if (type.kind === 'list') {
      ids.push(type.elementId);
      visit(type.element);
    } else if (type.kind === 'map') {
      ids.push(type.keyId, type.valueId);
      visit(type.key);
      visit(type.value);
    }
  };
  visit({ kind: 'struct', fields });
  return ids;
}
