/**
 * The loops that see every value of a Parquet page, in AssemblyScript: typed TypeScript that becomes WebAssembly
 * (scripts/build-kernels.mjs). Nothing is allocated here: every pointer is a position in the linear memory that
 * src/parquet-arrow/kernels.ts hands out. Damaged pages cannot reach outside of that memory; what a loop itself can
 * see to be damaged, it answers. Copies go in whole vectors: each region has `slackBytes` behind its last byte.
 *
 * A "run state" is the reader of one RLE / bit-packed hybrid (Parquet format, "Encodings"), eight words:
 * position, end, bit width, kind of run (0 none, 1 repeated, 2 packed), values left in it, repeated value,
 * bits read of a packed run, largest value so far.
 */
const kindOfRun: usize = 12;
const left: usize = 16;
const repeated: usize = 20;
const bitsRead: usize = 24;
const largest: usize = 28;

/** What stands for a missing value among dictionary positions. */
const missing: u32 = 0xffffffff;

/** Starts a reader of runs of values of `width` bits between two positions. */
export function startRuns(state: usize, position: usize, end: usize, width: u32): void {
  store<u32>(state, <u32>position);
  store<u32>(state, <u32>end, 4);
  store<u32>(state, width, 8);
  store<u64>(state, 0, kindOfRun);
  store<u64>(state, 0, repeated);
  store<u32>(state, 0, largest);
}

/** Starts a reader of `count` values of one bit that are packed without any header (PLAIN booleans). */
export function startBits(state: usize, position: usize, end: usize, count: u32): void {
  startRuns(state, position, end, 1);
  store<u32>(state, 2, kindOfRun);
  store<u32>(state, min<u32>(count, <u32>(end - position) * 8), left);
}

/** Reads the header of the next run. False at the end, or when it makes no sense. */
function nextRun(state: usize): bool {
  let position: usize = load<u32>(state);
  const end: usize = load<u32>(state, 4);
  const width = load<u32>(state, 8);
  if (load<u32>(state, kindOfRun) === 2) position += (load<u32>(state, bitsRead) + 7) >> 3;
  let header: u32 = 0;
  let shift: u32 = 0;
  for (;;) {
    if (position >= end || shift > 28) return false;
    const byte: u32 = load<u8>(position);
    position += 1;
    header |= (byte & 127) << shift;
    if (byte < 128) break;
    shift += 7;
  }
  if ((header & 1) === 1) {
    const fitting: u64 = width === 0 ? <u64>u32.MAX_VALUE : (<u64>(end - position) * 8) / width;
    store<u32>(state, 2, kindOfRun);
    store<u32>(state, <u32>min<u64>(<u64>(header >> 1) * 8, fitting), left);
    store<u32>(state, 0, bitsRead);
  } else {
    const bytes = (width + 7) >> 3;
    if (position + bytes > end) return false;
    let value: u32 = 0;
    for (let index: u32 = 0; index < bytes; index++) {
      value |= (<u32>load<u8>(position)) << (8 * index);
      position += 1;
    }
    store<u32>(state, 1, kindOfRun);
    store<u32>(state, header >> 1, left);
    store<u32>(state, value, repeated);
  }
  store<u32>(state, <u32>position);
  return true;
}

/** Reads values as 32-bit numbers. Answers how many there were: fewer than `count` means a damaged page. */
export function readNumbers(state: usize, target: usize, count: u32): u32 {
  let done: u32 = 0;
  let top = load<u32>(state, largest);
  while (done < count) {
    let run = load<u32>(state, left);
    if (run === 0) {
      if (!nextRun(state)) break;
      run = load<u32>(state, left);
      if (run === 0) continue;
    }
    const taken = min(run, count - done);
    if (load<u32>(state, kindOfRun) === 1) {
      const value = load<u32>(state, repeated);
      if (value > top) top = value;
      for (let index: u32 = 0; index < taken; index++) store<u32>(target + ((done + index) << 2), value);
    } else {
      top = max(top, readPacked(state, target + (done << 2), taken));
    }
    store<u32>(state, run - taken, left);
    done += taken;
  }
  store<u32>(state, top, largest);
  return done;
}

