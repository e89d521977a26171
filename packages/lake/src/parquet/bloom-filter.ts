import { readBloomFilter, sbbfContains } from 'hyparquet/src/bloom.js';
import { xxhash64 } from 'hyparquet/src/xxhash.js';
import type { ColumnFilter } from '../iceberg/expressions/bind-filter.js';
import type { Comparable } from '../iceberg/spec/values.js';
import type { ObjectStore, ReadOptions } from '../storage/object-store.js';
import type { ColumnChunk } from './column-chunk.js';
import type { ParquetFooter } from './footer.js';
import { encodePlain } from './plain-value.js';
import type { ParquetLeaf } from './schema.js';
import { CompactReader, wireType } from './thrift/compact-reader.js';

/** Larger filters cost more to fetch than the rows that they might save. */
const maxBloomBytes = 8 * 1024 * 1024;
/** Writers that do not note a filter's length: its header says it. */
const headerBytes = 64;

/** The bits of a filter. */
export type BloomFilter = Uint32Array;

export type BloomFilterReader = typeof readBloomFilters;

/** The values that a row must have one of, when the predicate is an equality; a bloom filter tells nothing of others. */
export function wantedValues({ predicate }: ColumnFilter): readonly Comparable[] | undefined {
  if (predicate.kind === 'in') return predicate.values;
  return predicate.kind === 'compare' && predicate.operator === '=' ? [predicate.value] : undefined;
}

/** False only when none of the values is in the filter's column chunk. */
export function bloomMightContain(filter: ColumnFilter, leaf: ParquetLeaf, bloom: BloomFilter): boolean {
  const values = wantedValues(filter);
  return (
    values === undefined ||
    values.some((value) => {
      const encodings = encodePlain(filter.type, leaf, value);
      return encodings === undefined || encodings.some((bytes) => sbbfContains(bloom, xxhash64(bytes)));
    })
  );
}

/**
 * Fetches the chunks' filters, in their order. `undefined` where there is none, where it is too large, of an unknown
 * kind or damaged: then nothing is known.
 */
export async function readBloomFilters(
  store: ObjectStore,
  footer: ParquetFooter,
  chunks: readonly ColumnChunk[],
  signal: AbortSignal | undefined,
): Promise<readonly (BloomFilter | undefined)[]> {
  const { location, version } = footer;
  const options: ReadOptions = { version, ...(signal && { signal }) };
  const fetch = async (wanted: readonly (Wanted | undefined)[]): Promise<(Uint8Array | undefined)[]> => {
    const ranges = wanted.filter((range) => range !== undefined);
    const bytes = ranges.length === 0 ? [] : await store.readRanges(location, ranges, options);
    let next = 0;
    return wanted.map((range) => (range === undefined ? undefined : bytes[next++]));
  };
  const known = chunks.map((chunk) => rangeOf(footer, chunk, chunk.bloomFilterBytes));
  const headers = await fetch(
    chunks.map((chunk, index) => (known[index] === undefined ? headerRange(footer, chunk) : undefined)),
  );
  const ranges = chunks.map((chunk, index) => {
    const header = headers[index];
    return known[index] ?? (header && rangeOf(footer, chunk, declaredLength(header, location)));
  });
  return (await fetch(ranges)).map((bytes) => (bytes === undefined ? undefined : decode(bytes)));
}

interface Wanted {
  readonly start: number;
  readonly end: number;
}

function rangeOf(footer: ParquetFooter, chunk: ColumnChunk, length: number | undefined): Wanted | undefined {
  const start = chunk.bloomFilterStart;
  if (start === undefined || start < 4 || length === undefined || length <= 0 || length > maxBloomBytes)
    return undefined;
  return start + length <= footer.footerStart ? { start, end: start + length } : undefined;
}

function headerRange(footer: ParquetFooter, chunk: ColumnChunk): Wanted | undefined {
  const { bloomFilterStart, bloomFilterBytes } = chunk;
  if (bloomFilterStart === undefined || bloomFilterBytes !== undefined) return undefined;
  return rangeOf(footer, chunk, Math.min(headerBytes, footer.footerStart - bloomFilterStart));
}

function declaredLength(header: Uint8Array, location: string): number | undefined {
  try {
    const reader = new CompactReader(header, location);
    let bits: number | undefined;
    reader.fields((id, type) => {
      if (id !== 1 || type !== wireType.i32) return false;
      bits = reader.integer();
      return true;
    });
    return bits === undefined ? undefined : reader.position + bits;
  } catch {
    return undefined; // Damaged: the filter is ignored, as all that is not understood of it.
  }
}

function decode(bytes: Uint8Array): BloomFilter | undefined {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return readBloomFilter({ view, offset: 0 })?.blocks;
  } catch {
    return undefined; // See above.
  }
}
