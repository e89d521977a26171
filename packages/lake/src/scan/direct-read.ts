/**
 * Whether whole columns of staged files can go from Parquet to Arrow as they stand, and where their pages lie. The answer
 * is "no" for whatever the reader of pages does not know: the engine then reads the files.
 */

import type { IcebergType } from '../iceberg/spec/types.js';
import { readColumnChunk } from '../parquet/column-chunk.js';
import { type ParquetFooter, rowGroupsWithRows } from '../parquet/footer.js';
import type { FooterCache } from '../parquet/footer-cache.js';
import type { ParquetLeaf } from '../parquet/schema.js';
import type { StagedGroup } from '../staging/stage-scan.js';
import { createFileStore } from '../storage/file-store.js';
import { mapConcurrently } from '../storage/map-concurrently.js';
import type { ObjectStore } from '../storage/object-store.js';
import type { FileScan } from './table-scan.js';

/** What a column's values are in Arrow: booleans, 4 or 8 bytes as in the file, 128-bit decimals, text, bytes. */
export type DirectValues = 'flags' | 'fixed4' | 'fixed8' | 'decimal' | 'text' | 'bytes';

export interface DirectRead {
  readonly columns: readonly { readonly name: string; readonly values: DirectValues }[];
  readonly files: readonly DirectFile[];
}

export interface DirectFile {
  readonly path: string;
  readonly rowGroups: readonly { readonly rowCount: number; readonly chunks: readonly DirectChunk[] }[];
}

/** Bytes `[start, end)` of the file. */
export interface DirectChunk {
  readonly start: number;
  readonly end: number;
  readonly uncompressedBytes: number;
  readonly codec: 'uncompressed' | 'snappy' | 'gzip' | 'zstd';
  /** Bytes of one PLAIN value; 0 for booleans and BYTE_ARRAY. */
  readonly valueBytes: number;
  readonly isBigEndian: boolean;
  readonly isNullable: boolean;
}

export interface DirectColumn {
  readonly index: number;
  readonly name: string;
  readonly type: IcebergType;
}

export interface DirectReadOptions {
  /** In the order of the answer; `index` is the position among the sources of a group. */
  readonly columns: readonly DirectColumn[];
  readonly groups: readonly Pick<
    StagedGroup,
    'sources' | 'paths' | 'locations' | 'hasRowDelta' | 'deletions' | 'deletes'
  >[];
  /** The scan's files: those that were staged in place are known by their location. */
  readonly files: readonly FileScan[];
  readonly store: ObjectStore;
  readonly footers: FooterCache;
  readonly signal?: AbortSignal | undefined;
}

const codecs: Readonly<Record<number, DirectChunk['codec']>> = {
  0: 'uncompressed',
  1: 'snappy',
  2: 'gzip',
  6: 'zstd',
};
/** PLAIN, PLAIN_DICTIONARY, RLE, BIT_PACKED (of levels that flat columns do not have), RLE_DICTIONARY. */
const knownEncodings: ReadonlySet<number> = new Set([0, 2, 3, 4, 8]);
/** The description of more chunks would take longer than the reading is faster. */
const maxChunks = 50_000;
const maxConcurrentFooters = 8;

/** Undefined when the engine has to read the files. Throws what reading a footer throws. */
export async function planDirectRead(options: DirectReadOptions): Promise<DirectRead | undefined> {
  const { groups, signal } = options;
  if (groups.some((group) => group.deletions !== undefined || group.deletes !== undefined)) return undefined;
  const columns = options.columns.map((column) => {
    const values = valuesOf(column.type);
    return values && { ...column, values };
  });
  if (columns.length === 0 || !columns.every((column) => column !== undefined)) return undefined;
  const known = new Map(options.files.map((file) => [file.location, file]));
  const files = groups.flatMap((group) =>
    group.paths.map((path, index) => ({ group, path, location: group.locations[index] ?? path })),
  );
  if (files.length * columns.length > maxChunks) return undefined;
  const described = await mapConcurrently(
    files,
    { maxConcurrent: maxConcurrentFooters, signal },
    async ({ group, path, location }) => {
      const names = columns.map(({ index }) => {
        const source = group.sources[index];
        return source?.kind === 'column' && source.isExactType ? source.name : undefined;
      });
      if (names.includes(undefined)) return undefined;
      // Compact files have footers of their own.
      const original = group.hasRowDelta ? undefined : known.get(location);
      const footer = await (original === undefined
        ? localFooter(options, path)
        : options.footers.get(options.store, original, signal));
      const leaves = columns.map(({ type }, index) => leafOf(footer, names[index] ?? '', type));
      return leaves.every((leaf) => leaf !== undefined) ? describeFile(path, footer, leaves) : undefined;
    },
  );
  if (!described.every((file) => file !== undefined)) return undefined;
  if (described.reduce((sum, file) => sum + file.rowGroups.length * columns.length, 0) > maxChunks)
    return undefined;
  return { columns: columns.map(({ name, values }) => ({ name, values })), files: described };
}

