/** The columns of an Avro file as a Parquet footer spells them (Parquet format, `SchemaElement` and `ColumnMetaData`). */
import { wireType } from '../parquet/thrift/compact-reader.js';
import type { CompactWriter } from '../parquet/thrift/compact-writer.js';
import { type ChunkPlace, writeChunk } from '../staging/constant-chunk.js';
import type { AvroColumn, ColumnShape, LeafEncoding, LeafMeaning } from './avro-columns.js';

const repetitions = { required: 0, optional: 1, repeated: 2 } as const;
const convertedTypes = { string: 0, map: 1, list: 3, decimal: 5, date: 6 } as const;
const unitIds = { millis: 1, micros: 2, nanos: 3 } as const;

/** Bytes of the decimals that are written: enough for 38 digits. */
export const decimalBytes = 16;

/** A leaf with the names that lead to it, and how often what is on the way may repeat or be missing. */
export interface LeafPath {
  readonly path: readonly string[];
  readonly encoding: LeafEncoding;
  /** At the top level or in required structs: each row has one value. */
  readonly isFlat: boolean;
}

/** The leaves of columns in the order of their chunks. `unreadable` ones have a leaf that nothing is written to. */
export function leavesOf(columns: readonly AvroColumn[]): readonly LeafPath[] {
  return columns.flatMap(({ name, shape }) => leavesOfShape([name], shape, true));
}

function leavesOfShape(path: readonly string[], shape: ColumnShape, isFlat: boolean): readonly LeafPath[] {
  const below = ({ name, shape: inner }: AvroColumn, names: readonly string[], flat: boolean) =>
    leavesOfShape([...path, ...names, name], inner, flat);
  switch (shape.kind) {
    case 'leaf':
      return [{ path, encoding: shape.encoding, isFlat }];
    case 'struct':
      return presentOf(shape.fields).flatMap((field) => below(field, [], isFlat));
    case 'list':
      return below(shape.element, ['list'], false);
    case 'map':
      return [...below(shape.key, ['key_value'], false), ...below(shape.value, ['key_value'], false)];
    case 'unreadable':
      return [{ path: [...path, 'nothing'], encoding: { kind: 'boolean' }, isFlat }];
  }
}

/** Elements of the root and of all below it. */
export function writeSchema(
  writer: CompactWriter,
  columns: readonly AvroColumn[],
  more: readonly ((writer: CompactWriter) => void)[] = [],
): void {
  const count = columns.reduce((sum, { shape }) => sum + elementCount(shape), 1 + more.length);
  writer.list(2, wireType.struct, count);
  writer.structElement(() => {
    writer.binary(4, Buffer.from('schema'));
    writer.i32(5, columns.length + more.length);
  });
  for (const column of columns) writeColumn(writer, column);
  for (const write of more) write(writer);
}

function elementCount(shape: ColumnShape): number {
  switch (shape.kind) {
    case 'leaf':
      return 1;
    case 'struct':
      return presentOf(shape.fields).reduce((sum, field) => sum + elementCount(field.shape), 1);
    case 'list':
      return 2 + elementCount(shape.element.shape);
    case 'map':
      return 2 + elementCount(shape.key.shape) + elementCount(shape.value.shape);
    case 'unreadable':
      return 2;
  }
}

