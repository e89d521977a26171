import { crc32 } from 'node:zlib';
import { QueryError } from '@svc/base';
import type { ObjectStore } from '../storage/object-store.js';
import type { DeletedRows } from './deleted-rows.js';

/** Rows of one file take at most an eighth of a byte each: what is larger is no bitmap of a data file. */
const maxBitmapBytes = 256 * 1024 * 1024;
const frameBytes = 8;

/**
 * The magic number and bitmap of a set of rows. Throws DATA_CORRUPT for a wrong length or checksum, DATA_FILE_MISSING,
 * STORAGE_ERROR.
 */
export async function readBitmap(
  { bitmap }: DeletedRows,
  store: ObjectStore,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  if (bitmap.kind === 'inline') return Buffer.from(bitmap.base64, 'base64');
  const { location, start, end } = bitmap;
  const length = end - start - frameBytes;
  const what = `The deletion vector at byte ${start} of ${location}`;
  if (length <= 0 || length > maxBitmapBytes)
    throw new QueryError('DATA_CORRUPT', `${what} is said to have ${length} bytes.`);
  const [framed] = await store.readRanges(location, [{ start, end }], signal && { signal });
  if (framed?.length !== end - start) throw new QueryError('DATA_CORRUPT', `${what} is cut short.`);
  const view = Buffer.from(framed.buffer, framed.byteOffset, framed.byteLength);
  if (view.readUInt32BE(0) !== length)
    throw new QueryError(
      'DATA_CORRUPT',
      `${what} has ${view.readUInt32BE(0)} bytes; the table's metadata says ${length}.`,
    );
  const body = view.subarray(4, 4 + length);
  if (crc32(body) !== view.readUInt32BE(4 + length))
    throw new QueryError('DATA_CORRUPT', `${what} is damaged: its checksum is wrong.`);
  return body;
}
