/**
 * Turns columns into a function that moves one record's values from Avro data into column buffers, without an object
 * or a bigint on the way (the levels are those of Dremel: Parquet format, "Nested Encoding"). What no column wants is skipped.
 */
import { AvroError } from '../iceberg/avro/avro-error.js';
import type { AvroCursor } from '../iceberg/avro/cursor.js';
import type { AvroRecord } from '../iceberg/avro/schema.js';
import { compileSkip } from '../iceberg/avro/skip.js';
import { type AvroColumn, columnsOfRecord, isReadable, type LeafEncoding } from './avro-columns.js';
import { ColumnBuffer, type RowGroupLoad } from './column-buffer.js';
import { decimalBytes } from './encode-columns.js';

/** Moves one value; `repetition` says which of the lists around it goes on with it. */
type Move = (cursor: AvroCursor, repetition: number) => void;

export interface RowGroupDraft {
  readonly load: RowGroupLoad;
  /** In the order of the leaves. */
  readonly columns: readonly ColumnBuffer[];
  readonly moveRecord: (cursor: AvroCursor) => void;
}

/** The columns of a file's records by their names, as they can be read: without fields that cannot. */
export function readableColumns(record: AvroRecord, names: ReadonlySet<string>): readonly AvroColumn[] {
  return columnsOfRecord(record)
    .filter(isReadable)
    .filter(({ name }) => names.has(name))
    .map(withoutUnreadable);
}

function withoutUnreadable(column: AvroColumn): AvroColumn {
  const { shape } = column;
  switch (shape.kind) {
    case 'struct': {
      const fields = shape.fields.map((field) => (isReadable(field) ? withoutUnreadable(field) : undefined));
      return { ...column, shape: { ...shape, fields } };
    }
    case 'list':
      return { ...column, shape: { ...shape, element: withoutUnreadable(shape.element) } };
    case 'map': {
      const [key, value] = [withoutUnreadable(shape.key), withoutUnreadable(shape.value)];
      return { ...column, shape: { ...shape, key, value } };
    }
    default:
      return column;
  }
}

/** `columns` are some of the record's, in its order, each under a name of its own. */
export function draftRowGroup(record: AvroRecord, columns: readonly AvroColumn[]): RowGroupDraft {
  const draft: Draft = { load: { bytes: 0, cells: 0 }, columns: [] };
  const byName = new Map(columns.map((column) => [column.name, column]));
  const fields = record.fields.map(({ name }) => byName.get(name));
  const move = compileFields(record, fields, draft, { definition: 0, repetition: 0 });
  return { load: draft.load, columns: draft.columns, moveRecord: (cursor) => move(cursor, 0) };
}

interface Draft {
  readonly load: RowGroupLoad;
  readonly columns: ColumnBuffer[];
}

interface Levels {
  readonly definition: number;
  readonly repetition: number;
}

function compileFields(
  record: AvroRecord,
  fields: readonly (AvroColumn | undefined)[],
  draft: Draft,
  levels: Levels,
): Move {
  const moves = record.fields.map(({ type }, index): Move => {
    const column = fields[index];
    return column === undefined ? compileSkip(type) : compileColumn(column, draft, levels);
  });
  return (cursor, repetition) => {
    for (const move of moves) move(cursor, repetition);
  };
}

function compileColumn(column: AvroColumn, draft: Draft, levels: Levels): Move {
  const { union } = column;
  if (union === undefined) return compileShape(column, draft, levels);
  const first = draft.columns.length;
  const isOptional = union.null !== undefined;
  const move = compileShape(column, draft, {
    ...levels,
    definition: levels.definition + (isOptional ? 1 : 0),
  });
  const below = draft.columns.slice(first);
  const { definition } = levels;
  return (cursor, repetition) => {
    const branch = cursor.integer();
    if (branch === union.value) move(cursor, repetition);
    else if (branch === union.null) for (const buffer of below) buffer.addNull(repetition, definition);
    else throw new AvroError('a value has a type that its schema does not list');
  };
}

function compileShape({ shape }: AvroColumn, draft: Draft, levels: Levels): Move {
  switch (shape.kind) {
    case 'leaf': {
      const buffer = new ColumnBuffer(draft.load, {
        maxRepetition: levels.repetition,
        maxDefinition: levels.definition,
      });
      draft.columns.push(buffer);
      return compileLeaf(shape.encoding, buffer);
    }
    case 'struct':
      return compileFields(shape.record, shape.fields, draft, levels);
    case 'list':
      return compileRepeated(draft, levels, (inner) => compileColumn(shape.element, draft, inner));
    case 'map':
      return compileRepeated(draft, levels, (inner) => compilePair(shape, draft, inner));
    case 'unreadable':
      throw new AvroError('a column cannot be read');
  }
}

