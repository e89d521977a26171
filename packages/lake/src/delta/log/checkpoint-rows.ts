/**
 * Rows of Parquet files with actions (checkpoints and sidecars) as JSON, one row group after the other. The library
 * that decodes them trusts what a file says of itself, so footers, sizes and page headers are checked before it.
 */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { QueryError } from '@svc/base';
import {
  type ColumnMetaData,
  type Compressors,
  type FileMetaData,
  parquetReadObjects,
  type SchemaElement,
} from 'hyparquet';
import { decompressBlock } from '../../iceberg/avro/codecs.js';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonNumber,
} from '../../iceberg/spec/lossless-json.js';
import { type ColumnChunk, readColumnChunk } from '../../parquet/column-chunk.js';
import type { ParquetFooter } from '../../parquet/footer.js';
import { readFooter } from '../../parquet/read-footer.js';
import type { ParquetNode } from '../../parquet/schema.js';
import type { ObjectStore, ReadOptions } from '../../storage/object-store.js';
import { checkPages } from './check-pages.js';

/** Of the top-level columns (actions), the fields that are read; `true` is all of them. */
const neededFields: Readonly<Record<string, true | readonly string[]>> = {
  protocol: true,
  metaData: ['id', 'name', 'description', 'format', 'schemaString', 'partitionColumns', 'configuration'],
  add: ['path', 'partitionValues', 'size', 'stats', 'deletionVector'],
  sidecar: ['path'],
};
/** Bounds of one row group: what is read of it is in memory, and some times over while it is decoded. */
const maxGroupRows = 4_000_000;
const maxGroupBytes = 256 * 1024 * 1024;
const maxUncompressedBytes = 512 * 1024 * 1024;
/** Those that are read, by their numbers in the format. */
const codecs: ReadonlyMap<number, ColumnMetaData['codec']> = new Map([
  [0, 'UNCOMPRESSED'],
  [1, 'SNAPPY'],
  [2, 'GZIP'],
  [4, 'BROTLI'],
  [6, 'ZSTD'],
]);
const repetitions = { required: 'REQUIRED', optional: 'OPTIONAL', repeated: 'REPEATED' } as const;

export async function* readCheckpointRows(
  store: ObjectStore,
  location: string,
  { signal }: ReadOptions,
): AsyncGenerator<JsonObject> {
  const info = await store.head(location, signal && { signal });
  const footer = await readFooter(store, info, undefined, signal);
  const columns = neededColumns(footer);
  if (columns.length === 0) return;
  const metadata = metadataOf(footer, columns);
  let rowStart = 0;
  for (let rowGroup = 0; rowGroup < footer.rowGroupCount; rowGroup++) {
    const rowEnd = rowStart + (footer.rowCounts[rowGroup] ?? 0);
    if (rowEnd === rowStart) continue;
    const chunks = columns.map((column) => readColumnChunk(footer, rowGroup, column));
    checkGroup(footer, rowGroup, chunks);
    const options: ReadOptions = { version: info.version, ...(signal && { signal }) };
    const bytes = await store.readRanges(location, chunks, options);
    chunks.forEach((chunk, index) => {
      checkPages(bytes[index] ?? new Uint8Array(), chunk, location);
    });
    const file = {
      byteLength: info.sizeBytes,
      slice: (start: number, end?: number) => piece(chunks, bytes, start, end ?? info.sizeBytes),
    };
    const rows = await decoding(location, () =>
      parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors: compressorsOf(location) }),
    );
    for (const row of rows) yield toJsonObject(row);
    rowStart = rowEnd;
  }
}

/** Column numbers of the needed fields. */
function neededColumns({ schema }: ParquetFooter): readonly number[] {
  return schema.root.children.flatMap((action) => {
    const fields = Object.hasOwn(neededFields, action.name) ? neededFields[action.name] : undefined;
    if (fields === undefined || action.kind === 'leaf') return [];
    return action.children
      .filter((field) => fields === true || fields.includes(field.name))
      .flatMap(columnsOf);
  });
}

function columnsOf(node: ParquetNode): readonly number[] {
  if (node.kind === 'leaf') return [node.column];
  return Array.from({ length: node.endColumn - node.firstColumn }, (_one, index) => node.firstColumn + index);
}

/**
 * What the decoder is told of the file: the needed columns only, and only what was checked. What a footer says beyond
 * that could make it fail where nobody listens.
 */
function metadataOf(footer: ParquetFooter, columns: readonly number[]): FileMetaData {
  const kept = new Set(columns);
  const paths = new Map<number, readonly string[]>();
  const schema = elementsOf(footer.schema.root, [], kept, paths);
  return {
    version: 1,
    schema: [...schema],
    num_rows: BigInt(footer.rowCount),
    metadata_length: footer.bytes.length,
    row_groups: Array.from(footer.rowCounts, (rowCount, rowGroup) => ({
      num_rows: BigInt(rowCount),
      total_byte_size: 0n,
      columns: columns.map((column) => ({
        file_offset: 0n,
        meta_data: chunkMetadata(footer, rowGroup, column, paths.get(column) ?? []),
      })),
    })),
  };
}

