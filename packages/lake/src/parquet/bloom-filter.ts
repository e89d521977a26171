import { readBloomFilter, sbbfContains } from 'hyparquet/src/bloom.js';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import { xxhash64 } from 'hyparquet/src/xxhash.js';
import type { ColumnFilter } from '../iceberg/expressions/bind-filter.js';
import type { Comparable } from '../iceberg/spec/values.js';
import type { ByteRange, ObjectStore, ReadOptions } from '../storage/object-store.js';
import type { ColumnChunk } from './column-chunk.js';
import type { ParquetFooter } from './footer.js';
import { encodePlain } from './plain-value.js';
import type { ParquetLeaf } from './schema.js';

/** Larger filters cost more to fetch than the rows that they might save. */
const maxBloomBytes = 8 * 1024 * 1024;
/** Of larger ones only the blocks are fetched that the values are in, for which the header has to be fetched first. */
const maxWholeBytes = 64 * 1024;
const maxBlocks = 16;
const blockBytes = 32;
const headerBytes = 64;

/** A filter, or those of its blocks that were asked for. */
export interface BloomFilter {
  /** What keeping it takes. */
  readonly bytes: number;
  /** False only when no value with this hash is in the column chunk. */
  mightContain(hash: bigint): boolean;
}

export interface BloomQuestion {
  readonly chunk: ColumnChunk;
  /** Of the values that the filter will be asked for. */
  readonly hashes: readonly bigint[];
}

export type BloomFilterReader = typeof readBloomFilters;

/** The values that a row must have one of, when the predicate is an equality; a bloom filter tells nothing of others. */
export function wantedValues({ predicate }: ColumnFilter): readonly Comparable[] | undefined {
  if (predicate.kind === 'in') return predicate.values;
  return predicate.kind === 'compare' && predicate.operator === '=' ? [predicate.value] : undefined;
}

/** Hashes of all forms that one of the values may have in the column; undefined when they cannot be enumerated. */
export function wantedHashes(filter: ColumnFilter, leaf: ParquetLeaf): readonly bigint[] | undefined {
  const encodings = wantedValues(filter)?.map((value) => encodePlain(filter.type, leaf, value));
  return encodings?.every((bytes) => bytes !== undefined)
    ? encodings.flat().map((bytes) => xxhash64(bytes))
    : undefined;
}

/** False only when none of the values is in the filter's column chunk. */
export function bloomMightContain(filter: ColumnFilter, leaf: ParquetLeaf, bloom: BloomFilter): boolean {
  const hashes = wantedHashes(filter, leaf);
  return hashes === undefined || hashes.some((hash) => bloom.mightContain(hash));
}

/** Whether the answer is good for any other value too. */
export function isReadWhole({ chunk, hashes }: BloomQuestion): boolean {
  return (chunk.bloomFilterBytes ?? maxBloomBytes) <= maxWholeBytes || hashes.length > maxBlocks;
}

/** About what the answer takes. */
export function bytesOfAnswer(question: BloomQuestion): number {
  const { chunk, hashes } = question;
  if (!isReadWhole(question)) return headerBytes + hashes.length * blockBytes;
  return chunk.bloomFilterBytes ?? assumedBloomBytes;
}

const assumedBloomBytes = 1024 * 1024;

/**
 * Fetches filters, in the order of the questions. `undefined` where there is none, where it is too large, of an unknown
 * kind or damaged: then nothing is known.
 */
export async function readBloomFilters(
  store: ObjectStore,
  footer: ParquetFooter,
  questions: readonly BloomQuestion[],
  signal: AbortSignal | undefined,
): Promise<readonly (BloomFilter | undefined)[]> {
  const options: ReadOptions = { version: footer.version, ...(signal && { signal }) };
  const fetch = async (wanted: readonly (readonly ByteRange[])[]): Promise<readonly Uint8Array[][]> => {
    const ranges = wanted.flat();
    const bytes = ranges.length === 0 ? [] : await store.readRanges(footer.location, ranges, options);
    let next = 0;
    return wanted.map((part) => {
      next += part.length;
      return bytes.slice(next - part.length, next);
    });
  };
  const isKnown = (question: BloomQuestion) =>
    isReadWhole(question) && question.chunk.bloomFilterBytes !== undefined;
  const headers = await fetch(
    questions.map((question) =>
      isKnown(question) ? [] : rangeOf(footer, question.chunk, headerLength(footer, question.chunk)),
    ),
  );
  const plans = questions.map((question, index): BloomPlan => {
    const { chunk } = question;
    if (isKnown(question)) return wholeOf(footer, chunk, chunk.bloomFilterBytes);
    const header = readHeader(headers[index]?.[0]);
    return header === undefined ? nothing : planOf(footer, question, header);
  });
  const answers = await fetch(plans.map(({ ranges }) => ranges));
  return plans.map(({ decode }, index) => decode(answers[index] ?? []));
}

