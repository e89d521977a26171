/**
 * A column chunk of BYTE_ARRAY values that all have one length, made into one of FIXED_LEN_BYTE_ARRAY: in PLAIN pages the
 * length in front of each value goes away. Pages of dictionary indexes keep their bytes.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { QueryError, throwIfAborted } from '@svc/base';
import { decompress as unzstd } from 'fzstd';
import snappy from 'snappyjs';
import type { LeafLevels } from '../leaf-levels.js';
import { CompactReader, wireType } from '../thrift/compact-reader.js';
import { CompactWriter } from '../thrift/compact-writer.js';

/** `CompressionCodec`, `PageType` and `Encoding` of parquet.thrift. */
const codecs = { uncompressed: 0, snappy: 1, gzip: 2, zstd: 6 } as const;
const pageTypes = { data: 0, dictionary: 2 } as const;
const encodings = { plain: 0, plainDictionary: 2, rleDictionary: 8 } as const;
const prefixBytes = 4;

/** What a footer has to say of it. */
export interface FixedChunk {
  readonly codec: number;
  readonly compressedBytes: number;
  readonly uncompressedBytes: number;
  /** Of the first page of values, from the first byte of the chunk: a dictionary lies before it. */
  readonly dataPageOffset: number;
}

export interface ChunkPages extends FixedChunk {
  /** Headers and bodies in turn. */
  readonly pages: readonly Uint8Array[];
}

export interface ChunkToFix {
  /** The whole chunk, as the engine has written it: pages of version 1. */
  readonly bytes: Uint8Array;
  readonly codec: number;
  readonly levels: LeafLevels;
  readonly length: number;
  /** Of the file, for messages. */
  readonly location: string;
}

/**
 * Compressed with gzip where it was compressed: what Node has, and every reader of Parquet. Throws INTERNAL_ERROR of a
 * value of another length, and of pages that the engine does not write.
 */
export async function fixChunk(source: ChunkToFix, signal?: AbortSignal): Promise<ChunkPages> {
  const { bytes, location } = source;
  const codec = source.codec === codecs.uncompressed ? codecs.uncompressed : codecs.gzip;
  const pages: Uint8Array[] = [];
  let [position, compressedBytes, uncompressedBytes] = [0, 0, 0];
  let dataPageOffset: number | undefined;
  while (position < bytes.length) {
    throwIfAborted(signal);
    const page = readPage(bytes, position, location);
    const plain = fixedPage(page, decompressPage(source.codec, page), source);
    const body = codec === codecs.gzip ? await promisify(gzip)(plain) : plain;
    const header = encodeHeader(page.header, plain.length, body.length);
    if (page.type !== pageTypes.dictionary) dataPageOffset ??= compressedBytes;
    pages.push(header, body);
    compressedBytes += header.length + body.length;
    uncompressedBytes += header.length + plain.length;
    position = page.end;
  }
  if (dataPageOffset === undefined) throw unexpected(location, 'a column chunk without a page of values');
  return { pages, codec, compressedBytes, uncompressedBytes, dataPageOffset };
}

interface HeaderField {
  readonly id: number;
  readonly type: number;
  readonly bytes: Uint8Array;
}

interface Page {
  readonly type: number;
  readonly encoding: number;
  readonly uncompressedBytes: number;
  readonly header: readonly HeaderField[];
  readonly body: Uint8Array;
  /** Where the next one begins. */
  readonly end: number;
}

function readPage(bytes: Uint8Array, start: number, location: string): Page {
  const reader = new CompactReader(bytes, location, start);
  const header: HeaderField[] = [];
  let [type, encoding, uncompressedBytes, compressedBytes] = [-1, -1, 0, 0];
  reader.fields((id, fieldType) => {
    const from = reader.position;
    if (id === 1) type = reader.integer();
    else if (id === 2) uncompressedBytes = reader.size('the size of a page');
    else if (id === 3) compressedBytes = reader.size('the size of a page');
    else if (id === 5 || id === 7) encoding = readEncoding(reader);
    else reader.skip(fieldType);
    header.push({ id, type: fieldType, bytes: bytes.subarray(from, reader.position) });
    return true;
  });
  const end = reader.position + compressedBytes;
  if (end > bytes.length) reader.fail('a page reaches beyond its column chunk');
  return { type, encoding, uncompressedBytes, header, body: bytes.subarray(reader.position, end), end };
}

/** Of a data page or of a dictionary: both have it as their second field. */
function readEncoding(reader: CompactReader): number {
  let encoding = -1;
  reader.fields((id, type) => {
    if (id !== 2 || type !== wireType.i32) return false;
    encoding = reader.integer();
    return true;
  });
  return encoding;
}

function decompressPage(codec: number, { body, uncompressedBytes }: Page): Uint8Array {
  switch (codec) {
    case codecs.uncompressed:
      return body;
    case codecs.snappy:
      return snappy.uncompress(Buffer.from(body.buffer, body.byteOffset, body.length));
    case codecs.zstd:
      return unzstd(body, new Uint8Array(uncompressedBytes));
    default:
      throw new QueryError('INTERNAL_ERROR', `Pages of the codec ${codec} are not written by the engine.`);
  }
}

function fixedPage({ type, encoding }: Page, body: Uint8Array, source: ChunkToFix): Uint8Array {
  if (type === pageTypes.dictionary) return withoutPrefixes(body, 0, source);
  if (type !== pageTypes.data) throw unexpected(source.location, `a page of type ${type}`);
  switch (encoding) {
    case encodings.plain:
      return withoutPrefixes(body, levelBytes(body, source.levels), source);
    case encodings.plainDictionary:
    case encodings.rleDictionary:
      return body;
    default:
      throw unexpected(source.location, `a page of encoding ${encoding}`);
  }
}

/** Repetition and definition levels stand in front of the values, each with their length. */
function levelBytes(body: Uint8Array, { maxRepetition, maxDefinition }: LeafLevels): number {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  let position = 0;
  for (const level of [maxRepetition, maxDefinition])
    if (level > 0) position += prefixBytes + view.getUint32(position, true);
  return position;
}

function withoutPrefixes(body: Uint8Array, start: number, { length, location }: ChunkToFix): Uint8Array {
  const count = (body.length - start) / (prefixBytes + length);
  if (!Number.isInteger(count)) throw wrongLength(location, length);
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const result = new Uint8Array(start + count * length);
  result.set(body.subarray(0, start));
  for (let index = 0, from = start, to = start; index < count; index++, to += length) {
    if (view.getUint32(from, true) !== length) throw wrongLength(location, length);
    from += prefixBytes;
    result.set(body.subarray(from, from + length), to);
    from += length;
  }
  return result;
}

/** Checksums are of what the page was. */
function encodeHeader(fields: readonly HeaderField[], plainBytes: number, bodyBytes: number): Uint8Array {
  const writer = new CompactWriter();
  writer.structElement(() => {
    for (const { id, type, bytes } of fields) {
      if (id === 2) writer.i32(2, plainBytes);
      else if (id === 3) writer.i32(3, bodyBytes);
      else if (id !== 4) writer.raw(id, type, bytes);
    }
  });
  return writer.bytes();
}

function wrongLength(location: string, length: number): QueryError {
  return unexpected(location, `a value of other than ${length} bytes`);
}

function unexpected(location: string, what: string): QueryError {
  return new QueryError('INTERNAL_ERROR', `The engine has written ${what} to ${location}.`);
}
