/** Bitmaps, least significant bit first, as the Arrow columnar format has them. */
import { type Address, copyBytes, window } from '../capi/memory.js';

/** A bitmap under construction at `byteOffset` of `bytes`, whose address is known for whole-byte copies. */
export interface BitmapTarget {
  readonly bytes: Uint8Array;
  readonly address: Address;
  readonly byteOffset: number;
}

const windowBits = window.maxBytes * 8 - 8;

/** Appends `count` bits read from raw memory at bit `sourceBit`. Bits after the end are left zero. */
export function appendBits(
  target: BitmapTarget,
  targetBit: number,
  source: Address,
  sourceBit: number,
  count: number,
): void {
  if (count === 0) return;
  if (targetBit % 8 === 0 && sourceBit % 8 === 0) {
    const at = target.byteOffset + targetBit / 8;
    const byteCount = Math.ceil(count / 8);
    copyBytes(target.address + at, source + sourceBit / 8, byteCount);
    clearAfter(target, targetBit + count);
    return;
  }
  for (let done = 0; done < count; done += windowBits) {
    const bit = sourceBit + done;
    const length = Math.min(windowBits, count - done);
    const shift = bit % 8;
    window.load(source + (bit - shift) / 8, Math.ceil((shift + length) / 8));
    mergeBits(target, targetBit + done, window.bytes, shift, length);
  }
}

/** Appends `count` one bits. Bits after the end are left zero. */
export function appendOnes(target: BitmapTarget, targetBit: number, count: number): void {
  const { bytes, byteOffset } = target;
  let bit = targetBit;
  const end = targetBit + count;
  for (; bit < end && bit % 8 !== 0; bit++) setBit(bytes, byteOffset, bit);
  const wholeBytes = Math.max(0, Math.floor((end - bit) / 8));
  // Inside of a byte there is no offset to fill at, and Node's Buffer refuses a fraction even for nothing.
  if (wholeBytes > 0) bytes.fill(0xff, byteOffset + bit / 8, byteOffset + bit / 8 + wholeBytes);
  bit += wholeBytes * 8;
  if (bit < end) {
    bytes[byteOffset + bit / 8] = 0;
    for (; bit < end; bit++) setBit(bytes, byteOffset, bit);
  }
}

/** Number of zero bits among the first `count`; the rest of the last byte must be zero. */
export function countZeros(bytes: Uint8Array, byteOffset: number, count: number): number {
  let ones = 0;
  const end = byteOffset + Math.ceil(count / 8);
  for (let at = byteOffset; at < end; at++) {
    let byte = bytes[at] ?? 0;
    byte -= (byte >> 1) & 0x55;
    byte = (byte & 0x33) + ((byte >> 2) & 0x33);
    ones += (byte + (byte >> 4)) & 0x0f;
  }
  return count - ones;
}

function setBit(bytes: Uint8Array, byteOffset: number, bit: number): void {
  const at = byteOffset + (bit >> 3);
  bytes[at] = (bytes[at] ?? 0) | (1 << (bit & 7));
}

function clearAfter(target: BitmapTarget, bit: number): void {
  if (bit % 8 === 0) return;
  const at = target.byteOffset + (bit >> 3);
  target.bytes[at] = (target.bytes[at] ?? 0) & ((1 << (bit & 7)) - 1);
}

/** Shifts bits of `source` (from bit `sourceBit` < 8) to the target, a byte of the source at a time. */
function mergeBits(
  target: BitmapTarget,
  targetBit: number,
  source: Uint8Array,
  sourceBit: number,
  count: number,
): void {
  const { bytes, byteOffset } = target;
  const shift = targetBit & 7;
  let at = byteOffset + (targetBit >> 3);
  // Bits of the last byte that earlier appends wrote; everything from the target bit on is ours.
  let pending = shift === 0 ? 0 : (bytes[at] ?? 0) & ((1 << shift) - 1);
  let pendingBits = shift;
  let left = count;
  for (let index = 0; left > 0; index++) {
    const take = Math.min(8, left);
    const low = (source[index] ?? 0) >> sourceBit;
    const high = sourceBit === 0 ? 0 : (source[index + 1] ?? 0) << (8 - sourceBit);
    pending |= ((low | high) & ((1 << take) - 1)) << pendingBits;
    pendingBits += take;
    left -= take;
    if (pendingBits >= 8) {
      bytes[at++] = pending & 0xff;
      pending >>= 8;
      pendingBits -= 8;
    }
  }
  if (pendingBits > 0) bytes[at] = pending;
}