/** Reads within one packed run; answers the largest value. */
function readPacked(state: usize, target: usize, count: u32): u32 {
  const width = load<u32>(state, 8);
  const position: usize = load<u32>(state);
  let bit: u64 = load<u32>(state, bitsRead);
  const mask: u64 = ((<u64>1) << width) - 1;
  let top: u64 = 0;
  let index: u32 = 0;
  // Eight values of up to 16 bits begin and end at whole bytes, and four of them fit into one word.
  if (width <= 16) {
    const half = width << 2;
    for (; (bit & 7) === 0 && index + 8 <= count; index += 8) {
      const from = position + <usize>(bit >> 3);
      const to = target + (index << 2);
      let low = load<u64>(from);
      let high = load<u64>(from + (half >> 3)) >> (half & 7);
      for (let value: u32 = 0; value < 4; value++) {
        const left = low & mask;
        const right = high & mask;
        store<u32>(to + (value << 2), <u32>left);
        store<u32>(to + (value << 2), <u32>right, 16);
        top = max(top, max(left, right));
        low >>= width;
        high >>= width;
      }
      bit += width << 3;
    }
  }
  for (; index < count; index++) {
    const value = (load<u64>(position + <usize>(bit >> 3)) >> (bit & 7)) & mask;
    top = max(top, value);
    store<u32>(target + (index << 2), <u32>value);
    bit += width;
  }
  // The position moves along, so that the count of bits never outgrows its word.
  store<u32>(state, <u32>(position + <usize>(bit >> 3)));
  store<u32>(state, <u32>(bit & 7), bitsRead);
  return <u32>top;
}

/** The largest value that was read since the start. */
export function largestNumber(state: usize): u32 {
  return load<u32>(state, largest);
}

/** Reads values of one bit as bytes. Answers how many are 1, or -1 when the page is damaged. */
export function readFlags(state: usize, target: usize, count: u32): i32 {
  let done: u32 = 0;
  let ones: i32 = 0;
  while (done < count) {
    let run = load<u32>(state, left);
    if (run === 0) {
      if (!nextRun(state)) return -1;
      run = load<u32>(state, left);
      if (run === 0) continue;
    }
    const taken = min(run, count - done);
    if (load<u32>(state, kindOfRun) === 1) {
      const value = load<u32>(state, repeated) & 1;
      memory.fill(target + done, <u8>value, taken);
      if (value === 1) ones += taken;
    } else {
      const position: usize = load<u32>(state);
      let bit = load<u32>(state, bitsRead);
      for (let index: u32 = 0; index < taken; index++) {
        const value: u8 = (load<u8>(position + (bit >> 3)) >> <u8>(bit & 7)) & 1;
        store<u8>(target + done + index, value);
        ones += value;
        bit += 1;
      }
      store<u32>(state, <u32>(position + (bit >> 3)));
      store<u32>(state, bit & 7, bitsRead);
    }
    store<u32>(state, run - taken, left);
    done += taken;
  }
  return ones;
}

/** Values of 4 bytes by their positions in a dictionary. */
export function gather4(positions: usize, count: u32, dictionary: usize, target: usize): void {
  for (let index: u32 = 0; index < count; index++)
    store<u32>(
      target + (index << 2),
      load<u32>(dictionary + ((<usize>load<u32>(positions + (index << 2))) << 2)),
    );
}

/** Values of 8 bytes by their positions in a dictionary. */
export function gather8(positions: usize, count: u32, dictionary: usize, target: usize): void {
  for (let index: u32 = 0; index < count; index++)
    store<u64>(
      target + (index << 3),
      load<u64>(dictionary + ((<usize>load<u32>(positions + (index << 2))) << 3)),
    );
}

