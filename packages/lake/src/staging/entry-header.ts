/**
 * What a cache entry says of itself. An entry is a Parquet file, and between the magic bytes in front and the first
 * chunk there is room for this header: so a file and its description are one thing, renamed into place together, and
 * the index of the cache is the folder itself.
 *
 *   "PAR1"  "SVC1"  length of the text (4)  text (JSON, padded with spaces)
 *   size of the file (8)  seal (8)  checksum of the data (4)  checksum of all of the header before (4)
 *
 * Numbers are little-endian. The seal is the modification time that the file was given, in seconds, an arbitrary
 * one: whoever writes into the file afterwards breaks it.
 */
import { crc32 } from 'node:zlib';
import { fromRanges, makeSelection, type Selection, toRanges } from './selection.js';

export interface EntryHeader {
  readonly location: string;
  readonly version: string;
  readonly selection: Selection;
  readonly rowCount: number;
}

export interface SealedHeader extends EntryHeader {
  readonly sizeBytes: number;
  readonly sealSeconds: number;
  /** CRC-32 of everything behind the header. */
  readonly dataChecksum: number;
  /** Where the data begins. */
  readonly headerBytes: number;
}

export type Seal = Pick<SealedHeader, 'sizeBytes' | 'sealSeconds' | 'dataChecksum'>;

const magic = 'PAR1SVC1';
const textStart = 12;
const fixedBytes = 24;
/** Larger descriptions do not come from us. */
const maxHeaderBytes = 64 * 1024 * 1024;

interface HeaderText {
  readonly location: string;
  readonly version: string;
  readonly rowGroups: readonly (readonly [number, number])[];
  readonly columns: readonly string[];
  readonly rowCount: number;
}

/** Bytes of the header: they depend on its content only, so that an entry's layout can be computed again. */
export function headerLength(header: EntryHeader): number {
  return textStart + encodeText(header).length + fixedBytes;
}

export function encodeHeader(header: EntryHeader, seal: Seal): Uint8Array {
  const text = encodeText(header);
  const bytes = Buffer.alloc(textStart + text.length + fixedBytes);
  bytes.write(magic, 0, 'latin1');
  bytes.writeUInt32LE(text.length, 8);
  text.copy(bytes, textStart);
  const fixed = textStart + text.length;
  bytes.writeBigUInt64LE(BigInt(seal.sizeBytes), fixed);
  bytes.writeBigUInt64LE(BigInt(seal.sealSeconds), fixed + 8);
  bytes.writeUInt32LE(seal.dataChecksum, fixed + 16);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, fixed + 20)), fixed + 20);
  return bytes;
}

/** How many bytes the header has that begins with these (at least 12), or `undefined` when it is none. */
export function headerLengthOf(start: Uint8Array): number | undefined {
  const bytes = Buffer.from(start.buffer, start.byteOffset, start.byteLength);
  if (bytes.length < textStart || bytes.toString('latin1', 0, 8) !== magic) return undefined;
  const length = textStart + bytes.readUInt32LE(8) + fixedBytes;
  return length <= maxHeaderBytes ? length : undefined;
}

/** `undefined` when the bytes are no intact header. */
export function decodeHeader(start: Uint8Array): SealedHeader | undefined {
  const length = headerLengthOf(start);
  if (length === undefined || start.length < length) return undefined;
  const bytes = Buffer.from(start.buffer, start.byteOffset, length);
  const fixed = length - fixedBytes;
  if (crc32(bytes.subarray(0, fixed + 20)) !== bytes.readUInt32LE(fixed + 20)) return undefined;
  // The checksum vouches for the text: it was written by encodeText.
  const text = JSON.parse(bytes.toString('utf8', textStart, fixed)) as HeaderText;
  return {
    location: text.location,
    version: text.version,
    selection: makeSelection(fromRanges(text.rowGroups), text.columns),
    rowCount: text.rowCount,
    sizeBytes: Number(bytes.readBigUInt64LE(fixed)),
    sealSeconds: Number(bytes.readBigUInt64LE(fixed + 8)),
    dataChecksum: bytes.readUInt32LE(fixed + 16),
    headerBytes: length,
  };
}

function encodeText(header: EntryHeader): Buffer {
  const text: HeaderText = {
    location: header.location,
    version: header.version,
    rowGroups: toRanges(header.selection.rowGroups),
    columns: header.selection.columns,
    rowCount: header.rowCount,
  };
  return Buffer.from(JSON.stringify(text));
}
