/**
 * Message flatbuffers of the Arrow IPC format (format/Message.fbs, format/Schema.fbs of Apache Arrow, metadata
 * version 5). Slot numbers below are the fields' positions in those tables.
 */
import { Builder } from 'flatbuffers';
import type { ArrowField, ArrowSchema, ArrowType, TimeUnit } from './types.js';

/** Length and null count of one array of a batch, in depth-first order. */
export interface FieldNode {
  readonly length: number;
  readonly nullCount: number;
}

/** Position of one buffer in the body. */
export interface BufferRange {
  readonly offset: number;
  readonly byteCount: number;
}

export interface BatchLayout {
  readonly rowCount: number;
  readonly nodes: readonly FieldNode[];
  readonly buffers: readonly BufferRange[];
  readonly bodyBytes: number;
}

const metadataVersion5 = 4;
const headerKind = { schema: 1, dictionaryBatch: 2, recordBatch: 3 } as const;
const continuation = 0xffffffff;
const units: Readonly<Record<TimeUnit, number>> = {
  second: 0,
  millisecond: 1,
  microsecond: 2,
  nanosecond: 3,
};

/** Message flatbuffer of a schema, without prefix. */
export function encodeSchemaMessage(schema: ArrowSchema): Uint8Array {
  const builder = new Builder(1024);
  const fields = schema.fields.map((field) => writeField(builder, field));
  const vector = writeOffsets(builder, fields);
  const metadata = writeMetadata(builder, schema.metadata);
  builder.startObject(4);
  builder.addFieldOffset(1, vector, 0);
  if (metadata !== 0) builder.addFieldOffset(2, metadata, 0);
  return finishMessage(builder, headerKind.schema, builder.endObject(), 0);
}

/** Encapsulated message: continuation marker, length, flatbuffer padded to 8 bytes. No body follows a schema. */
export function encapsulate(message: Uint8Array): Uint8Array {
  const padded = (message.byteLength + 7) & ~7;
  const bytes = new Uint8Array(8 + padded);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, continuation, true);
  view.setInt32(4, padded, true);
  bytes.set(message, 8);
  return bytes;
}

/** Message flatbuffer of a record batch, without prefix. */
export function encodeBatchMessage(layout: BatchLayout): Uint8Array {
  const builder = new Builder(256 + 16 * (layout.nodes.length + layout.buffers.length));
  return finishMessage(builder, headerKind.recordBatch, writeBatch(builder, layout), layout.bodyBytes);
}

/** Message flatbuffer of a dictionary batch (never a delta), without prefix. */
export function encodeDictionaryMessage(id: bigint, layout: BatchLayout): Uint8Array {
  const builder = new Builder(256);
  const batch = writeBatch(builder, layout);
  builder.startObject(3);
  builder.addFieldInt64(0, id, 0n);
  builder.addFieldOffset(1, batch, 0);
  return finishMessage(builder, headerKind.dictionaryBatch, builder.endObject(), layout.bodyBytes);
}

function finishMessage(builder: Builder, kind: number, header: number, bodyBytes: number): Uint8Array {
  builder.startObject(5);
  builder.addFieldInt64(3, BigInt(bodyBytes), 0n);
  builder.addFieldOffset(2, header, 0);
  builder.addFieldInt16(0, metadataVersion5, 0);
  builder.addFieldInt8(1, kind, 0);
  builder.finish(builder.endObject());
  return builder.asUint8Array();
}

function writeBatch(builder: Builder, layout: BatchLayout): number {
  builder.startVector(16, layout.nodes.length, 8);
  for (const node of layout.nodes.toReversed()) writePair(builder, node.length, node.nullCount);
  const nodes = builder.endVector();
  builder.startVector(16, layout.buffers.length, 8);
  for (const buffer of layout.buffers.toReversed()) writePair(builder, buffer.offset, buffer.byteCount);
  const buffers = builder.endVector();
  builder.startObject(5);
  builder.addFieldInt64(0, BigInt(layout.rowCount), 0n);
  builder.addFieldOffset(1, nodes, 0);
  builder.addFieldOffset(2, buffers, 0);
  return builder.endObject();
}

/** FieldNode and Buffer are both structs of two 64-bit integers, and flatbuffers are written back to front. */
function writePair(builder: Builder, first: number, second: number): void {
  builder.prep(8, 16);
  builder.writeInt64(BigInt(second));
  builder.writeInt64(BigInt(first));
}

function writeOffsets(builder: Builder, offsets: readonly number[]): number {
  builder.startVector(4, offsets.length, 4);
  for (const offset of offsets.toReversed()) builder.addOffset(offset);
  return builder.endVector();
}

