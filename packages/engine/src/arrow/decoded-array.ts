/**
 * Record batches of an IPC stream as arrays over the message's body, fully checked: whoever reads a DecodedArray,
 * C code included, stays inside its buffers.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { type FlatTable, malformed, toCount } from './flatbuffer-read.js';
import { type ArrowField, type ArrowSchema, type BufferLayout, fieldLayout, type IntType } from './types.js';

export interface DecodedArray {
  readonly field: ArrowField;
  readonly layout: BufferLayout;
  readonly length: number;
  readonly nullCount: number;
  /** Undefined when every row is valid. */
  readonly validity: Uint8Array | undefined;
  /** The layout's buffers after validity, in the format's order. */
  readonly buffers: readonly Uint8Array[];
  readonly children: readonly DecodedArray[];
  /** Values that the indexes of a dictionary-encoded array point to. */
  readonly dictionary: DecodedArray | undefined;
}

export interface DecodedBatch {
  readonly rowCount: number;
  readonly columns: readonly DecodedArray[];
}

export type Dictionaries = ReadonlyMap<bigint, DecodedArray>;

/** Arrays without buffers could claim any length at no cost to the sender. */
const maxArrayLength = 1 << 26;

interface Cursor {
  readonly nodes: readonly (readonly [number, number])[];
  readonly buffers: readonly (readonly [number, number])[];
  readonly body: Uint8Array;
  readonly dictionaries: Dictionaries;
  node: number;
  buffer: number;
}

/** A RecordBatch table and its body. Throws INVALID_ARGUMENT on damage, compression and unsupported layouts. */
export function decodeBatch(
  table: FlatTable,
  body: Uint8Array,
  schema: ArrowSchema,
  dictionaries: Dictionaries,
): DecodedBatch {
  if (table.has(3)) throw malformed('compressed batches are not supported: send them uncompressed');
  if (table.has(4)) throw malformed('views are not supported');
  const rowCount = toCount(table.int64(0, 0n));
  if (rowCount > maxArrayLength) throw malformed(`a batch has ${rowCount} rows`);
  const cursor: Cursor = {
    nodes: table.pairs(1),
    buffers: table.pairs(2),
    body,
    dictionaries,
    node: 0,
    buffer: 0,
  };
  const columns = schema.fields.map((field) => readArray(cursor, field));
  if (cursor.node !== cursor.nodes.length || cursor.buffer !== cursor.buffers.length)
    throw malformed('a batch has more arrays than its schema');
  for (const column of columns)
    if (column.length !== rowCount)
      throw malformed(`column "${column.field.name}" has another length than its batch`);
  return { rowCount, columns };
}

/** The values of a DictionaryBatch table for a field. */
export function decodeDictionaryBatch(
  table: FlatTable,
  body: Uint8Array,
  field: ArrowField,
  dictionaries: Dictionaries,
): DecodedArray {
  const batch = table.table(1);
  if (batch === undefined) throw malformed('a dictionary has no values');
  const values = { ...field, dictionary: undefined };
  const decoded = decodeBatch(batch, body, { fields: [values], metadata: new Map() }, dictionaries);
  const column = decoded.columns[0];
  if (column === undefined) throw malformed('a dictionary has no values');
  return column;
}

function readArray(cursor: Cursor, field: ArrowField): DecodedArray {
  const node = cursor.nodes[cursor.node];
  if (node === undefined) throw malformed('a batch has fewer arrays than its schema');
  cursor.node += 1;
  const [length, nullCount] = node;
  if (length > maxArrayLength) throw malformed(`field "${field.name}" has ${length} rows in one batch`);
  if (nullCount > length) throw malformed(`field "${field.name}" has more nulls than rows`);
  const layout = fieldLayout(field);
  const validity = hasValidity(layout) ? readValidity(cursor, field, length, nullCount) : undefined;
  const buffers = readBuffers(cursor, field, layout, length);
  const isEncoded = field.dictionary !== undefined;
  const children = isEncoded ? [] : field.children.map((child) => readArray(cursor, child));
  const dictionary =
    field.dictionary === undefined ? undefined : cursor.dictionaries.get(field.dictionary.id);
  if (isEncoded && dictionary === undefined && length > nullCount)
    throw malformed(`the dictionary of field "${field.name}" is missing`);
  const array = {
    field,
    layout,
    length,
    nullCount: validity === undefined ? 0 : nullCount,
    validity,
    buffers,
    children,
    dictionary,
  };
  checkArray(array);
  return array;
}

