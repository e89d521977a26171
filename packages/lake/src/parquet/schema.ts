/** The schema tree of a Parquet file. Columns (leaves) are numbered in the order in which row groups list their chunks. */
import { type LogicalType, logicalTypeOfConverted, readLogicalType } from './logical-type.js';
import { CompactReader, wireType } from './thrift/compact-reader.js';

export type PhysicalType =
  | 'BOOLEAN'
  | 'INT32'
  | 'INT64'
  | 'INT96'
  | 'FLOAT'
  | 'DOUBLE'
  | 'BYTE_ARRAY'
  | 'FIXED_LEN_BYTE_ARRAY';

export type Repetition = 'required' | 'optional' | 'repeated';

export interface ParquetLeaf {
  readonly kind: 'leaf';
  readonly name: string;
  readonly repetition: Repetition;
  readonly fieldId: number | undefined;
  readonly logical: LogicalType | undefined;
  readonly physical: PhysicalType;
  /** Bytes of a FIXED_LEN_BYTE_ARRAY. */
  readonly typeLength: number;
  readonly column: number;
}

export interface ParquetGroup {
  readonly kind: 'group';
  readonly name: string;
  readonly repetition: Repetition;
  readonly fieldId: number | undefined;
  readonly logical: LogicalType | undefined;
  readonly children: readonly ParquetNode[];
  /** Columns below it: `[firstColumn, endColumn)`. */
  readonly firstColumn: number;
  readonly endColumn: number;
}

export type ParquetNode = ParquetGroup | ParquetLeaf;

export interface ParquetSchema {
  readonly root: ParquetGroup;
  readonly leaves: readonly ParquetLeaf[];
  readonly hasFieldIds: boolean;
  /** Encoded `SchemaElement` structs in the file's order (the root first), for writing a smaller schema. */
  readonly elements: readonly Uint8Array[];
}

const physicalTypes: readonly PhysicalType[] = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
];

const repetitions: readonly Repetition[] = ['required', 'optional', 'repeated'];

/** Deeper schemas are refused: no writer makes them, and the tree is walked recursively. */
const maxSchemaDepth = 64;

/** Columns and groups that a file may have. What is kept of one is many times its bytes in the file. */
export const maxSchemaElements = 100_000;

interface SchemaElement {
  readonly physical: PhysicalType | undefined;
  readonly typeLength: number;
  readonly repetition: Repetition;
  readonly name: string;
  readonly childCount: number | undefined;
  readonly fieldId: number | undefined;
  readonly logical: LogicalType | undefined;
}

/** Parses `FileMetaData.schema`, which `bytes` must hold alone. */
export function parseSchema(bytes: Uint8Array, location: string): ParquetSchema {
  const reader = new CompactReader(bytes, location);
  const elements: Uint8Array[] = [];
  const parsed = reader.structs(maxSchemaElements, () => {
    const start = reader.position;
    const element = readElement(reader);
    elements.push(bytes.subarray(start, reader.position));
    return element;
  });
  const leaves: ParquetLeaf[] = [];
  let next = 0;

  const build = (depth: number): ParquetNode => {
    const element = parsed[next];
    if (element === undefined) return reader.fail('its schema ends too early');
    if (depth > maxSchemaDepth) reader.fail('its schema is nested too deeply');
    next += 1;
    const { name, repetition, fieldId, logical } = element;
    if (element.physical !== undefined && !element.childCount) {
      const column = leaves.length;
      const leaf: ParquetLeaf = {
        kind: 'leaf',
        name,
        repetition,
        fieldId,
        logical,
        physical: element.physical,
        typeLength: element.typeLength,
        column,
      };
      leaves.push(leaf);
      return leaf;
    }
    const firstColumn = leaves.length;
    const children: ParquetNode[] = [];
    for (let index = 0; index < (element.childCount ?? 0); index++) children.push(build(depth + 1));
    return {
      kind: 'group',
      name,
      repetition,
      fieldId,
      logical,
      children,
      firstColumn,
      endColumn: leaves.length,
    };
  };

  const root = build(0);
  if (root.kind !== 'group' || next !== parsed.length) return reader.fail('its schema is not one tree');
  return { root, leaves, elements, hasFieldIds: hasFieldId(root) };
}

function hasFieldId(group: ParquetGroup): boolean {
  return group.children.some(
    (child) => child.fieldId !== undefined || (child.kind === 'group' && hasFieldId(child)),
  );
}

function readElement(reader: CompactReader): SchemaElement {
  let physical: PhysicalType | undefined;
  let typeLength = 0;
  let repetition: Repetition = 'required';
  let name = '';
  let childCount: number | undefined;
  let fieldId: number | undefined;
  let logical: LogicalType | undefined;
  let converted: number | undefined;
  let precision = 0;
  let scale = 0;
  reader.fields((id, type) => {
    if (type === wireType.i32) {
      const value = reader.integer();
      if (id === 1) physical = physicalTypes[value] ?? reader.fail(`physical type ${value} is unknown`);
      else if (id === 2) typeLength = value;
      else if (id === 3) repetition = repetitions[value] ?? reader.fail(`repetition ${value} is unknown`);
      else if (id === 5) childCount = value;
      else if (id === 6) converted = value;
      else if (id === 7) scale = value;
      else if (id === 8) precision = value;
      else if (id === 9 && value >= 0) fieldId = value;
      return true;
    }
    if (id === 4 && type === wireType.binary) name = reader.text();
    else if (id === 10 && type === wireType.struct) logical = readLogicalType(reader);
    else return false;
    return true;
  });
  if (typeLength < 0 || (physical === 'FIXED_LEN_BYTE_ARRAY' && typeLength === 0))
    reader.fail(`column ${name} has the length ${typeLength}`);
  if (childCount !== undefined && childCount < 0) reader.fail(`group ${name} has ${childCount} fields`);
  if (logical === undefined && converted !== undefined)
    logical = logicalTypeOfConverted(converted, precision, scale);
  return { physical, typeLength, repetition, name, childCount, fieldId, logical };
}
