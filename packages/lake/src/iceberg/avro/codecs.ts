/** Block compression of Avro files (Avro specification, "Required Codecs", "Optional Codecs"). */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { QueryError } from '@svc/base';
import { Decompress } from 'fzstd';
import snappy from 'snappyjs';
import { AvroError } from './avro-error.js';
import { crc32 } from './crc32.js';
import { withNeededWindows } from './zstd-windows.js';

export type WriteCodec = 'null' | 'deflate';

/** Throws an AvroError for what decompresses to more than `maxBytes`, before there is much more of it. */
export function decompressBlock(
  codec: string,
  block: Uint8Array,
  { source, maxBytes }: { readonly source: string; readonly maxBytes: number },
): Uint8Array {
  const limit = Math.max(maxBytes, 1);
  try {
    switch (codec) {
      case 'null':
        return block;
      case 'deflate':
        return inflateRawSync(block, { maxOutputLength: limit, chunkSize: inflateChunkBytes(block) });
      case 'snappy':
        return decompressSnappy(block, limit);
      case 'zstandard':
        return decompressZstd(block, limit);
    }
  } catch (error) {
    if (error instanceof AvroError) throw error;
    throw new AvroError(`a block does not decompress as ${codec} (${(error as Error).message})`);
  }
  throw new QueryError(
    'UNSUPPORTED_TABLE_FEATURE',
    `${source} is compressed with ${JSON.stringify(codec)}; null, deflate, snappy and zstandard are read.`,
  );
}

/** zlib allocates by chunks and keeps the last one whole: for a block of one record the default would be 30 times that. */
function inflateChunkBytes(block: Uint8Array): number {
  return Math.min(Math.max(block.length * 4, 1024), 256 * 1024);
}

export function compressBlock(codec: WriteCodec, block: Uint8Array): Uint8Array {
  return codec === 'null' ? block : deflateRawSync(block);
}

/** A Snappy block without framing, then the big-endian CRC-32 of what it decompresses to. */
function decompressSnappy(block: Uint8Array, maxBytes: number): Uint8Array {
  const compressed = block.subarray(0, Math.max(block.length - 4, 0));
  const expectedBytes = snappyLength(compressed);
  // One element of two or more bytes makes at most 64 bytes, so a larger promise cannot be kept.
  if (expectedBytes > Math.min(maxBytes, compressed.length * 64))
    throw new AvroError('a snappy block claims an impossible size');
  const result = snappy.uncompress(Buffer.from(compressed.buffer, compressed.byteOffset, compressed.length));
  if (
    crc32(result) !==
    Buffer.from(block.buffer, block.byteOffset, block.length).readUInt32BE(compressed.length)
  )
    throw new AvroError('the checksum of a snappy block is wrong');
  return result;
}

function snappyLength(compressed: Uint8Array): number {
  let length = 0;
  for (let index = 0; index < 5; index++) {
    const byte = compressed[index];
    if (byte === undefined) break;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return length;
  }
  throw new AvroError('a snappy block has no length');
}

/** In pieces, so that a small block that unfolds to gigabytes is stopped on the way. */
function decompressZstd(block: Uint8Array, maxBytes: number): Uint8Array {
  const pieces: Uint8Array[] = [];
  let total = 0;
  const stream = new Decompress((piece) => {
    total += piece.length;
    if (total > maxBytes) throw new AvroError(`a zstd block is larger than ${maxBytes} bytes`);
    pieces.push(piece);
  });
  stream.push(withNeededWindows(block, maxBytes), true);
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
}