function hasValidity(layout: BufferLayout): boolean {
  if (layout.kind === 'none') return layout.hasValidity;
  return layout.kind !== 'sparseUnion' && layout.kind !== 'denseUnion';
}

function readValidity(
  cursor: Cursor,
  field: ArrowField,
  length: number,
  nullCount: number,
): Uint8Array | undefined {
  const bytes = readBuffer(cursor, field, 0);
  if (nullCount === 0) return undefined;
  if (bytes.byteLength < Math.ceil(length / 8))
    throw malformed(`the validity of field "${field.name}" is too short`);
  return bytes;
}

function readBuffers(cursor: Cursor, field: ArrowField, layout: BufferLayout, length: number): Uint8Array[] {
  switch (layout.kind) {
    case 'none':
      return [];
    case 'bits':
      return [readBuffer(cursor, field, Math.ceil(length / 8))];
    case 'fixed':
      return [readBuffer(cursor, field, length * layout.bytes)];
    case 'sparseUnion':
      return [readBuffer(cursor, field, length)];
    case 'denseUnion':
      return [readBuffer(cursor, field, length), readBuffer(cursor, field, length * 4)];
    case 'list':
      return [readOffsets(cursor, field, length, layout.offsetBytes)];
    case 'variable':
      return [readOffsets(cursor, field, length, layout.offsetBytes), readBuffer(cursor, field, 0)];
  }
}

/** An array without rows may come without its single offset. */
function readOffsets(cursor: Cursor, field: ArrowField, length: number, offsetBytes: number): Uint8Array {
  const bytes = readBuffer(cursor, field, length === 0 ? 0 : (length + 1) * offsetBytes);
  return bytes.byteLength < offsetBytes ? new Uint8Array(new ArrayBuffer(offsetBytes)) : bytes;
}

function readBuffer(cursor: Cursor, field: ArrowField, minBytes: number): Uint8Array {
  const range = cursor.buffers[cursor.buffer];
  if (range === undefined) throw malformed('a batch has fewer buffers than its schema');
  cursor.buffer += 1;
  const [offset, byteCount] = range;
  if (offset + byteCount > cursor.body.byteLength)
    throw malformed(`a buffer of field "${field.name}" lies outside its message`);
  if (offset % 8 !== 0) throw malformed(`a buffer of field "${field.name}" is not aligned to 8 bytes`);
  if (byteCount < minBytes) throw malformed(`a buffer of field "${field.name}" is too short`);
  return cursor.body.subarray(offset, offset + byteCount);
}

/** The first and last element that a variable-length array refers to. */
export function offsetRange(array: DecodedArray): readonly [number, number] {
  return [offsetAt(array, 0), offsetAt(array, array.length)];
}

/** Offset of an element of a list or of variable-length values. */
export function offsetAt(array: DecodedArray, index: number): number {
  const bytes = array.buffers[0];
  if (bytes === undefined || (array.layout.kind !== 'list' && array.layout.kind !== 'variable')) return 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return array.layout.offsetBytes === 4
    ? view.getInt32(index * 4, true)
    : toCount(view.getBigInt64(index * 8, true));
}

export function isValid(array: DecodedArray, index: number): boolean {
  if (array.field.type.kind === 'null' && array.dictionary === undefined) return false;
  if (array.validity === undefined) return true;
  return (((array.validity[index >> 3] ?? 0) >> (index & 7)) & 1) === 1;
}

function checkArray(array: DecodedArray): void {
  const { layout, field, length } = array;
  switch (layout.kind) {
    case 'list':
      checkOffsets(array, array.children[0]?.length ?? 0);
      break;
    case 'variable':
      checkOffsets(array, array.buffers[1]?.byteLength ?? 0);
      if (field.type.kind === 'utf8') checkText(array);
      break;
    case 'none': {
      const factor = field.type.kind === 'fixedList' ? field.type.size : 1;
      for (const child of array.children)
        if (child.length < length * factor)
          throw malformed(`the children of field "${field.name}" are too short`);
      break;
    }
    case 'sparseUnion':
    case 'denseUnion':
      checkUnion(array);
      break;
    case 'fixed':
      if (array.dictionary !== undefined) checkIndexes(array, array.dictionary.length);
      break;
    case 'bits':
      break;
  }
}

