/** What a table has to know of a Parquet file to take it over as it is: its schema, and its metrics from the footer. */
import type { DataFileMetrics } from '../iceberg/manifests/write-manifest.js';
import { encodeBinaryValue } from '../iceberg/spec/binary-value.js';
import type { NestedField, PrimitiveType } from '../iceberg/spec/types.js';
import type { Comparable, PrimitiveValue } from '../iceberg/spec/values.js';
import { compareValues, isNaNValue } from '../iceberg/spec/values.js';
import type { ObjectStore } from '../storage/object-store.js';
import { summariseChunk } from './chunk-summary.js';
import { type ColumnChunk, readColumnChunk } from './column-chunk.js';
import { type ParquetFooter, rowGroupsWithRows } from './footer.js';
import { inferSchema } from './iceberg-schema.js';
import { readFooter } from './read-footer.js';
import type { ParquetLeaf } from './schema.js';

export interface ParquetInspection {
  readonly location: string;
  readonly sizeBytes: number;
  /** The schema that a table made of the file has. */
  readonly fields: readonly NestedField[];
  readonly lastColumnId: number;
  /** False: a table needs a name mapping of these fields to read the file. */
  readonly idsAreInFile: boolean;
  /**
   * A count or bound that the file's own statistics do not give with certainty is left out; bounds may be wider than the
   * values.
   */
  readonly metrics: DataFileMetrics;
}

/** Bounds of text are cut to so many characters, as other writers do by default. */
const maxBoundLength = 16;

