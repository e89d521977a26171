/** Single-value binary serialisation (specification, Appendix D): the form of column bounds and partition summaries. */
import type { PrimitiveType } from './types.js';
import type { PrimitiveValue } from './values.js';

/**
 * Decodes a value of a column that is `type` now. Values from before a promotion (int to long, float to double, date to
 * timestamp) are widened. `undefined` when the bytes cannot be of this type: then nothing may be concluded from them.
 */
export function decodeBinaryValue(type: PrimitiveType, bytes: Uint8Array): PrimitiveValue | undefined {
  switch (type.kind) {
    case 'boolean':
      return bytes.length === 1 ? bytes[0] !== 0 : undefined;
    case 'int':
    case 'date':
      return bytes.length === 4 ? view(bytes).getInt32(0, true) : undefined;
    case 'long':
      if (bytes.length === 4) return BigInt(view(bytes).getInt32(0, true));
      return decodeLong(bytes);
    case 'time':
      return decodeLong(bytes);
    case 'timestamp':
    case 'timestamptz':
      return bytes.length === 4 ? BigInt(view(bytes).getInt32(0, true)) * 86_400_000_000n : decodeLong(bytes);
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return bytes.length === 4
        ? BigInt(view(bytes).getInt32(0, true)) * 86_400_000_000_000n
        : decodeLong(bytes);
    case 'float':
      return bytes.length === 4 ? view(bytes).getFloat32(0, true) : undefined;
    case 'double':
      if (bytes.length === 4) return view(bytes).getFloat32(0, true);
      return bytes.length === 8 ? view(bytes).getFloat64(0, true) : undefined;
    case 'decimal':
      return bytes.length >= 1 && bytes.length <= 16 ? decodeUnscaled(bytes) : undefined;
    case 'string':
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    case 'uuid':
      return bytes.length === 16 ? bytes : undefined;
    case 'fixed':
    case 'binary':
      return bytes;
    case 'unknown':
    case 'unsupported':
      return undefined;
  }
}

/** The inverse; `value` has the form that PrimitiveValue names for `type`. Throws a TypeError otherwise. */
export function encodeBinaryValue(type: PrimitiveType, value: PrimitiveValue): Uint8Array {
  switch (type.kind) {
    case 'boolean':
      if (typeof value === 'boolean') return Uint8Array.of(value ? 1 : 0);
      break;
    case 'int':
    case 'date':
      if (typeof value === 'number') return filled(4, (v) => v.setInt32(0, value, true));
      break;
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      if (typeof value === 'bigint') return filled(8, (v) => v.setBigInt64(0, value, true));
      break;
    case 'float':
      if (typeof value === 'number') return filled(4, (v) => v.setFloat32(0, value, true));
      break;
    case 'double':
      if (typeof value === 'number') return filled(8, (v) => v.setFloat64(0, value, true));
      break;
    case 'decimal':
      if (typeof value === 'bigint') return encodeUnscaled(value);
      break;
    case 'string':
      if (typeof value === 'string') return Buffer.from(value, 'utf8');
      break;
    case 'uuid':
    case 'fixed':
    case 'binary':
      if (value instanceof Uint8Array) return value;
      break;
    case 'unknown':
    case 'unsupported':
      break;
  }
  throw new TypeError(`A ${typeof value} is no value of type ${type.kind}.`);
}

/** Big-endian two's complement, of any length from one byte. */
export function decodeUnscaled(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

/** The fewest bytes that hold the number in big-endian two's complement. */
export function encodeUnscaled(value: bigint): Uint8Array {
  let length = 1;
  while (BigInt.asIntN(length * 8, value) !== value) length++;
  const bytes = new Uint8Array(length);
  for (let index = length - 1, rest = value; index >= 0; index--, rest >>= 8n)
    bytes[index] = Number(BigInt.asUintN(8, rest));
  return bytes;
}

function decodeLong(bytes: Uint8Array): bigint | undefined {
  return bytes.length === 8 ? view(bytes).getBigInt64(0, true) : undefined;
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function filled(length: number, fill: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(length);
  fill(view(bytes));
  return bytes;
}