function compilePair(
  { key, value, record }: { key: AvroColumn; value: AvroColumn; record?: AvroRecord },
  draft: Draft,
  levels: Levels,
): Move {
  const moveKey = compileColumn(key, draft, levels);
  const moveValue = compileColumn(value, draft, levels);
  if (record === undefined)
    return (cursor, repetition) => {
      moveKey(cursor, repetition);
      moveValue(cursor, repetition);
    };
  const moves = record.fields.map(({ name, type }): Move => {
    return name === 'key' ? moveKey : name === 'value' ? moveValue : compileSkip(type);
  });
  return (cursor, repetition) => {
    for (const move of moves) move(cursor, repetition);
  };
}

function compileRepeated(draft: Draft, levels: Levels, compileItem: (inner: Levels) => Move): Move {
  const first = draft.columns.length;
  const inner = { definition: levels.definition + 1, repetition: levels.repetition + 1 };
  const move = compileItem(inner);
  const below = draft.columns.slice(first);
  return (cursor, repetition) => {
    let next = repetition;
    for (let count = cursor.blockCount(); count > 0; count = cursor.blockCount())
      for (; count > 0; count--) {
        move(cursor, next);
        next = inner.repetition;
      }
    // Levels of lists begin at one: it is still what it was where there was no item.
    if (next !== inner.repetition) for (const buffer of below) buffer.addNull(repetition, levels.definition);
  };
}

function compileLeaf(encoding: LeafEncoding, buffer: ColumnBuffer): Move {
  switch (encoding.kind) {
    case 'boolean':
      return (cursor, repetition) => buffer.addFlag(repetition, cursor.boolean());
    case 'int':
      return (cursor, repetition) => {
        const value = cursor.integer();
        if ((value | 0) !== value) throw new AvroError('an int has more than 32 bits');
        const at = buffer.add(repetition, 4);
        buffer.bytes.writeInt32LE(value, at);
      };
    case 'long':
      return (cursor, repetition) => {
        const at = buffer.add(repetition, 8);
        cursor.longTo(buffer.bytes, at);
      };
    case 'float':
      return compileFixed(4, buffer);
    case 'double':
      return compileFixed(8, buffer);
    case 'fixed':
      return compileFixed(encoding.size, buffer);
    case 'bytes':
      return (cursor, repetition) => {
        const length = cursor.integer();
        const start = cursor.advance(length);
        const at = buffer.add(repetition, 4 + length);
        buffer.bytes.writeUInt32LE(length, at);
        copy(cursor.bytes, start, buffer.bytes, at + 4, length);
      };
    case 'symbol': {
      const symbols = encoding.symbols.map((symbol) => Buffer.from(symbol));
      return (cursor, repetition) => {
        const symbol = symbols[cursor.integer()];
        if (symbol === undefined) throw new AvroError('an enum has a value that its schema does not list');
        const at = buffer.add(repetition, 4 + symbol.length);
        buffer.bytes.writeUInt32LE(symbol.length, at);
        buffer.bytes.set(symbol, at + 4);
      };
    }
    case 'decimal':
      return (cursor, repetition) => {
        const bytes = cursor.take(encoding.size ?? cursor.integer());
        const at = buffer.add(repetition, decimalBytes);
        writeDecimal(bytes, buffer.bytes, at);
      };
  }
}

function compileFixed(size: number, buffer: ColumnBuffer): Move {
  return (cursor, repetition) => {
    const start = cursor.advance(size);
    const at = buffer.add(repetition, size);
    copy(cursor.bytes, start, buffer.bytes, at, size);
  };
}

/** Of few bytes a loop is quicker than the call. */
const maxLoopBytes = 24;

function copy(source: Buffer, start: number, target: Buffer, at: number, length: number): void {
  if (length > maxLoopBytes) source.copy(target, at, start, start + length);
  else for (let index = 0; index < length; index++) target[at + index] = source[start + index] ?? 0;
}

/** A big-endian number in two's complement, in as many bytes as its writer took, becomes one of 16 bytes. */
function writeDecimal(bytes: Buffer, target: Buffer, at: number): void {
  const [first] = bytes;
  if (first === undefined) throw new AvroError('a decimal has no digits');
  const sign = first & 0x80 ? 0xff : 0;
  const excess = bytes.length - decimalBytes;
  target.fill(sign, at, at + decimalBytes);
  if (excess > 0) {
    const isSmall = bytes.subarray(0, excess).every((byte) => byte === sign);
    if (!isSmall || ((bytes[excess] ?? 0) & 0x80) !== (sign & 0x80))
      throw new AvroError('a decimal has more than 38 digits');
  }
  bytes.copy(target, at + Math.max(0, -excess), Math.max(0, excess));
}
