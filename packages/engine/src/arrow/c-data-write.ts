/**
 * Schemas and checked batches as structs of the Arrow C data interface, over the batch's own buffers. The structs and
 * buffers live as long as the CData object is referenced: keep it until the engine has released its chunk.
 */
import { arrowArrayLayout, arrowSchemaFlags, arrowSchemaLayout } from '../capi/layouts.js';
import { type Address, addressOf, noOperation } from '../capi/memory.js';
import { formatOfType } from './c-format.js';
import type { DecodedArray, DecodedBatch } from './decoded-array.js';
import type { ArrowField, ArrowSchema } from './types.js';

/** Memory that C code points into. */
export interface CData {
  readonly address: Address;
  /** Everything that `address` leads to, kept from being collected. */
  readonly memory: readonly Uint8Array[];
}

const word = 8;
/** Stands for buffers without bytes: a null pointer would mean that there is none. */
const emptyBuffer = new Uint8Array(new ArrayBuffer(64));
const emptyBufferAddress = addressOf(emptyBuffer);

/** Dictionary encoding is left out: batches are written without it. */
export function writeCSchema(schema: ArrowSchema): CData {
  const memory: Uint8Array[] = [];
  const children = schema.fields.map((field) => writeField(memory, field));
  return { address: writeSchemaStruct(memory, { format: '+s', children }), memory };
}

/** Where the buffers of a batch lie: found once, used for all its slices. */
export type BufferAddresses = Map<Uint8Array, Address>;

/**
 * Rows `start` to `start + count` of a batch without dictionaries; `start` must be a multiple of 8. The batch must
 * outlive the result.
 */
export function writeCBatch(
  batch: DecodedBatch,
  start: number,
  count: number,
  addresses: BufferAddresses,
): CData {
  const memory: Uint8Array[] = [];
  const children = batch.columns.map((column) => writeArray({ memory, addresses }, column, start, count));
  const address = writeArrayStruct(memory, {
    length: count,
    nullCount: 0,
    buffers: [0],
    children,
  });
  return { address, memory };
}

interface SchemaStruct {
  readonly format: string;
  readonly name?: string;
  readonly flags?: number;
  readonly metadata?: ReadonlyMap<string, string>;
  readonly children: readonly Address[];
}

function writeField(memory: Uint8Array[], field: ArrowField): Address {
  const children = field.children.map((child) => writeField(memory, child));
  const nullable = field.nullable ? arrowSchemaFlags.nullable : 0;
  const sorted = field.type.kind === 'map' && field.type.keysSorted ? arrowSchemaFlags.mapKeysSorted : 0;
  const type = { format: formatOfType(field.type), children };
  const shared = { name: field.name, metadata: field.metadata };
  return writeSchemaStruct(memory, { ...shared, ...type, flags: nullable | sorted });
}

function writeSchemaStruct(memory: Uint8Array[], schema: SchemaStruct): Address {
  const { view, address } = allocate(memory, arrowSchemaLayout.size);
  const set = (offset: number, value: number) => view.setBigUint64(offset, BigInt(value), true);
  set(arrowSchemaLayout.format, writeText(memory, schema.format));
  set(arrowSchemaLayout.name, writeText(memory, schema.name ?? ''));
  set(arrowSchemaLayout.metadata, writeMetadata(memory, schema.metadata ?? new Map()));
  set(arrowSchemaLayout.flags, schema.flags ?? 0);
  set(arrowSchemaLayout.childCount, schema.children.length);
  set(arrowSchemaLayout.children, writeAddresses(memory, schema.children));
  set(arrowSchemaLayout.dictionary, 0);
  set(arrowSchemaLayout.release, noOperation);
  return address;
}

interface ArrayStruct {
  readonly length: number;
  readonly nullCount: number;
  readonly buffers: readonly Address[];
  readonly children: readonly Address[];
}

interface ArrayTarget {
  readonly memory: Uint8Array[];
  readonly addresses: BufferAddresses;
}