/** Values of 16 bytes by their positions in a dictionary. */
export function gather16(positions: usize, count: u32, dictionary: usize, target: usize): void {
  for (let index: u32 = 0; index < count; index++)
    v128.store(
      target + (index << 4),
      v128.load(dictionary + ((<usize>load<u32>(positions + (index << 2))) << 4)),
    );
}

/** Signed numbers of 4 bytes as numbers of 16. */
export function widen4(source: usize, count: u32, target: usize): void {
  for (let index: u32 = 0; index < count; index++) {
    const value = <i64>load<i32>(source + (index << 2));
    store<i64>(target + (index << 4), value);
    store<i64>(target + (index << 4), value >> 63, 8);
  }
}

/** Signed numbers of 8 bytes as numbers of 16. */
export function widen8(source: usize, count: u32, target: usize): void {
  for (let index: u32 = 0; index < count; index++) {
    const value = load<i64>(source + (index << 3));
    store<i64>(target + (index << 4), value);
    store<i64>(target + (index << 4), value >> 63, 8);
  }
}

/** Signed big-endian numbers of `width` bytes, at most 16, as little-endian numbers of 16. */
export function widenBigEndian(source: usize, count: u32, width: u32, target: usize): void {
  for (let index: u32 = 0; index < count; index++) {
    const from = source + index * width;
    const to = target + (index << 4);
    memory.fill(to, <u8>(load<i8>(from) >> 7), 16);
    for (let byte: u32 = 0; byte < width; byte++) store<u8>(to + byte, load<u8>(from + width - 1 - byte));
  }
}

/** Spreads dense positions to the rows whose flag is set; the others become `missing`. */
export function spreadPositions(source: usize, flags: usize, count: u32, target: usize): void {
  let from = source;
  for (let index: u32 = 0; index < count; index++) {
    const isSet = load<u8>(flags + index) !== 0;
    store<u32>(target + (index << 2), isSet ? load<u32>(from) : missing);
    from += isSet ? 4 : 0;
  }
}

/** Spreads dense values of `width` bytes to the rows whose flag is set; the others become 0. */
export function spreadValues(source: usize, flags: usize, count: u32, width: u32, target: usize): void {
  let from = source;
  memory.fill(target, 0, count * width);
  for (let index: u32 = 0; index < count; index++) {
    if (load<u8>(flags + index) === 0) continue;
    const to = target + index * width;
    if (width === 16) v128.store(to, v128.load(from));
    else if (width === 8) store<u64>(to, load<u64>(from));
    else if (width === 4) store<u32>(to, load<u32>(from));
    else store<u8>(to, load<u8>(from));
    from += width;
  }
}

/** Positions that are `missing` become 0, so that they can be gathered like any other. */
export function withoutMissing(positions: usize, count: u32): void {
  for (let index: u32 = 0; index < count; index++) {
    const at = positions + (index << 2);
    if (load<u32>(at) === missing) store<u32>(at, 0);
  }
}

/**
 * Finds the entries of a PLAIN dictionary of texts: where the length of each stands. Answers the longest length, or -1
 * when they do not lie between the two positions, -2 when one begins in the middle of a character (`isText` only).
 */
export function indexTexts(position: usize, end: usize, count: u32, isText: bool, target: usize): i32 {
  let at = position;
  let longest: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    if (at + 4 > end) return -1;
    const length = load<u32>(at);
    if (<u64>length > <u64>(end - at - 4)) return -1;
    if (isText && length > 0 && (load<u8>(at + 4) & 0xc0) === 0x80) return -2;
    store<u32>(target + (index << 2), <u32>at);
    longest = max(longest, length);
    at += 4 + length;
  }
  return <i32>longest;
}

/**
 * Appends texts by their positions in an indexed dictionary. `offsets` points at the end of the last text so far;
 * the ends of the new ones go behind it. Answers the new end.
 */