async function localFooter({ footers, signal }: DirectReadOptions, path: string): Promise<ParquetFooter> {
  const store = createFileStore();
  const info = await store.head(path, signal === undefined ? {} : { signal });
  return await footers.get(store, info, signal);
}

function valuesOf(type: IcebergType): DirectValues | undefined {
  switch (type.kind) {
    case 'boolean':
      return 'flags';
    case 'int':
    case 'date':
    case 'float':
      return 'fixed4';
    case 'long':
    case 'double':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return 'fixed8';
    case 'decimal':
      return 'decimal';
    case 'string':
      return 'text';
    case 'binary':
      return 'bytes';
    default:
      return undefined;
  }
}

/** The column of the file, where its values are those of the type, bit by bit. */
function leafOf(footer: ParquetFooter, name: string, type: IcebergType): ParquetLeaf | undefined {
  const named = footer.schema.root.children.filter((child) => child.name === name);
  const [leaf] = named;
  if (named.length !== 1 || leaf?.kind !== 'leaf' || leaf.repetition === 'repeated') return undefined;
  return isAsItStands(leaf, type) ? leaf : undefined;
}

function isAsItStands({ physical, logical, typeLength }: ParquetLeaf, type: IcebergType): boolean {
  switch (type.kind) {
    case 'boolean':
      return physical === 'BOOLEAN';
    case 'int':
    case 'date':
      return physical === 'INT32';
    case 'long':
      return physical === 'INT64';
    case 'float':
      return physical === 'FLOAT';
    case 'double':
      return physical === 'DOUBLE';
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return (
        physical === 'INT64' &&
        (logical?.kind === 'time' || logical?.kind === 'timestamp') &&
        logical.unit === 'micros'
      );
    case 'decimal':
      return (
        physical === 'INT32' ||
        physical === 'INT64' ||
        (physical === 'FIXED_LEN_BYTE_ARRAY' && typeLength <= 16)
      );
    case 'string':
    case 'binary':
      return physical === 'BYTE_ARRAY';
    default:
      return false;
  }
}

const widths: Readonly<Partial<Record<ParquetLeaf['physical'], number>>> = {
  INT32: 4,
  FLOAT: 4,
  INT64: 8,
  DOUBLE: 8,
};

/** Undefined when a chunk has a codec or an encoding that is not read here. */
function describeFile(
  path: string,
  footer: ParquetFooter,
  leaves: readonly ParquetLeaf[],
): DirectFile | undefined {
  const rowGroups: { rowCount: number; chunks: DirectChunk[] }[] = [];
  for (const rowGroup of rowGroupsWithRows(footer)) {
    const rowCount = footer.rowCounts[rowGroup] ?? 0;
    const chunks: DirectChunk[] = [];
    for (const leaf of leaves) {
      const { start, end, uncompressedBytes, codec, encodings, valueCount } = readColumnChunk(
        footer,
        rowGroup,
        leaf.column,
      );
      const known = codecs[codec];
      const isRead = encodings.length > 0 && encodings.every((encoding) => knownEncodings.has(encoding));
      if (known === undefined || !isRead || valueCount !== rowCount) return undefined;
      const isBigEndian = leaf.physical === 'FIXED_LEN_BYTE_ARRAY';
      chunks.push({
        start,
        end,
        uncompressedBytes,
        codec: known,
        valueBytes: isBigEndian ? leaf.typeLength : (widths[leaf.physical] ?? 0),
        isBigEndian,
        isNullable: leaf.repetition === 'optional',
      });
    }
    rowGroups.push({ rowCount, chunks });
  }
  return { path, rowGroups };
}
