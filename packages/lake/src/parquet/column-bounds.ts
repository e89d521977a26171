/** Column bounds of a data file (specification, "Manifests", `lower_bounds`) from those of its column chunks. */
import { encodeBinaryValue } from '../iceberg/spec/binary-value.js';
import type { PrimitiveType } from '../iceberg/spec/types.js';
import { type Comparable, compareValues, isNaNValue, type PrimitiveValue } from '../iceberg/spec/values.js';

export type BoundSide = 'lower' | 'upper';

/**
 * The bound of all chunks in single-value binary form; nothing when that of one is not known. Text and binary are cut to
 * `maxLength` characters or bytes, an upper bound then being raised: bounds may be wider than the values, never narrower.
 */
export function fileBound(
  type: PrimitiveType,
  side: BoundSide,
  bounds: readonly (Comparable | undefined)[],
  maxLength: number,
): Uint8Array | undefined {
  const bound = extreme(bounds, side === 'lower' ? -1 : 1);
  return bound === undefined ? undefined : encodeBound(type, bound, side, maxLength);
}

function extreme(bounds: readonly (Comparable | undefined)[], sign: 1 | -1): Comparable | undefined {
  let result: Comparable | undefined;
  for (const bound of bounds) {
    if (bound === undefined || isNaNValue(bound)) return undefined;
    if (result === undefined || compareValues(bound, result) * sign > 0) result = bound;
  }
  return result;
}

function encodeBound(
  type: PrimitiveType,
  bound: Comparable,
  side: BoundSide,
  maxLength: number,
): Uint8Array | undefined {
  if (type.kind === 'string')
    return typeof bound === 'object' ? textBound(bound, side, maxLength) : undefined;
  if (type.kind === 'binary' || type.kind === 'fixed')
    return typeof bound === 'object' ? bytesBound(bound, side, maxLength) : undefined;
  const value = toPrimitive(type, bound, side);
  return value === undefined ? undefined : encodeBinaryValue(type, value);
}

function toPrimitive(type: PrimitiveType, bound: Comparable, side: BoundSide): PrimitiveValue | undefined {
  switch (type.kind) {
    case 'boolean':
      return Number(bound) !== 0;
    case 'int':
    case 'date':
      return Number(bound);
    case 'float':
    case 'double':
      // The two zeros are equal, but not in the order of bounds: -0.0 is the lower one.
      return Number(bound) === 0 ? (side === 'lower' ? -0 : 0) : Number(bound);
    case 'uuid':
      return typeof bound === 'object' ? bound : undefined;
    case 'unknown':
    case 'unsupported':
      return undefined;
    default:
      return typeof bound === 'object' ? undefined : BigInt(bound);
  }
}

/** Cut to whole characters; an upper bound that was cut is raised at its last character that can be. */
function textBound(bytes: Uint8Array, side: BoundSide, maxLength: number): Uint8Array | undefined {
  const decoded = decodeText(bytes);
  if (decoded === undefined) return undefined;
  const { text, isWhole } = decoded;
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  if (isWhole && points.length <= maxLength) return bytes;
  const kept = points.slice(0, maxLength);
  if (side === 'lower') return Buffer.from(String.fromCodePoint(...kept), 'utf8');
  for (let last = kept.pop(); last !== undefined; last = kept.pop()) {
    const raised = last === 0xd7ff ? 0xe000 : last + 1;
    if (raised <= 0x10ffff) return Buffer.from(String.fromCodePoint(...kept, raised), 'utf8');
  }
  return undefined;
}

/** A writer may have cut its statistics within a character, of four bytes at most: what is before it is text. */
function decodeText(bytes: Uint8Array): { readonly text: string; readonly isWhole: boolean } | undefined {
  for (let missing = 0; missing <= Math.min(3, bytes.length); missing++) {
    try {
      const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      const text = decoder.decode(bytes.subarray(0, bytes.length - missing));
      return { text, isWhole: missing === 0 };
    } catch {
      // No text up to here: a bound that others could not read is worth nothing.
    }
  }
  return undefined;
}

function bytesBound(bytes: Uint8Array, side: BoundSide, maxLength: number): Uint8Array | undefined {
  if (bytes.length <= maxLength) return bytes;
  const kept = bytes.slice(0, maxLength);
  if (side === 'lower') return kept;
  const raised = kept.findLastIndex((byte) => byte < 0xff);
  if (raised < 0) return undefined;
  kept[raised] = (kept[raised] ?? 0) + 1;
  return kept.slice(0, raised + 1);
}
