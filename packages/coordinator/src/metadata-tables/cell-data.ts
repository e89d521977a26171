/**
 * Cells of metadata tables as Arrow data. Built here and not by apache-arrow's own builders: those take a value of a
 * map or struct at a time through several objects each, and such a table may have a million.
 */
import { QueryError } from '@svc/base';
import type { Cell, IcebergType, PrimitiveType } from '@svc/lake';
import { type Data, type DataType, makeData } from 'apache-arrow';
import { arrowType } from '../results/table-arrow-schema.js';

type Cells = readonly (Cell | undefined)[];

/** One column. The cells have the form that `Cell` names for the type; UUIDs become text, nanoseconds with a zone microseconds. */
export function cellData(type: IcebergType, cells: Cells): Data {
  const shared = { length: cells.length, ...validity(cells) };
  const arrow = arrowType(type, 'UTC');
  switch (type.kind) {
    case 'list': {
      const lists = cells.map((cell) => (isSequence(cell) ? cell : []));
      const child = cellData(type.element, lists.flat());
      return dataOf({
        type: arrow,
        ...shared,
        valueOffsets: offsets(lists, ({ length }) => length),
        child,
      });
    }
    case 'map': {
      const [keys, values]: [Cell[], Cell[]] = [[], []];
      const ends = offsets(cells, (cell) => {
        if (!(cell instanceof Map)) return 0;
        for (const [key, value] of cell) {
          keys.push(key);
          values.push(value);
        }
        return cell.size;
      });
      const child = dataOf({
        type: arrow.children[0]?.type,
        length: keys.length,
        nullCount: 0,
        children: [cellData(type.key, keys), cellData(type.value, values)],
      });
      return dataOf({ type: arrow, ...shared, valueOffsets: ends, child });
    }
    case 'struct': {
      const structs = cells.map((cell) => (isSequence(cell) ? cell : []));
      const children = type.fields.map((field, index) =>
        cellData(
          field.type,
          structs.map((struct) => struct[index]),
        ),
      );
      return dataOf({ type: arrow, ...shared, children });
    }
    case 'boolean': {
      const data = new Uint8Array(Math.ceil(cells.length / 8));
      cells.forEach((cell, index) => {
        if (cell === true) setBit(data, index);
      });
      return dataOf({ type: arrow, ...shared, data });
    }
    default:
      return dataOf({ type: arrow, ...shared, ...primitives(type, cells) });
  }
}

function primitives(type: PrimitiveType, cells: Cells) {
  switch (type.kind) {
    case 'string':
      return textData(cells.map((cell) => (typeof cell === 'string' ? cell : '')));
    case 'uuid':
      return textData(cells.map(uuidText));
    case 'fixed':
    case 'binary':
    case 'unsupported': {
      const values = cells.map((cell) => (cell instanceof Uint8Array ? cell : noBytes));
      return { valueOffsets: offsets(values, ({ length }) => length), data: Buffer.concat(values) };
    }
    case 'float':
      return { data: numbers(new Float32Array(cells.length), cells) };
    case 'double':
      return { data: numbers(new Float64Array(cells.length), cells) };
    case 'decimal':
      return { data: decimals(cells) };
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
      return { data: longs(cells, 1n) };
    case 'timestamptz_ns':
      return { data: longs(cells, 1000n) };
    default:
      return { data: numbers(new Int32Array(cells.length), cells) };
  }
}

const noBytes = new Uint8Array();

function numbers<T extends Int32Array | Float32Array | Float64Array>(target: T, cells: Cells): T {
  cells.forEach((cell, index) => {
    if (typeof cell === 'number') target[index] = cell;
  });
  return target;
}

function longs(cells: Cells, divisor: bigint): BigInt64Array {
  const target = new BigInt64Array(cells.length);
  cells.forEach((cell, index) => {
    const value = bigintOf(cell);
    target[index] = divisor === 1n ? value : (value - (((value % divisor) + divisor) % divisor)) / divisor;
  });
  return target;
}

function isSequence(cell: Cell | undefined): cell is readonly Cell[] {
  return Array.isArray(cell);
}

function bigintOf(cell: Cell | undefined): bigint {
  if (typeof cell === 'bigint') return cell;
  return typeof cell === 'number' ? BigInt(cell) : 0n;
}

function validity(cells: Cells): { readonly nullCount: number; readonly nullBitmap?: Uint8Array } {
  const bitmap = new Uint8Array(Math.ceil(cells.length / 8));
  let nullCount = 0;
  cells.forEach((cell, index) => {
    if (cell === null || cell === undefined) nullCount++;
    else setBit(bitmap, index);
  });
  return nullCount === 0 ? { nullCount } : { nullCount, nullBitmap: bitmap };
}

function setBit(bitmap: Uint8Array, index: number): void {
  bitmap[index >> 3] = (bitmap[index >> 3] ?? 0) | (1 << (index & 7));
}

function offsets<T>(values: readonly T[], lengthOf: (value: T) => number): Int32Array {
  const ends = new Int32Array(values.length + 1);
  let end = 0;
  values.forEach((value, index) => {
    end += lengthOf(value);
    if (end > 0x7fffffff)
      throw new QueryError('RESULT_TOO_LARGE', 'A column of a metadata table is too large.');
    ends[index + 1] = end;
  });
  return ends;
}

function textData(texts: readonly string[]) {
  const valueOffsets = offsets(texts, (text) => Buffer.byteLength(text));
  const data = Buffer.allocUnsafe(valueOffsets[texts.length] ?? 0);
  texts.forEach((text, index) => {
    data.write(text, valueOffsets[index] ?? 0);
  });
  return { valueOffsets, data };
}

/** Two's complement of 128 bits, least significant word first. */
function decimals(cells: Cells): Uint32Array {
  const words = new Uint32Array(cells.length * 4);
  cells.forEach((cell, index) => {
    let rest = BigInt.asUintN(128, bigintOf(cell));
    for (let word = 0; word < 4; word++, rest >>= 32n) words[index * 4 + word] = Number(rest & 0xffffffffn);
  });
  return words;
}

function uuidText(cell: Cell | undefined): string {
  if (!(cell instanceof Uint8Array)) return '';
  const hex = Buffer.from(cell).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

interface DataParts {
  readonly type: DataType | undefined;
  readonly length: number;
  readonly nullCount: number;
  readonly nullBitmap?: Uint8Array;
  readonly valueOffsets?: Int32Array;
  readonly data?: ArrayBufferView;
  readonly child?: Data;
  readonly children?: readonly Data[];
}

/** `makeData` has an overload for each type, of which none takes one that is known at run time only. */
function dataOf(parts: DataParts): Data {
  return makeData(parts as Parameters<typeof makeData>[0]);
}