interface BloomPlan {
  readonly ranges: readonly ByteRange[];
  readonly decode: (bytes: readonly Uint8Array[]) => BloomFilter | undefined;
}

const nothing: BloomPlan = { ranges: [], decode: () => undefined };

/** None, or one. */
function rangeOf(
  footer: ParquetFooter,
  chunk: ColumnChunk,
  length: number | undefined,
): readonly ByteRange[] {
  const start = chunk.bloomFilterStart;
  if (start === undefined || start < 4 || length === undefined || length <= 0 || length > maxBloomBytes)
    return [];
  return start + length <= footer.footerStart ? [{ start, end: start + length }] : [];
}

function headerLength(footer: ParquetFooter, { bloomFilterStart }: ColumnChunk): number {
  return Math.min(headerBytes, footer.footerStart - (bloomFilterStart ?? 0));
}

function wholeOf(footer: ParquetFooter, chunk: ColumnChunk, length: number | undefined): BloomPlan {
  return { ranges: rangeOf(footer, chunk, length), decode: ([bytes]) => bytes && decodeWhole(bytes) };
}

function planOf(
  footer: ParquetFooter,
  question: BloomQuestion,
  { bitBytes, length }: BloomHeader,
): BloomPlan {
  const { chunk, hashes } = question;
  const [whole] = rangeOf(footer, chunk, length + bitBytes);
  if (whole === undefined || isReadWhole(question) || length + bitBytes <= maxWholeBytes)
    return wholeOf(footer, chunk, length + bitBytes);
  const blockCount = BigInt(bitBytes / blockBytes);
  const blockOf = (hash: bigint) => Number(((hash >> 32n) * blockCount) >> 32n);
  const blocks = [...new Set(hashes.map(blockOf))].sort((a, b) => a - b);
  const ranges = blocks.map((block) => {
    const start = whole.start + length + block * blockBytes;
    return { start, end: start + blockBytes };
  });
  return {
    ranges,
    decode: (answers) => {
      const known = new Map(blocks.map((block, index) => [block, words(answers[index])]));
      return {
        bytes: blocks.length * blockBytes,
        mightContain(hash) {
          const bits = known.get(blockOf(hash));
          // A block is a filter of its own.
          return bits === undefined || sbbfContains(bits, hash);
        },
      };
    },
  };
}

function words(bytes: Uint8Array | undefined): Uint32Array | undefined {
  if (bytes?.length !== blockBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: blockBytes / 4 }, (_none, index) => view.getUint32(index * 4, true));
}

interface BloomHeader {
  readonly bitBytes: number;
  /** Of the header itself. */
  readonly length: number;
}

/** By the format's field ids: bytes of bits, algorithm, hash, compression. */
interface WrittenHeader {
  readonly field_1?: unknown;
  readonly field_2?: unknown;
  readonly field_3?: unknown;
  readonly field_4?: unknown;
}

/** Undefined for a filter of a kind that is not known, and for a damaged one: it is ignored. */
function readHeader(bytes: Uint8Array | undefined): BloomHeader | undefined {
  if (bytes === undefined) return undefined;
  try {
    const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
    const header: WrittenHeader = deserializeTCompactProtocol(reader);
    const bitBytes = header.field_1;
    const kinds = [header.field_2, header.field_3, header.field_4];
    const isKnown = kinds.every((kind) => typeof kind === 'object' && kind !== null && 'field_1' in kind);
    return isKnown && typeof bitBytes === 'number' && bitBytes > 0 && bitBytes % blockBytes === 0
      ? { bitBytes, length: reader.offset }
      : undefined;
  } catch {
    return undefined;
  }
}

function decodeWhole(bytes: Uint8Array): BloomFilter | undefined {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const blocks = readBloomFilter({ view, offset: 0 })?.blocks;
    return blocks && { bytes: blocks.byteLength, mightContain: (hash) => sbbfContains(blocks, hash) };
  } catch {
    return undefined; // See above.
  }
}