/** Throws DATA_CORRUPT, DATA_FILE_MISSING, and UNSUPPORTED_TABLE_FEATURE naming a column that no table can have. */
export async function inspectParquet(
  store: ObjectStore,
  location: string,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<ParquetInspection> {
  const { signal } = options;
  const info = await store.head(location, signal && { signal });
  const footer = await readFooter(store, info, undefined, signal);
  const { fields, lastColumnId, idsAreInFile, leaves, idsOfColumns } = inferSchema(footer.schema, location);
  const rowGroups = rowGroupsWithRows(footer);
  const chunks = footer.schema.leaves.map((leaf) =>
    rowGroups.map((rowGroup) => readColumnChunk(footer, rowGroup, leaf.column)),
  );
  const metrics = {
    recordCount: footer.rowCount,
    columnSizes: new Map<number, number>(),
    valueCounts: new Map<number, number>(),
    nullValueCounts: new Map<number, number>(),
    nanValueCounts: new Map<number, number>(),
    lowerBounds: new Map<number, Uint8Array>(),
    upperBounds: new Map<number, Uint8Array>(),
    splitOffsets: splitOffsets(chunks),
  };
  for (const [column, id] of idsOfColumns)
    metrics.columnSizes.set(id, sum((chunks[column] ?? []).map((chunk) => chunk.end - chunk.start)));
  const types = primitiveTypes(fields);
  for (const [id, leaf] of leaves) {
    const type = types.get(id);
    if (type !== undefined) addColumn(metrics, { id, type, leaf, footer, chunks: chunks[leaf.column] ?? [] });
  }
  return { location, sizeBytes: info.sizeBytes, fields, lastColumnId, idsAreInFile, metrics };
}

interface Column {
  readonly id: number;
  readonly type: PrimitiveType;
  readonly leaf: ParquetLeaf;
  readonly footer: ParquetFooter;
  readonly chunks: readonly ColumnChunk[];
}

interface MutableMetrics {
  readonly valueCounts: Map<number, number>;
  readonly nullValueCounts: Map<number, number>;
  readonly nanValueCounts: Map<number, number>;
  readonly lowerBounds: Map<number, Uint8Array>;
  readonly upperBounds: Map<number, Uint8Array>;
}

function addColumn(metrics: MutableMetrics, column: Column): void {
  const { id, type, leaf, footer, chunks } = column;
  metrics.valueCounts.set(id, sum(chunks.map((chunk) => chunk.valueCount)));
  setSum(
    metrics.nullValueCounts,
    id,
    chunks.map((chunk) => chunk.statistics.nullCount),
  );
  if (type.kind === 'float' || type.kind === 'double')
    setSum(
      metrics.nanValueCounts,
      id,
      chunks.map((chunk) => chunk.statistics.nanCount),
    );
  const isOrdered = footer.hasTypeDefinedOrder[leaf.column] === true;
  const summaries = chunks
    .map((chunk) => summariseChunk(type, leaf, chunk, isOrdered))
    .filter((summary) => summary.mayHaveValue);
  const lower = extreme(
    summaries.map((summary) => summary.lower),
    -1,
  );
  const upper = extreme(
    summaries.map((summary) => summary.upper),
    1,
  );
  const lowerBytes = lower === undefined ? undefined : encodeBound(type, lower, 'lower');
  const upperBytes = upper === undefined ? undefined : encodeBound(type, upper, 'upper');
  if (lowerBytes !== undefined) metrics.lowerBounds.set(id, lowerBytes);
  if (upperBytes !== undefined) metrics.upperBounds.set(id, upperBytes);
}

/** Nothing, when one of the bounds is not known. */
function extreme(bounds: readonly (Comparable | undefined)[], sign: 1 | -1): Comparable | undefined {
  let result: Comparable | undefined;
  for (const bound of bounds) {
    if (bound === undefined || isNaNValue(bound)) return undefined;
    if (result === undefined || compareValues(bound, result) * sign > 0) result = bound;
  }
  return result;
}

function encodeBound(
  type: PrimitiveType,
  bound: Comparable,
  side: 'lower' | 'upper',
): Uint8Array | undefined {
  if (type.kind === 'string') return typeof bound === 'object' ? textBound(bound, side) : undefined;
  if (type.kind === 'binary' || type.kind === 'fixed')
    return typeof bound === 'object' ? bytesBound(bound, side) : undefined;
  const value = toPrimitive(type, bound, side);
  return value === undefined ? undefined : encodeBinaryValue(type, value);
}

function toPrimitive(
  type: PrimitiveType,
  bound: Comparable,
  side: 'lower' | 'upper',
): PrimitiveValue | undefined {
  switch (type.kind) {
    case 'boolean':
      return Number(bound) !== 0;
    case 'int':
    case 'date':
      return Number(bound);
    case 'float':
    case 'double':
      // The two zeros are equal, but not in the order of bounds: -0.0 is the lower one.
      return Number(bound) === 0 ? (side === 'lower' ? -0 : 0) : Number(bound);
    case 'uuid':
      return typeof bound === 'object' ? bound : undefined;
    case 'unknown':
    case 'unsupported':
      return undefined;
    default:
      return typeof bound === 'object' ? undefined : BigInt(bound);
  }
}

/** Cut to whole characters; an upper bound that was cut is raised at its last character that can be. */
function textBound(bytes: Uint8Array, side: 'lower' | 'upper'): Uint8Array | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // Cut within a character, or no text at all: no bound that others could read.
  }
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  if (points.length <= maxBoundLength) return Buffer.from(text, 'utf8');
  const kept = points.slice(0, maxBoundLength);
  if (side === 'lower') return Buffer.from(String.fromCodePoint(...kept), 'utf8');
  for (let last = kept.pop(); last !== undefined; last = kept.pop()) {
    const raised = last === 0xd7ff ? 0xe000 : last + 1;
    if (raised <= 0x10ffff) return Buffer.from(String.fromCodePoint(...kept, raised), 'utf8');
  }
  return undefined;
}

function bytesBound(bytes: Uint8Array, side: 'lower' | 'upper'): Uint8Array | undefined {
  if (bytes.length <= maxBoundLength) return bytes;
  const kept = Array.from(bytes.subarray(0, maxBoundLength));
  if (side === 'lower') return Uint8Array.from(kept);
  for (let last = kept.pop(); last !== undefined; last = kept.pop())
    if (last < 0xff) return Uint8Array.from([...kept, last + 1]);
  return undefined;
}

function primitiveTypes(
  fields: readonly NestedField[],
  into: Map<number, PrimitiveType> = new Map(),
): ReadonlyMap<number, PrimitiveType> {
  for (const { id, type } of fields) {
    if (type.kind === 'struct') primitiveTypes(type.fields, into);
    else if (type.kind !== 'list' && type.kind !== 'map') into.set(id, type);
  }
  return into;
}

/** Where each row group's first chunk begins. */
function splitOffsets(chunks: readonly (readonly ColumnChunk[])[]): readonly number[] {
  const [first = []] = chunks;
  return first
    .map((_chunk, index) =>
      Math.min(...chunks.map((column) => column[index]?.start ?? Number.POSITIVE_INFINITY)),
    )
    .sort((a, b) => a - b);
}

function setSum(into: Map<number, number>, id: number, counts: readonly (number | undefined)[]): void {
  const known = counts.filter((count) => count !== undefined);
  if (known.length === counts.length) into.set(id, sum(known));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
