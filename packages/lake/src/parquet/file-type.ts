/**
 * A Parquet schema as nested values: structs, lists and maps, whatever layers of groups a writer spelled them with
 * (Parquet format, "Nested Types" with its rules for older files).
 */
import type { ParquetGroup, ParquetLeaf, ParquetNode } from './schema.js';

export interface FileField {
  readonly name: string;
  readonly fieldId: number | undefined;
  /** Never null. */
  readonly isRequired: boolean;
  readonly type: FileType;
}

export type FileType =
  | { readonly kind: 'primitive'; readonly leaf: ParquetLeaf }
  | { readonly kind: 'struct'; readonly fields: readonly FileField[] }
  | { readonly kind: 'list'; readonly element: FileField }
  | { readonly kind: 'map'; readonly key: FileField; readonly value: FileField }
  /** A layout of lists or maps that the engine would not read as what it is. */
  | { readonly kind: 'unreadable' };

const unreadable: FileType = { kind: 'unreadable' };

/** The fields of a file or of a struct in it. */
export function fileFields(group: ParquetGroup): readonly FileField[] {
  return group.children.map((child) => toField(child));
}

function toField(node: ParquetNode): FileField {
  const { name, fieldId } = node;
  if (node.repetition === 'repeated') {
    // A repeated field outside of a list is a list of required elements.
    const element = { name: 'element', fieldId: undefined, isRequired: true, type: typeOf(node) };
    return { name, fieldId, isRequired: true, type: { kind: 'list', element } };
  }
  return { name, fieldId, isRequired: node.repetition === 'required', type: typeOf(node) };
}

/** The type of one value of the node, its repetition left aside. */
function typeOf(node: ParquetNode): FileType {
  if (node.kind === 'leaf') return { kind: 'primitive', leaf: node };
  if (node.logical?.kind === 'list') return listType(node);
  if (node.logical?.kind === 'map') return mapType(node);
  return { kind: 'struct', fields: fileFields(node) };
}

function listType(list: ParquetGroup): FileType {
  const [repeated] = list.children;
  if (list.children.length !== 1 || repeated?.repetition !== 'repeated') return unreadable;
  if (repeated.kind === 'leaf' || repeated.children.length !== 1)
    return { kind: 'list', element: elementOf(repeated) };
  const [only] = repeated.children;
  // Two writers named the element itself so; the engine reads such a list without the struct that it is.
  if (
    only === undefined ||
    only.repetition === 'repeated' ||
    repeated.name === 'array' ||
    repeated.name === `${list.name}_tuple`
  )
    return unreadable;
  return { kind: 'list', element: { ...toField(only), name: 'element' } };
}

/** The repeated node is the element itself. */
function elementOf(repeated: ParquetNode): FileField {
  return { name: 'element', fieldId: repeated.fieldId, isRequired: true, type: typeOf(repeated) };
}

function mapType(map: ParquetGroup): FileType {
  const [entry] = map.children;
  if (map.children.length !== 1 || entry?.kind !== 'group' || entry.repetition !== 'repeated')
    return unreadable;
  const [key, value] = entry.children;
  if (entry.children.length !== 2 || key === undefined || value === undefined) return unreadable;
  return {
    kind: 'map',
    key: { ...toField(key), name: 'key' },
    value: { ...toField(value), name: 'value' },
  };
}