function writeMetadata(builder: Builder, metadata: ReadonlyMap<string, string>): number {
  if (metadata.size === 0) return 0;
  const pairs = [...metadata].map(([key, value]) => {
    const keyText = builder.createString(key);
    const valueText = builder.createString(value);
    builder.startObject(2);
    builder.addFieldOffset(0, keyText, 0);
    builder.addFieldOffset(1, valueText, 0);
    return builder.endObject();
  });
  return writeOffsets(builder, pairs);
}

function writeField(builder: Builder, field: ArrowField): number {
  const children = writeOffsets(
    builder,
    field.children.map((child) => writeField(builder, child)),
  );
  const name = builder.createString(field.name);
  const metadata = writeMetadata(builder, field.metadata);
  const dictionary = field.dictionary === undefined ? 0 : writeDictionary(builder, field.dictionary);
  const [kind, type] = writeType(builder, field.type);
  builder.startObject(7);
  builder.addFieldOffset(0, name, 0);
  builder.addFieldInt8(1, field.nullable ? 1 : 0, 0);
  builder.addFieldInt8(2, kind, 0);
  builder.addFieldOffset(3, type, 0);
  if (dictionary !== 0) builder.addFieldOffset(4, dictionary, 0);
  builder.addFieldOffset(5, children, 0);
  if (metadata !== 0) builder.addFieldOffset(6, metadata, 0);
  return builder.endObject();
}

function writeDictionary(builder: Builder, dictionary: NonNullable<ArrowField['dictionary']>): number {
  const [, indexType] = writeType(builder, dictionary.indexType);
  builder.startObject(4);
  builder.addFieldInt64(0, dictionary.id, 0n);
  builder.addFieldOffset(1, indexType, 0);
  builder.addFieldInt8(2, dictionary.ordered ? 1 : 0, 0);
  return builder.endObject();
}

/** Number of the type in the union `Type`, and the offset of its table. */
function writeType(builder: Builder, type: ArrowType): readonly [number, number] {
  const table = (
    kind: number,
    fieldCount: number,
    write: () => void = () => {},
  ): readonly [number, number] => {
    builder.startObject(fieldCount);
    write();
    return [kind, builder.endObject()];
  };
  switch (type.kind) {
    case 'null':
      return table(1, 0);
    case 'int':
      return table(2, 2, () => {
        builder.addFieldInt32(0, type.bits, 0);
        builder.addFieldInt8(1, type.signed ? 1 : 0, 0);
      });
    case 'float':
      return table(3, 1, () => builder.addFieldInt16(0, type.bits === 16 ? 0 : type.bits === 32 ? 1 : 2, 0));
    case 'binary':
      return table(type.large ? 19 : 4, 0);
    case 'utf8':
      return table(type.large ? 20 : 5, 0);
    case 'bool':
      return table(6, 0);
    case 'decimal':
      return table(7, 3, () => {
        builder.addFieldInt32(0, type.precision, 0);
        builder.addFieldInt32(1, type.scale, 0);
        builder.addFieldInt32(2, type.bits, 128);
      });
    case 'date':
      return table(8, 1, () => builder.addFieldInt16(0, type.unit === 'day' ? 0 : 1, 1));
    case 'time':
      return table(9, 2, () => {
        builder.addFieldInt16(0, units[type.unit], 1);
        builder.addFieldInt32(1, type.unit === 'second' || type.unit === 'millisecond' ? 32 : 64, 32);
      });
    case 'timestamp': {
      const timezone = type.timezone === undefined ? 0 : builder.createString(type.timezone);
      return table(10, 2, () => {
        builder.addFieldInt16(0, units[type.unit], 0);
        if (timezone !== 0) builder.addFieldOffset(1, timezone, 0);
      });
    }
    case 'interval':
      return table(11, 1, () =>
        builder.addFieldInt16(0, type.unit === 'yearMonth' ? 0 : type.unit === 'dayTime' ? 1 : 2, 0),
      );
    case 'list':
      return table(type.large ? 21 : 12, 0);
    case 'struct':
      return table(13, 0);
    case 'union': {
      builder.startVector(4, type.typeIds.length, 4);
      for (const id of type.typeIds.toReversed()) builder.addInt32(id);
      const ids = builder.endVector();
      return table(14, 2, () => {
        builder.addFieldInt16(0, type.mode === 'sparse' ? 0 : 1, 0);
        builder.addFieldOffset(1, ids, 0);
      });
    }
    case 'fixedBinary':
      return table(15, 1, () => builder.addFieldInt32(0, type.width, 0));
    case 'fixedList':
      return table(16, 1, () => builder.addFieldInt32(0, type.size, 0));
    case 'map':
      return table(17, 1, () => builder.addFieldInt8(0, type.keysSorted ? 1 : 0, 0));
    case 'duration':
      return table(18, 1, () => builder.addFieldInt16(0, units[type.unit], 1));
  }
}
