import { QueryError } from '@svc/base';
import { displayLocation } from '../storage/display-location.js';
import type { ObjectInfo, ObjectStore, ReadOptions } from '../storage/object-store.js';
import { encryptedError, indexFooter, type ParquetFooter, type SchemaParser } from './footer.js';

/** Length of the footer's own length and of the magic bytes behind it. */
const trailerBytes = 8;
/** Magic bytes in front, footer and trailer behind. */
export const minFileBytes = 12;
/** A larger footer is refused before it is fetched: it would describe more than a million column chunks. */
const maxFooterBytes = 128 * 1024 * 1024;

/** How much of the file's end is asked for first: nearly always the whole footer, so that one request is enough. */
export function guessTailBytes(sizeBytes: number): number {
  const guess = Math.min(Math.max(sizeBytes / 512, 64 * 1024), 1024 * 1024);
  return Math.min(sizeBytes, Math.ceil(guess));
}

/**
 * Fetches and indexes a file's footer. Throws DATA_CORRUPT naming the file when it is no Parquet file or damaged,
 * UNSUPPORTED_TABLE_FEATURE when it is encrypted. `known` are bytes of the file's end, at least twelve.
 */
export async function readFooter(
  store: ObjectStore,
  info: ObjectInfo,
  parseOnce?: SchemaParser,
  signal?: AbortSignal,
  known?: Uint8Array,
): Promise<ParquetFooter> {
  const { location, sizeBytes, version } = info;
  const options: ReadOptions = signal === undefined ? { version } : { version, signal };
  if (sizeBytes < minFileBytes) throw corrupt(location, `it has only ${sizeBytes} bytes`);
  const tail =
    known ?? (await readRange(store, location, sizeBytes - guessTailBytes(sizeBytes), sizeBytes, options));
  const length = footerLength(tail, location);
  const footerStart = sizeBytes - trailerBytes - length;
  if (footerStart < 4) throw corrupt(location, `its footer claims ${length} of ${sizeBytes} bytes`);
  if (length > maxFooterBytes)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The footer of ${displayLocation(location)} has ${length} bytes; at most ${maxFooterBytes} are read.`,
    );
  const bytes =
    length + trailerBytes <= tail.length
      ? // A copy: the rest of the tail is not kept alive for as long as the footer is.
        new Uint8Array(tail.subarray(tail.length - trailerBytes - length, tail.length - trailerBytes))
      : await readRange(store, location, footerStart, sizeBytes - trailerBytes, options);
  return indexFooter(bytes, { location, version, footerStart }, parseOnce);
}

async function readRange(
  store: ObjectStore,
  location: string,
  start: number,
  end: number,
  options: ReadOptions,
): Promise<Uint8Array> {
  const [bytes] = await store.readRanges(location, [{ start, end }], options);
  if (bytes?.length !== end - start) throw corrupt(location, 'storage answered fewer bytes than it has');
  return bytes;
}

function footerLength(tail: Uint8Array, location: string): number {
  const view = new DataView(tail.buffer, tail.byteOffset, tail.byteLength);
  const magic = Buffer.from(tail.subarray(tail.length - 4)).toString('latin1');
  if (magic === 'PARE') throw encryptedError(location);
  if (magic !== 'PAR1') throw corrupt(location, 'it does not end as a Parquet file does');
  return view.getUint32(tail.length - trailerBytes, true);
}

function corrupt(location: string, what: string): QueryError {
  return new QueryError(
    'DATA_CORRUPT',
    `${displayLocation(location)} is not a complete Parquet file: ${what}.`,
  );
}