function checkOffsets(array: DecodedArray, limit: number): void {
  const bytes = array.buffers[0];
  if (bytes === undefined || (array.layout.kind !== 'list' && array.layout.kind !== 'variable')) return;
  const wrong = () => malformed(`the offsets of field "${array.field.name}" are not ascending or too large`);
  if (array.layout.offsetBytes === 4) {
    const offsets = new Int32Array(bytes.buffer, bytes.byteOffset, array.length + 1);
    let previous = 0;
    for (const offset of offsets) {
      if (offset < previous) throw wrong();
      previous = offset;
    }
    if (previous > limit) throw wrong();
    return;
  }
  const offsets = new BigInt64Array(bytes.buffer, bytes.byteOffset, array.length + 1);
  let previous = 0n;
  for (const offset of offsets) {
    if (offset < previous) throw wrong();
    previous = offset;
  }
  if (previous > BigInt(limit)) throw wrong();
}

/** The engine trusts its texts to be UTF-8. Bytes under a null are nobody's business. */
function checkText(array: DecodedArray): void {
  const values = array.buffers[1];
  if (values === undefined) return;
  const [first, last] = offsetRange(array);
  if (isAscii(values.subarray(first, last))) return;
  if (isUtf8(values.subarray(first, last)) && startsAtCharacters(array, values, last)) return;
  for (let index = 0; index < array.length; index++)
    if (isValid(array, index) && !isUtf8(values.subarray(offsetAt(array, index), offsetAt(array, index + 1))))
      throw malformed(`row ${index} of field "${array.field.name}" is not UTF-8`);
}

/** Whether no row starts inside a character; together with valid whole text this makes every row valid. */
function startsAtCharacters(array: DecodedArray, values: Uint8Array, last: number): boolean {
  for (let index = 1; index < array.length; index++) {
    const start = offsetAt(array, index);
    if (start < last && ((values[start] ?? 0) & 0xc0) === 0x80) return false;
  }
  return true;
}

function checkUnion(array: DecodedArray): void {
  const { field, length } = array;
  if (field.type.kind !== 'union') return;
  const ids = array.buffers[0];
  const { typeIds, mode } = field.type;
  const children = new Map(typeIds.map((id, index) => [id, array.children[index]]));
  const offsets = array.buffers[1];
  const view =
    offsets === undefined ? undefined : new DataView(offsets.buffer, offsets.byteOffset, offsets.byteLength);
  for (let index = 0; index < length; index++) {
    const child = children.get(ids?.[index] ?? -1);
    const position = mode === 'sparse' ? index : (view?.getInt32(index * 4, true) ?? -1);
    if (child === undefined || position < 0 || position >= child.length)
      throw malformed(`row ${index} of union "${field.name}" points to no value`);
  }
}

function checkIndexes(array: DecodedArray, limit: number): void {
  for (let index = 0; index < array.length; index++)
    if (isValid(array, index)) {
      const value = integerAt(array, index);
      if (value < 0n || value >= BigInt(limit))
        throw malformed(`row ${index} of field "${array.field.name}" points outside its dictionary`);
    }
}

/** An integer, or the index of a dictionary-encoded array. */
export function integerAt(array: DecodedArray, index: number): bigint {
  const type = array.field.dictionary?.indexType ?? array.field.type;
  const bytes = array.buffers[0];
  if (type.kind !== 'int' || bytes === undefined)
    throw malformed(`field "${array.field.name}" is no integer`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Named with its type: the linter does not follow the narrowing.
  const bits: IntType['bits'] = type.bits;
  switch (bits) {
    case 8:
      return BigInt(type.signed ? view.getInt8(index) : view.getUint8(index));
    case 16:
      return BigInt(type.signed ? view.getInt16(index * 2, true) : view.getUint16(index * 2, true));
    case 32:
      return BigInt(type.signed ? view.getInt32(index * 4, true) : view.getUint32(index * 4, true));
    case 64:
      return type.signed ? view.getBigInt64(index * 8, true) : view.getBigUint64(index * 8, true);
  }
}
