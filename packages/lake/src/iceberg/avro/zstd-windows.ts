/**
 * What the frames of a Zstandard block make the decompressor allocate (RFC 8878, "Frames"): for each it takes the window
 * that the frame's header asks for, and moves all of it once for each part. So a few bytes may ask for gigabytes, and for
 * hours.
 */
import { AvroError } from './avro-error.js';

const frameMagic = 0xfd2fb528;
/** Without its lowest four bits, which are anything. */
const skippableMagic = 0x184d2a5;
const maxPartBytes = 128 * 1024;
/** Windows are rounded up: a small block may ask for more than it has. */
const minWindowBytes = 16 * 1024 * 1024;
/** Bytes of windows that are moved, in all and for each byte of the block: writers stay below a hundredth of it. */
const freeMovedBytes = 2 ** 30;
const movedBytesPerByte = 2 ** 16;

/**
 * The block with windows no larger than what its frames can hold: no part reaches back behind the first one. Throws an
 * AvroError for one that asks for more memory or work than its content needs. What is damaged is left to the decompressor.
 */
export function withNeededWindows(block: Uint8Array, maxBytes: number): Uint8Array {
  const bytes = Buffer.from(block);
  let movedBytes = 0;
  for (let position = 0; position + 8 <= bytes.length; ) {
    const magic = bytes.readUInt32LE(position);
    if (magic >>> 4 === skippableMagic) {
      position += 8 + bytes.readUInt32LE(position + 4);
      continue;
    }
    if (magic !== frameMagic) break;
    const frame = readFrame(bytes, position);
    const window = Math.min(frame.windowBytes, neededWindow(frame.maxContentBytes));
    if (frame.isSingleSegment && frame.windowBytes > frame.maxContentBytes)
      throw new AvroError('a zstd block claims an impossible size');
    if (window > Math.max(maxBytes, minWindowBytes))
      throw new AvroError('a zstd block asks for too much memory');
    movedBytes += window * (frame.partCount + 1);
    if (movedBytes > freeMovedBytes + bytes.length * movedBytesPerByte)
      throw new AvroError('a zstd block asks for too much work');
    if (window < frame.windowBytes) bytes[position + 5] = windowDescriptor(window);
    position = frame.end;
  }
  return bytes;
}

interface Frame {
  readonly isSingleSegment: boolean;
  readonly windowBytes: number;
  readonly partCount: number;
  /** The most that its parts can become. */
  readonly maxContentBytes: number;
  readonly end: number;
}

function readFrame(bytes: Buffer, start: number): Frame {
  const at = (position: number): number => bytes[position] ?? 0;
  const flags = at(start + 4);
  const isSingleSegment = (flags & 0x20) !== 0;
  const dictionaryStart = start + (isSingleSegment ? 5 : 6);
  const sizeStart = dictionaryStart + ([0, 1, 2, 4][flags & 3] ?? 0);
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0;
  const windowBytes = isSingleSegment
    ? readSize(bytes.subarray(sizeStart, sizeStart + sizeBytes))
    : 2 ** (10 + (at(start + 5) >> 3)) * (1 + (at(start + 5) & 7) / 8);
  let [partCount, maxContentBytes, end] = [0, 0, sizeStart + sizeBytes];
  for (let isLast = false; !isLast && end + 3 <= bytes.length; partCount++) {
    const header = bytes.readUIntLE(end, 3);
    const [kind, size] = [(header >> 1) & 3, header >> 3];
    isLast = (header & 1) === 1;
    maxContentBytes += kind === compressedPart ? Math.min(windowBytes, maxPartBytes) : size;
    end += 3 + (kind === repeatedPart ? 1 : size);
  }
  if ((flags & 4) !== 0) end += 4; // A checksum.
  return { isSingleSegment, windowBytes, partCount, maxContentBytes, end };
}

const repeatedPart = 1;
const compressedPart = 2;

function readSize(field: Uint8Array): number {
  const value = field.reduceRight((sum, byte) => sum * 256 + byte, 0);
  return field.length === 2 ? value + 256 : value;
}

/** The smallest window without a fraction that is not smaller. */
function neededWindow(contentBytes: number): number {
  return 2 ** Math.max(10, Math.ceil(Math.log2(Math.max(contentBytes, 1))));
}

function windowDescriptor(window: number): number {
  return (Math.log2(window) - 10) << 3;
}
