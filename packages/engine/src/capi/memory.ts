/**
 * Raw memory of this process by address. Addresses are JavaScript numbers: user space ends below 2^53 on every
 * supported platform, and a number costs no allocation in the loops that copy a result.
 */
import koffi from 'koffi';

/** An address in this process, or 0 for a null pointer. */
export type Address = number;

const scratchBytes = 64 * 1024;
const scratch = new ArrayBuffer(scratchBytes);
const scratchAddress = addressOf(new Uint8Array(scratch));
const scratchBytesView = new Uint8Array(scratch);
const scratchWords = new Uint32Array(scratch);
const scratchInts = new Int32Array(scratch);
const highWord = 4294967296;

const libc = koffi.load(null);
const copyMemory = libc.func('void memmove(uint64_t dst, uint64_t src, uint64_t n)') as unknown as (
  destination: number,
  source: number,
  byteCount: number,
) => void;
const measureText = libc.func('uint64_t strlen(uint64_t text)') as unknown as (text: number) => number;

/** Where the bytes of a view lie. The caller keeps the view alive for as long as the address is used. */
export function addressOf(view: Uint8Array): Address {
  return Number(koffi.address(view));
}

/** `memmove` by addresses. Both ranges must be valid: nothing here can check them. */
export function copyBytes(destination: Address, source: Address, byteCount: number): void {
  if (byteCount > 0) copyMemory(destination, source, byteCount);
}

/** Copies out of raw memory into a fresh array. */
export function readBytes(source: Address, byteCount: number): Uint8Array {
  const bytes = new Uint8Array(new ArrayBuffer(byteCount));
  if (byteCount > 0) copyMemory(addressOf(bytes), source, byteCount);
  return bytes;
}

/** UTF-8 text up to the terminating NUL; the empty text for a null pointer. */
export function readText(source: Address): string {
  return source === 0 ? '' : Buffer.from(readBytes(source, measureText(source))).toString('utf8');
}

export function readInt32(source: Address): number {
  copyMemory(scratchAddress, source, 4);
  return scratchInts[0] ?? 0;
}

/**
 * A window onto copied raw memory. It is overwritten by the next read of any window, so take what you need at once.
 * Word indexes count 8-byte words.
 */
export const window = {
  /** Longest range that can be loaded at once. */
  maxBytes: scratchBytes,
  bytes: scratchBytesView,
  load(source: Address, byteCount: number): void {
    if (byteCount > scratchBytes) throw new RangeError(`a window holds ${scratchBytes} bytes`);
    if (byteCount > 0) copyMemory(scratchAddress, source, byteCount);
  },
  /** An unsigned 64-bit word as a number; exact below 2^53. */
  word(index: number): number {
    return (scratchWords[2 * index] ?? 0) + (scratchWords[2 * index + 1] ?? 0) * highWord;
  },
  /** A signed 64-bit word as a number: -1 stands for "unknown" in null counts. */
  signedWord(index: number): number {
    return (scratchWords[2 * index] ?? 0) + (scratchInts[2 * index + 1] ?? 0) * highWord;
  },
} as const;

const releaseCallback = koffi.proto('void (uint64_t self)');

/**
 * Calls the release callback of an ArrowSchema or ArrowArray, once: a released struct has a null callback (Arrow C data
 * interface, "Release callback semantics").
 */
export function releaseArrowStruct(struct: Address, releaseOffset: number): void {
  window.load(struct + releaseOffset, 8);
  const callback = window.word(0);
  if (callback !== 0) koffi.call(BigInt(callback), releaseCallback, struct);
}

/**
 * A C function of one pointer that does nothing with it (`labs`), as release callback of structs whose memory belongs to
 * JavaScript: the engine may call it on any of its threads, where a JavaScript callback could not run.
 */
export const noOperation: Address = Number(koffi.address(libc.symbol('labs')));