function writeColumn(writer: CompactWriter, { name, fieldId, union, shape }: AvroColumn): void {
  const repetition = union?.null === undefined ? 'required' : 'optional';
  const group = (childCount: number, converted?: 'map' | 'list'): void =>
    writeGroup(writer, { name, fieldId, repetition, childCount, converted });
  const inner = (innerName: string, childCount: number): void =>
    writeGroup(writer, { name: innerName, fieldId: undefined, repetition: 'repeated', childCount });
  switch (shape.kind) {
    case 'leaf':
      writeLeaf(writer, { name, fieldId, repetition }, shape.encoding, shape.meaning);
      break;
    case 'struct': {
      const fields = presentOf(shape.fields);
      group(fields.length);
      for (const field of fields) writeColumn(writer, field);
      break;
    }
    case 'list':
      group(1, 'list');
      inner('list', 1);
      writeColumn(writer, shape.element);
      break;
    case 'map':
      group(1, 'map');
      inner('key_value', 2);
      writeColumn(writer, shape.key);
      writeColumn(writer, shape.value);
      break;
    case 'unreadable':
      // A list that nothing repeats in: whoever reads the schema takes it for what it cannot read.
      group(1, 'list');
      writeLeaf(
        writer,
        { name: 'nothing', fieldId: undefined, repetition: 'optional' },
        { kind: 'boolean' },
        undefined,
      );
  }
}

function presentOf(fields: readonly (AvroColumn | undefined)[]): readonly AvroColumn[] {
  return fields.filter((field) => field !== undefined);
}

interface Element {
  readonly name: string;
  readonly fieldId: number | undefined;
  readonly repetition: keyof typeof repetitions;
}

function writeGroup(
  writer: CompactWriter,
  {
    name,
    fieldId,
    repetition,
    childCount,
    converted,
  }: Element & { readonly childCount: number; readonly converted?: 'map' | 'list' | undefined },
): void {
  writer.structElement(() => {
    writer.i32(3, repetitions[repetition]);
    writer.binary(4, Buffer.from(name));
    writer.i32(5, childCount);
    if (converted !== undefined) writer.i32(6, convertedTypes[converted]);
    if (fieldId !== undefined) writer.i32(9, fieldId);
  });
}

function writeLeaf(
  writer: CompactWriter,
  { name, fieldId, repetition }: Element,
  encoding: LeafEncoding,
  meaning: LeafMeaning | undefined,
): void {
  writer.structElement(() => {
    writer.i32(1, physicalType(encoding));
    if (encoding.kind === 'fixed') writer.i32(2, encoding.size);
    if (encoding.kind === 'decimal') writer.i32(2, decimalBytes);
    writer.i32(3, repetitions[repetition]);
    writer.binary(4, Buffer.from(name));
    if (meaning?.kind === 'string' || meaning?.kind === 'date') writer.i32(6, convertedTypes[meaning.kind]);
    if (meaning?.kind === 'decimal') {
      writer.i32(6, convertedTypes.decimal);
      writer.i32(7, meaning.scale);
      writer.i32(8, meaning.precision);
    }
    if (fieldId !== undefined) writer.i32(9, fieldId);
    if (meaning?.kind === 'uuid') writer.struct(10, () => writer.struct(14, () => undefined));
    if (meaning?.kind === 'time' || meaning?.kind === 'timestamp')
      writer.struct(10, () => writeTime(writer, meaning));
  });
}

function writeTime(
  writer: CompactWriter,
  { kind, unit, isAdjustedToUtc }: Extract<LeafMeaning, { readonly unit: unknown }>,
): void {
  writer.struct(kind === 'time' ? 7 : 8, () => {
    writer.raw(1, isAdjustedToUtc ? wireType.true : wireType.false, new Uint8Array());
    writer.struct(2, () => writer.struct(unitIds[unit], () => undefined));
  });
}

/** As the format numbers them. */
function physicalType({ kind }: LeafEncoding): number {
  switch (kind) {
    case 'boolean':
      return 0;
    case 'int':
      return 1;
    case 'long':
      return 2;
    case 'float':
      return 4;
    case 'double':
      return 5;
    case 'bytes':
    case 'symbol':
      return 6;
    case 'fixed':
    case 'decimal':
      return 7;
  }
}

/** The ColumnChunk of a leaf with one uncompressed page of plain values. */
export function writeLeafChunk(writer: CompactWriter, { path, encoding }: LeafPath, chunk: ChunkPlace): void {
  writeChunk(writer, physicalType(encoding), path, chunk);
}
