/** PLAIN-encoded single values of a column, as statistics and bloom filters hold them, and the table's values. */
import type { PrimitiveType } from '../iceberg/spec/types.js';
import type { Comparable } from '../iceberg/spec/values.js';
import type { LogicalType, TimeUnit } from './logical-type.js';
import type { ParquetLeaf } from './schema.js';

const dayMicros = 86_400_000_000n;

/** A range that a physical value stands for: wider than a point where the table's type is coarser than the file's. */
export interface ValueRange {
  readonly low: Comparable;
  readonly high: Comparable;
}

/**
 * The value that the engine will see for the table's column of `type`. `undefined` when the bytes are malformed or
 * when the file's type is not one that is known to be read as `type` without changing the order.
 */
export function decodePlain(
  type: PrimitiveType,
  leaf: ParquetLeaf,
  bytes: Uint8Array,
): ValueRange | undefined {
  switch (type.kind) {
    case 'boolean':
      return leaf.physical === 'BOOLEAN' && bytes.length === 1 ? point(bytes[0] === 0 ? 0 : 1) : undefined;
    case 'int':
    case 'long':
      return isInteger(leaf) ? pointOf(decodeInteger(leaf, bytes)) : undefined;
    case 'float':
    case 'double':
      return leaf.logical === undefined ? pointOf(decodeFloat(leaf, bytes)) : undefined;
    case 'decimal':
      return leaf.logical?.kind === 'decimal' && leaf.logical.scale === type.scale
        ? pointOf(decodeDecimal(leaf, bytes))
        : undefined;
    case 'date':
      return leaf.logical?.kind === 'date' ? pointOf(decodeInteger(leaf, bytes)) : undefined;
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return decodeTime(type.kind, leaf, bytes);
    case 'string':
      return leaf.physical === 'BYTE_ARRAY' && isText(leaf.logical) ? point(bytes) : undefined;
    case 'uuid':
      return leaf.physical === 'FIXED_LEN_BYTE_ARRAY' && leaf.typeLength === 16 && bytes.length === 16
        ? point(bytes)
        : undefined;
    case 'fixed':
    case 'binary':
      return isBytes(leaf) ? point(bytes) : undefined;
    case 'unknown':
    case 'unsupported':
      return undefined;
  }
}

/**
 * The PLAIN encodings of all physical values that the engine would find equal to `value`. Empty when there is none:
 * the column cannot hold it. `undefined` when they cannot be enumerated.
 */
export function encodePlain(
  type: PrimitiveType,
  leaf: ParquetLeaf,
  value: Comparable,
): readonly Uint8Array[] | undefined {
  if (typeof value === 'object') {
    const isKept =
      (type.kind === 'string' && leaf.physical === 'BYTE_ARRAY' && isText(leaf.logical)) ||
      (type.kind === 'uuid' && leaf.physical === 'FIXED_LEN_BYTE_ARRAY') ||
      ((type.kind === 'binary' || type.kind === 'fixed') && isBytes(leaf));
    return isKept ? [value] : undefined;
  }
  switch (type.kind) {
    case 'int':
    case 'long':
      return isInteger(leaf) ? encodeInteger(leaf, BigInt(value)) : undefined;
    case 'date':
      return leaf.logical?.kind === 'date' ? encodeInteger(leaf, BigInt(value)) : undefined;
    case 'float':
    case 'double':
      return leaf.logical === undefined ? encodeFloat(leaf, Number(value)) : undefined;
    case 'decimal':
      return leaf.logical?.kind === 'decimal' && leaf.logical.scale === type.scale
        ? encodeDecimal(leaf, BigInt(value))
        : undefined;
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return encodeTime(type.kind, leaf, BigInt(value));
    default:
      return undefined;
  }
}

type TimeKind = 'time' | 'timestamp' | 'timestamptz' | 'timestamp_ns' | 'timestamptz_ns';

const nanosPer: Readonly<Record<TimeUnit, bigint>> = { millis: 1_000_000n, micros: 1000n, nanos: 1n };

function decodeTime(kind: TimeKind, leaf: ParquetLeaf, bytes: Uint8Array): ValueRange | undefined {
  if (leaf.logical?.kind === 'date' && kind !== 'time') return decodeDateAsTimestamp(kind, leaf, bytes);
  const unit = timeUnitOf(kind, leaf);
  const value = unit === undefined ? undefined : decodeInteger(leaf, bytes);
  if (unit === undefined || value === undefined) return undefined;
  const nanos = value * nanosPer[unit];
  const perUnit = nanosPer[tableUnit(kind)];
  // Rounding towards zero or downwards, whichever the engine does, stays within these.
  const low = floorDivide(nanos, perUnit);
  return { low, high: low * perUnit === nanos ? low : low + 1n };
}

/** Format version 3 lets a date column become a timestamp. */
function decodeDateAsTimestamp(kind: TimeKind, leaf: ParquetLeaf, bytes: Uint8Array): ValueRange | undefined {
  const days = decodeInteger(leaf, bytes);
  if (days === undefined) return undefined;
  return point((days * dayMicros * 1000n) / nanosPer[tableUnit(kind)]);
}

