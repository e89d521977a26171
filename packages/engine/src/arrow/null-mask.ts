/**
 * What lies below NULLs in a message: the engine leaves there what its vectors held before, which may be a value of a row or a
 * column that a policy hides. Messages have zeros there.
 */

/** A bitmap of an array's rows from its first bit on: those with a zero bit are NULL, or lie below something that is. */
export interface NullMask {
  readonly bytes: Uint8Array;
  readonly byteOffset: number;
}

/** Zeroes values of `width` bytes, the first of which lies at `at` (a multiple of 8, as the start of `bytes` is). */
export function blankFixed(
  mask: NullMask,
  length: number,
  bytes: Uint8Array,
  at: number,
  width: number,
): void {
  const unit = width % 8 === 0 ? 8 : width % 4 === 0 ? 4 : 1;
  const units = width / unit;
  const count = length * units;
  const start = bytes.byteOffset + at;
  const values =
    unit === 8
      ? new Float64Array(bytes.buffer, start, count)
      : unit === 4
        ? new Int32Array(bytes.buffer, start, count)
        : new Uint8Array(bytes.buffer, start, count);
  // Large results pass here: no call for each NULL.
  for (let row = 0; row < length; row += 8) {
    let hidden = ~(mask.bytes[mask.byteOffset + row / 8] ?? 0) & 0xff;
    if (hidden === 0) continue;
    if (hidden === 0xff) {
      values.fill(0, row * units, Math.min(row + 8, length) * units);
      continue;
    }
    for (; hidden !== 0; hidden &= hidden - 1) {
      const first = (row + 31 - Math.clz32(hidden & -hidden)) * units;
      // Behind the last row the array ends, and what is set there is not kept.
      for (let index = first; index < first + units; index++) values[index] = 0;
    }
  }
}

/** Zeroes the bits of a bitmap at `at`: booleans, or the validity of what lies below. */
export function blankBits(
  { bytes: from, byteOffset }: NullMask,
  length: number,
  bytes: Uint8Array,
  at: number,
): void {
  const byteCount = Math.ceil(length / 8);
  for (let index = 0; index < byteCount; index++)
    bytes[at + index] = (bytes[at + index] ?? 0) & (from[byteOffset + index] ?? 0);
}

/** Zeroes the texts of hidden rows that have any: below a NULL struct, say. How long they are stays. */
export function blankTexts(mask: NullMask, length: number, offsetAt: OffsetAt, texts: Uint8Array): void {
  forEachHidden(mask, length, (from, to) => {
    const [start, end] = [offsetAt(from), offsetAt(to)];
    if (end > start) texts.fill(0, start, end);
  });
}

export type OffsetAt = (row: number) => number;

/** The mask of a list's elements, given where each row's start; undefined where no hidden row has any. */
export function maskOfRanges(mask: NullMask, length: number, offsetAt: OffsetAt): NullMask | undefined {
  let bytes: Uint8Array | undefined;
  forEachHidden(mask, length, (from, to) => {
    const [start, end] = [offsetAt(from), offsetAt(to)];
    if (end === start) return;
    bytes ??= new Uint8Array(Math.ceil(offsetAt(length) / 8)).fill(0xff);
    for (let element = start; element < end; element++)
      bytes[element >> 3] = (bytes[element >> 3] ?? 0) & ~(1 << (element & 7));
  });
  return bytes && { bytes, byteOffset: 0 };
}

/** Runs of hidden rows, in their order; a run may be told in several parts. */
function forEachHidden(
  { bytes, byteOffset }: NullMask,
  length: number,
  hide: (from: number, to: number) => void,
): void {
  for (let row = 0; row < length; row += 8) {
    const byte = bytes[byteOffset + row / 8] ?? 0;
    if (byte === 0xff) continue;
    const end = Math.min(row + 8, length);
    if (byte === 0) hide(row, end);
    else for (let each = row; each < end; each++) if (((byte >> (each & 7)) & 1) === 0) hide(each, each + 1);
  }
}