function writeArray(target: ArrayTarget, array: DecodedArray, start: number, count: number): Address {
  const { layout } = array;
  if (array.field.dictionary !== undefined)
    throw new RangeError('dictionaries are expanded before they are written');
  const type = array.field.type;
  const factor = type.kind === 'fixedList' ? type.size : 1;
  const isWhole = layout.kind === 'list' || layout.kind === 'denseUnion';
  return writeArrayStruct(target.memory, {
    length: count,
    // -1: the engine counts for itself where the rows are a part of the array.
    nullCount: type.kind === 'null' ? count : array.nullCount === 0 ? 0 : -1,
    buffers: bufferAddresses(target.addresses, array, start),
    children: array.children.map((child) =>
      isWhole
        ? writeArray(target, child, 0, child.length)
        : writeArray(target, child, start * factor, count * factor),
    ),
  });
}

/** The buffers in the format's order, each from row `start` on. */
function bufferAddresses(addresses: BufferAddresses, array: DecodedArray, start: number): Address[] {
  const { layout } = array;
  const at = (bytes: Uint8Array | undefined, offset: number): Address => {
    if (bytes === undefined) return 0;
    if (bytes.byteLength === 0) return emptyBufferAddress;
    let address = addresses.get(bytes);
    if (address === undefined) {
      address = addressOf(bytes);
      addresses.set(bytes, address);
    }
    return address + offset;
  };
  const validity = at(array.validity, start / 8);
  const [first, second] = array.buffers;
  switch (layout.kind) {
    case 'none':
      return layout.hasValidity ? [validity] : [];
    case 'bits':
      return [validity, at(first, start / 8)];
    case 'fixed':
      return [validity, at(first, start * layout.bytes)];
    case 'sparseUnion':
      return [at(first, start)];
    case 'denseUnion':
      return [at(first, start), at(second, start * 4)];
    case 'list':
      return [validity, at(first, start * layout.offsetBytes)];
    case 'variable':
      return [validity, at(first, start * layout.offsetBytes), at(second, 0)];
  }
}

function writeArrayStruct(memory: Uint8Array[], array: ArrayStruct): Address {
  const { view, address } = allocate(memory, arrowArrayLayout.size);
  const set = (offset: number, value: number) => view.setBigInt64(offset, BigInt(value), true);
  set(arrowArrayLayout.length, array.length);
  set(arrowArrayLayout.nullCount, array.nullCount);
  set(arrowArrayLayout.offset, 0);
  set(arrowArrayLayout.bufferCount, array.buffers.length);
  set(arrowArrayLayout.childCount, array.children.length);
  set(arrowArrayLayout.buffers, writeAddresses(memory, array.buffers));
  set(arrowArrayLayout.children, writeAddresses(memory, array.children));
  set(arrowArrayLayout.dictionary, 0);
  set(arrowArrayLayout.release, noOperation);
  return address;
}

function writeText(memory: Uint8Array[], text: string): Address {
  const encoded = Buffer.from(text.replaceAll('\0', ''), 'utf8');
  const { bytes, address } = allocate(memory, encoded.byteLength + 1);
  bytes.set(encoded);
  return address;
}

/** Count, then per pair length-prefixed key and value. */
function writeMetadata(memory: Uint8Array[], metadata: ReadonlyMap<string, string>): Address {
  if (metadata.size === 0) return 0;
  const parts: Buffer[] = [int32(metadata.size)];
  for (const pair of metadata)
    for (const part of pair) {
      const encoded = Buffer.from(part, 'utf8');
      parts.push(int32(encoded.byteLength), encoded);
    }
  const all = Buffer.concat(parts);
  const { bytes, address } = allocate(memory, all.byteLength);
  bytes.set(all);
  return address;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function writeAddresses(memory: Uint8Array[], addresses: readonly Address[]): Address {
  if (addresses.length === 0) return 0;
  const { view, address } = allocate(memory, addresses.length * word);
  addresses.forEach((value, index) => {
    view.setBigUint64(index * word, BigInt(value), true);
  });
  return address;
}

function allocate(
  memory: Uint8Array[],
  byteCount: number,
): { readonly bytes: Uint8Array; readonly view: DataView; readonly address: Address } {
  const bytes = new Uint8Array(new ArrayBuffer(byteCount));
  memory.push(bytes);
  return { bytes, view: new DataView(bytes.buffer), address: addressOf(bytes) };
}