function encodeTime(kind: TimeKind, leaf: ParquetLeaf, value: bigint): readonly Uint8Array[] | undefined {
  const unit = timeUnitOf(kind, leaf);
  if (unit === undefined) return undefined;
  const nanos = value * nanosPer[tableUnit(kind)];
  if (nanosPer[unit] < nanosPer[tableUnit(kind)]) return undefined; // Many finer values become this one.
  return nanos % nanosPer[unit] === 0n ? encodeInteger(leaf, nanos / nanosPer[unit]) : [];
}

function timeUnitOf(kind: TimeKind, leaf: ParquetLeaf): TimeUnit | undefined {
  const wanted = kind === 'time' ? 'time' : 'timestamp';
  const { logical } = leaf;
  return (logical?.kind === 'time' || logical?.kind === 'timestamp') && logical.kind === wanted
    ? logical.unit
    : undefined;
}

function tableUnit(kind: TimeKind): TimeUnit {
  return kind === 'timestamp_ns' || kind === 'timestamptz_ns' ? 'nanos' : 'micros';
}

function isInteger(leaf: ParquetLeaf): boolean {
  const isStored = leaf.physical === 'INT32' || leaf.physical === 'INT64';
  return isStored && (leaf.logical === undefined || leaf.logical.kind === 'integer');
}

function isText(logical: LogicalType | undefined): boolean {
  return (
    logical === undefined || logical.kind === 'string' || logical.kind === 'enum' || logical.kind === 'json'
  );
}

function isBytes(leaf: ParquetLeaf): boolean {
  const isStored = leaf.physical === 'BYTE_ARRAY' || leaf.physical === 'FIXED_LEN_BYTE_ARRAY';
  return isStored && leaf.logical === undefined;
}

function decodeInteger(leaf: ParquetLeaf, bytes: Uint8Array): bigint | undefined {
  const width = leaf.physical === 'INT32' ? 4 : leaf.physical === 'INT64' ? 8 : 0;
  if (width === 0 || bytes.length !== width) return undefined;
  const value = width === 4 ? BigInt(view(bytes).getInt32(0, true)) : view(bytes).getBigInt64(0, true);
  const isUnsigned = leaf.logical?.kind === 'integer' && !leaf.logical.isSigned;
  return isUnsigned ? BigInt.asUintN(width * 8, value) : value;
}

function encodeInteger(leaf: ParquetLeaf, value: bigint): readonly Uint8Array[] {
  const width = leaf.physical === 'INT32' ? 4 : 8;
  const isUnsigned = leaf.logical?.kind === 'integer' && !leaf.logical.isSigned;
  const wrapped = BigInt.asIntN(width * 8, value);
  const fits = isUnsigned ? BigInt.asUintN(width * 8, value) === value : wrapped === value;
  if (!fits) return [];
  const bytes = new Uint8Array(width);
  if (width === 4) view(bytes).setInt32(0, Number(wrapped), true);
  else view(bytes).setBigInt64(0, wrapped, true);
  return [bytes];
}

function decodeFloat(leaf: ParquetLeaf, bytes: Uint8Array): number | undefined {
  if (leaf.physical === 'FLOAT' && bytes.length === 4) return view(bytes).getFloat32(0, true);
  return leaf.physical === 'DOUBLE' && bytes.length === 8 ? view(bytes).getFloat64(0, true) : undefined;
}

/** Zero has two encodings that are equal, and NaN very many. */
function encodeFloat(leaf: ParquetLeaf, value: number): readonly Uint8Array[] | undefined {
  const width = leaf.physical === 'FLOAT' ? 4 : leaf.physical === 'DOUBLE' ? 8 : 0;
  if (width === 0 || Number.isNaN(value)) return undefined;
  if (width === 4 && Math.fround(value) !== value) return [];
  return (value === 0 ? [0, -0] : [value]).map((each) => {
    const bytes = new Uint8Array(width);
    if (width === 4) view(bytes).setFloat32(0, each, true);
    else view(bytes).setFloat64(0, each, true);
    return bytes;
  });
}

function decodeDecimal(leaf: ParquetLeaf, bytes: Uint8Array): bigint | undefined {
  if (leaf.physical === 'INT32' || leaf.physical === 'INT64') return decodeInteger(leaf, bytes);
  const isWhole =
    leaf.physical === 'FIXED_LEN_BYTE_ARRAY'
      ? bytes.length === leaf.typeLength
      : leaf.physical === 'BYTE_ARRAY';
  if (!isWhole || bytes.length === 0 || bytes.length > 32) return undefined;
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

function encodeDecimal(leaf: ParquetLeaf, value: bigint): readonly Uint8Array[] | undefined {
  if (leaf.physical === 'INT32' || leaf.physical === 'INT64') return encodeInteger(leaf, value);
  if (leaf.physical !== 'FIXED_LEN_BYTE_ARRAY' || leaf.typeLength > 32) return undefined;
  const bits = leaf.typeLength * 8;
  if (BigInt.asIntN(bits, value) !== value) return [];
  const bytes = new Uint8Array(leaf.typeLength);
  for (let index = bytes.length - 1, rest = value; index >= 0; index--, rest >>= 8n)
    bytes[index] = Number(BigInt.asUintN(8, rest));
  return [bytes];
}

function point(value: Comparable): ValueRange {
  return { low: value, high: value };
}

function pointOf(value: Comparable | undefined): ValueRange | undefined {
  return value === undefined ? undefined : point(value);
}

function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
