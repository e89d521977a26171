/** `struct ArrowSchema` in memory → fields. */
import { arrowSchemaFlags, arrowSchemaLayout as layout } from '../capi/layouts.js';
import { type Address, readBytes, readInt32, readText, window } from '../capi/memory.js';
import { typeOfFormat } from './c-format.js';
import type { ArrowField, ArrowSchema, ArrowType } from './types.js';

const word = 8;

/** Reads the schema of a result (a struct of its columns). Dictionary ids count from 0 in depth-first order. */
export function readCSchema(address: Address): ArrowSchema {
  const ids = { next: 0n };
  const root = readNode(address);
  return {
    fields: root.children.map((child) => readField(child, ids)),
    metadata: readMetadata(root.metadata),
  };
}

interface SchemaNode {
  readonly format: Address;
  readonly name: Address;
  readonly metadata: Address;
  readonly flags: number;
  readonly children: readonly Address[];
  readonly dictionary: Address;
}

function readNode(address: Address): SchemaNode {
  window.load(address, layout.size);
  const at = (offset: number) => window.word(offset / word);
  const node = {
    format: at(layout.format),
    name: at(layout.name),
    metadata: at(layout.metadata),
    flags: at(layout.flags),
    dictionary: at(layout.dictionary),
  };
  const childCount = at(layout.childCount);
  const list = at(layout.children);
  const children = Array.from({ length: childCount }, (_, index) => {
    window.load(list + index * word, word);
    return window.word(0);
  });
  return { ...node, children };
}

function readField(address: Address, ids: { next: bigint }): ArrowField {
  const node = readNode(address);
  const type = typeOfFormat(readText(node.format), (node.flags & arrowSchemaFlags.mapKeysSorted) !== 0);
  const shared = {
    name: readText(node.name),
    nullable: (node.flags & arrowSchemaFlags.nullable) !== 0,
    metadata: readMetadata(node.metadata),
  };
  if (node.dictionary !== 0 && type.kind === 'int') {
    const id = ids.next;
    ids.next += 1n;
    const values = readField(node.dictionary, ids);
    const ordered = (node.flags & arrowSchemaFlags.dictionaryOrdered) !== 0;
    return {
      ...shared,
      type: values.type,
      children: values.children,
      dictionary: { id, indexType: type, ordered },
    };
  }
  const children = node.children.map((child) => readField(child, ids));
  return { ...shared, type, children: namedChildren(type, children), dictionary: undefined };
}

/** The engine names the entries of a fixed-size list "", which some readers take for a missing name. */
function namedChildren(type: ArrowType, children: readonly ArrowField[]): readonly ArrowField[] {
  if (type.kind !== 'fixedList') return children;
  return children.map((child) => (child.name === '' ? { ...child, name: 'l' } : child));
}

/** Count, then per pair length-prefixed key and value, in native byte order. */
function readMetadata(address: Address): ReadonlyMap<string, string> {
  const metadata = new Map<string, string>();
  if (address === 0) return metadata;
  let position = address;
  const readPart = () => {
    const length = readInt32(position);
    const part = Buffer.from(readBytes(position + 4, length)).toString('utf8');
    position += 4 + length;
    return part;
  };
  const count = readInt32(position);
  position += 4;
  for (let pair = 0; pair < count; pair++) {
    const key = readPart();
    metadata.set(key, readPart());
  }
  return metadata;
}