function chunkMetadata(
  footer: ParquetFooter,
  rowGroup: number,
  column: number,
  path: readonly string[],
): ColumnMetaData {
  const { start, end, valueCount, uncompressedBytes, codec } = readColumnChunk(footer, rowGroup, column);
  return {
    type: footer.schema.leaves[column]?.physical ?? 'BYTE_ARRAY',
    encodings: [],
    path_in_schema: [...path],
    codec: codecs.get(codec) ?? 'UNCOMPRESSED',
    num_values: BigInt(valueCount),
    total_uncompressed_size: BigInt(uncompressedBytes),
    total_compressed_size: BigInt(end - start),
    data_page_offset: BigInt(start),
  };
}

/** The schema's elements, a node before what is below it; nodes without a kept column are left out. */
function elementsOf(
  node: ParquetNode,
  path: readonly string[],
  kept: ReadonlySet<number>,
  paths: Map<number, readonly string[]>,
): readonly SchemaElement[] {
  const { name, logical } = node;
  const repetition = repetitions[node.repetition];
  if (node.kind === 'leaf') {
    if (!kept.has(node.column)) return [];
    paths.set(node.column, path);
    const text = logical?.kind === 'string' ? ({ converted_type: 'UTF8' } as const) : {};
    return [
      { name, type: node.physical, type_length: node.typeLength, repetition_type: repetition, ...text },
    ];
  }
  const children = node.children
    .map((child) => elementsOf(child, [...path, child.name], kept, paths))
    .filter((elements) => elements.length > 0);
  if (children.length === 0 && path.length > 0) return [];
  const converted = logical?.kind === 'map' ? 'MAP' : logical?.kind === 'list' ? 'LIST' : undefined;
  return [
    {
      name,
      num_children: children.length,
      ...(path.length > 0 && { repetition_type: repetition }),
      ...(converted && { converted_type: converted }),
    },
    ...children.flat(),
  ];
}

function checkGroup(footer: ParquetFooter, rowGroup: number, chunks: readonly ColumnChunk[]): void {
  const sum = (bytesOf: (chunk: ColumnChunk) => number) =>
    chunks.reduce((total, chunk) => total + bytesOf(chunk), 0);
  const isTooLarge =
    (footer.rowCounts[rowGroup] ?? 0) > maxGroupRows ||
    sum((chunk) => chunk.end - chunk.start) > maxGroupBytes ||
    sum((chunk) => chunk.uncompressedBytes) > maxUncompressedBytes;
  if (isTooLarge)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `Row group ${rowGroup} of the checkpoint ${footer.location} is too large to be read: at most ${maxGroupRows} actions and ${maxGroupBytes} bytes of them are.`,
    );
  const unread = chunks.find((chunk) => !codecs.has(chunk.codec));
  if (unread !== undefined)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The checkpoint ${footer.location} is compressed with codec ${unread.codec} of the Parquet format; uncompressed, Snappy, gzip, Brotli and Zstandard are read.`,
    );
}

/** Bytes `[start, end)` of the file, of which only the chunks are known: nothing else is looked at. */
function piece(
  chunks: readonly ColumnChunk[],
  bytes: readonly Uint8Array[],
  start: number,
  end: number,
): ArrayBuffer {
  const buffer = new ArrayBuffer(end - start);
  const target = new Uint8Array(buffer);
  for (const [index, chunk] of chunks.entries()) {
    const from = Math.max(start, chunk.start);
    const to = Math.min(end, chunk.end);
    const source = bytes[index];
    if (from < to && source !== undefined)
      target.set(source.subarray(from - chunk.start, to - chunk.start), from - start);
  }
  return buffer;
}

function compressorsOf(location: string): Compressors {
  return {
    GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
    BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
    ZSTD: (input, length) => decompressBlock('zstandard', input, { source: location, maxBytes: length }),
  };
}

function decoding<T>(location: string, decode: () => T): T {
  const failed = (error: unknown): never => {
    if (error instanceof QueryError) throw error;
    const reason = error instanceof Error ? error.message : 'it cannot be decoded';
    throw new QueryError('DATA_CORRUPT', `The checkpoint ${location} is damaged: ${reason}.`, {
      cause: error,
    });
  };
  try {
    const decoded = decode();
    return decoded instanceof Promise ? (decoded.catch(failed) as T) : decoded;
  } catch (error) {
    return failed(error);
  }
}

function toJsonObject(row: unknown): JsonObject {
  const json = toJson(row);
  return isJsonObject(json) ? json : {};
}

function toJson(value: unknown): JsonValue {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint' || typeof value === 'number') return jsonNumber(value);
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toJson(inner)]));
}