export function appendDictionaryTexts(
  positions: usize,
  count: u32,
  entries: usize,
  offsets: usize,
  bytes: usize,
): u32 {
  let end = load<u32>(offsets);
  for (let index: u32 = 0; index < count; index++) {
    const position = load<u32>(positions + (index << 2));
    if (position !== missing) {
      const entry: usize = load<u32>(entries + ((<usize>position) << 2));
      const length = load<u32>(entry);
      copyVectors(bytes + end, entry + 4, length);
      end += length;
    }
    store<u32>(offsets + ((index + 1) << 2), end);
  }
  return end;
}

/**
 * Appends PLAIN texts; with `flags`, only the rows whose flag is set have one. `state` holds the position of the next
 * text and the end of the page, as a run state does. Stops before the text that would end behind `limit`. Answers
 * how many rows were appended, or -1 when the page is damaged, -2 when a text begins in the middle of a character
 * (`isText` only).
 */
export function appendPlainTexts(
  state: usize,
  count: u32,
  flags: usize,
  isText: bool,
  offsets: usize,
  bytes: usize,
  limit: u32,
): i32 {
  let at: usize = load<u32>(state);
  const end: usize = load<u32>(state, 4);
  let written = load<u32>(offsets);
  for (let index: u32 = 0; index < count; index++) {
    if (flags === 0 || load<u8>(flags + index) !== 0) {
      if (at + 4 > end) return -1;
      const length = load<u32>(at);
      if (<u64>length > <u64>(end - at - 4)) return -1;
      if (<u64>written + length > limit) {
        store<u32>(state, <u32>at);
        return index;
      }
      if (isText && length > 0 && (load<u8>(at + 4) & 0xc0) === 0x80) return -2;
      copyVectors(bytes + written, at + 4, length);
      written += length;
      at += 4 + length;
    }
    store<u32>(offsets + ((index + 1) << 2), written);
  }
  store<u32>(state, <u32>at);
  return count;
}

function copyVectors(target: usize, source: usize, length: u32): void {
  for (let done: u32 = 0; done < length; done += 16) v128.store(target + done, v128.load(source + done));
}

/** Moves offsets so that the first one becomes 0. */
export function rebaseOffsets(source: usize, count: u32, target: usize): void {
  const base = load<u32>(source);
  for (let index: u32 = 0; index < count; index++)
    store<u32>(target + (index << 2), load<u32>(source + (index << 2)) - base);
}

/** How many flags of one byte are set. */
export function countFlags(source: usize, count: u32): u32 {
  let ones: u32 = 0;
  const whole = count & ~15;
  for (let index: u32 = 0; index < whole; index += 16)
    ones += popcnt(<u32>i8x16.bitmask(i8x16.ne(v128.load(source + index), i8x16.splat(0))));
  for (let index = whole; index < count; index++) ones += load<u8>(source + index) !== 0 ? 1 : 0;
  return ones;
}

/** Packs flags of one byte into a bitmap of whole bytes, the rest of the last one 0. Answers how many are set. */
export function packFlags(source: usize, count: u32, target: usize): u32 {
  let ones: u32 = 0;
  const whole = count & ~15;
  for (let index: u32 = 0; index < whole; index += 16) {
    const mask = <u32>i8x16.bitmask(i8x16.ne(v128.load(source + index), i8x16.splat(0)));
    store<u16>(target + (index >> 3), <u16>mask);
    ones += popcnt(mask);
  }
  if (whole === count) return ones;
  memory.fill(target + (whole >> 3), 0, (count - whole + 7) >> 3);
  for (let index = whole; index < count; index++) {
    if (load<u8>(source + index) === 0) continue;
    const at = target + (index >> 3);
    store<u8>(at, load<u8>(at) | <u8>((<u32>1) << (index & 7)));
    ones += 1;
  }
  return ones;
}
