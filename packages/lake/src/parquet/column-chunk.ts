import { QueryError } from '@svc/base';
import { displayLocation } from '../storage/display-location.js';
import { encryptedError, type ParquetFooter } from './footer.js';
import type { ParquetLeaf, PhysicalType } from './schema.js';
import { CompactReader, wireType } from './thrift/compact-reader.js';

/** A chunk's statistics as they stand in the file: PLAIN-encoded bytes, absent where the writer gave none. */
export interface ChunkStatistics {
  readonly min: Uint8Array | undefined;
  readonly max: Uint8Array | undefined;
  /** `undefined`: not said, so possibly truncated where the type has a variable length. */
  readonly isMinExact: boolean | undefined;
  readonly isMaxExact: boolean | undefined;
  /** The older pair, whose order was signed whatever the type. */
  readonly deprecatedMin: Uint8Array | undefined;
  readonly deprecatedMax: Uint8Array | undefined;
  readonly nullCount: number | undefined;
  readonly nanCount: number | undefined;
}

export interface ColumnChunk {
  /** Bytes of the chunk with its dictionary: `[start, end)`. */
  readonly start: number;
  readonly end: number;
  readonly dataPageStart: number;
  /** `undefined` when there is none, or when it lies inside what `dataPageStart` begins. */
  readonly dictionaryPageStart: number | undefined;
  readonly uncompressedBytes: number;
  /** `CompressionCodec` of the format; -1 when it is not said. */
  readonly codec: number;
  /** `Encoding`s of the format that its pages use, those of levels among them. */
  readonly encodings: readonly number[];
  /** Nulls included; for repeated columns more than the rows. */
  readonly valueCount: number;
  readonly statistics: ChunkStatistics;
  readonly bloomFilterStart: number | undefined;
  readonly bloomFilterBytes: number | undefined;
}

/** Positions of the encoded values of a struct's fields, for copying what is not changed. */
export interface EncodedField {
  readonly id: number;
  readonly type: number;
  readonly start: number;
  readonly end: number;
}

/** There are about ten; some writers name one several times. */
const maxEncodings = 1000;

const noStatistics: ChunkStatistics = {
  min: undefined,
  max: undefined,
  isMinExact: undefined,
  isMaxExact: undefined,
  deprecatedMin: undefined,
  deprecatedMax: undefined,
  nullCount: undefined,
  nanCount: undefined,
};

const physicalTypeIds: readonly PhysicalType[] = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
];

interface Metadata {
  physical: number;
  encodings: readonly number[];
  codec: number;
  valueCount: number;
  uncompressedSize: number;
  compressedSize: number;
  dataPage: number;
  dictionaryPage: number;
  statistics: ChunkStatistics;
  bloomFilterStart: number | undefined;
  bloomFilterBytes: number | undefined;
}

/** Decodes one chunk description. Throws DATA_CORRUPT when it points outside the file's data. */
export function readColumnChunk(footer: ParquetFooter, rowGroup: number, column: number): ColumnChunk {
  const leaf = footer.schema.leaves[column];
  const reader = chunkReader(footer, rowGroup, column);
  if (leaf === undefined) return reader.fail(`column ${column} does not exist`);
  let metadata: Metadata | undefined;
  reader.fields((id, type) => {
    if (id === 1) throw externalError(footer.location);
    if (id === 8 || id === 9) throw encryptedError(footer.location);
    if (id !== 3 || type !== wireType.struct) return false;
    metadata = readMetadata(reader);
    return true;
  });
  if (metadata === undefined)
    return reader.fail(`column ${leaf.name} of row group ${rowGroup} has no metadata`);
  if (physicalTypeIds[metadata.physical] !== leaf.physical)
    reader.fail(`column ${leaf.name} of row group ${rowGroup} has another type than the schema says`);
  return toChunk(reader, footer, leaf, rowGroup, metadata);
}

/** Compressed bytes of a chunk; decoded once per footer. */
export function chunkBytes(footer: ParquetFooter, rowGroup: number, column: number): number {
  const index = rowGroup * footer.schema.leaves.length + column;
  const known = footer.chunkSizes[index];
  if (known !== undefined && !Number.isNaN(known)) return known;
  const { start, end } = readColumnChunk(footer, rowGroup, column);
  footer.chunkSizes[index] = end - start;
  return end - start;
}

/** The fields of an encoded ColumnChunk and of the ColumnMetaData inside it. */
export function encodedChunkFields(
  footer: ParquetFooter,
  rowGroup: number,
  column: number,
): { readonly chunk: readonly EncodedField[]; readonly metadata: readonly EncodedField[] } {
  const reader = chunkReader(footer, rowGroup, column);
  const chunk: EncodedField[] = [];
  const metadata: EncodedField[] = [];
  reader.fields((id, type) => {
    const start = reader.position;
    if (id === 3 && type === wireType.struct) collectFields(reader, metadata);
    else reader.skip(type);
    chunk.push({ id, type, start, end: reader.position });
    return true;
  });
  return { chunk, metadata };
}

function collectFields(reader: CompactReader, into: EncodedField[]): void {
  reader.fields((id, type) => {
    const start = reader.position;
    reader.skip(type);
    into.push({ id, type, start, end: reader.position });
    return true;
  });
}

function chunkReader(footer: ParquetFooter, rowGroup: number, column: number): CompactReader {
  const position = footer.chunkPositions[rowGroup * footer.schema.leaves.length + column];
  return new CompactReader(footer.bytes, footer.location, position ?? footer.bytes.length);
}

function toChunk(
  reader: CompactReader,
  footer: ParquetFooter,
  leaf: ParquetLeaf,
  rowGroup: number,
  metadata: Metadata,
): ColumnChunk {
  // Some writers leave 0 where there is no dictionary, and some name only the dictionary's page as the data's.
  const { dictionaryPage, dataPage } = metadata;
  const hasDictionary = dictionaryPage > 0 && dictionaryPage < dataPage;
  const start = hasDictionary ? dictionaryPage : dataPage;
  const end = start + metadata.compressedSize + missingHeaderBytes(footer, start + metadata.compressedSize);
  if (start < 4 || end > footer.footerStart)
    reader.fail(
      `column ${leaf.name} of row group ${rowGroup} lies at bytes ${start} to ${end}, outside the data of the file`,
    );
  return {
    start,
    end,
    dataPageStart: dataPage,
    dictionaryPageStart: hasDictionary ? dictionaryPage : undefined,
    uncompressedBytes: metadata.uncompressedSize,
    codec: metadata.codec,
    encodings: metadata.encodings,
    valueCount: metadata.valueCount,
    statistics: metadata.statistics,
    bloomFilterStart: metadata.bloomFilterStart,
    bloomFilterBytes: metadata.bloomFilterBytes,
  };
}

/** parquet-mr before 1.2.9 left the header of the dictionary page out of the chunk's size (PARQUET-816). */
function missingHeaderBytes(footer: ParquetFooter, end: number): number {
  if (!/^parquet-mr version 1\.([01]\.|2\.[0-8]\b)/.test(footer.createdBy)) return 0;
  return Math.max(0, Math.min(100, footer.footerStart - end));
}

function readMetadata(reader: CompactReader): Metadata {
  const result: Metadata = {
    physical: -1,
    encodings: [],
    codec: -1,
    valueCount: -1,
    uncompressedSize: 0,
    compressedSize: -1,
    dataPage: -1,
    dictionaryPage: 0,
    statistics: noStatistics,
    bloomFilterStart: undefined,
    bloomFilterBytes: undefined,
  };
  reader.fields((id, type) => {
    if (id === 12 && type === wireType.struct) {
      result.statistics = readStatistics(reader);
      return true;
    }
    if (id === 2 && type === wireType.list) {
      result.encodings = reader.integers(maxEncodings);
      return true;
    }
    if (type !== wireType.i32 && type !== wireType.i64) return false;
    if (id === 4) result.codec = reader.integer();
    else if (id === 1) result.physical = reader.integer();
    else if (id === 5) result.valueCount = reader.size('a value count');
    else if (id === 6) result.uncompressedSize = reader.size('a chunk size');
    else if (id === 7) result.compressedSize = reader.size('a chunk size');
    else if (id === 9) result.dataPage = reader.size('a page offset');
    else if (id === 11) result.dictionaryPage = reader.integer();
    else if (id === 14) result.bloomFilterStart = reader.integer();
    else if (id === 15) result.bloomFilterBytes = reader.integer();
    else return false;
    return true;
  });
  if (result.valueCount < 0 || result.compressedSize < 0 || result.dataPage < 0)
    reader.fail('a column chunk is incomplete');
  return result;
}

function readStatistics(reader: CompactReader): ChunkStatistics {
  const result: { -readonly [K in keyof ChunkStatistics]: ChunkStatistics[K] } = { ...noStatistics };
  reader.fields((id, type) => {
    switch (type) {
      case wireType.binary:
        if (id === 1) result.deprecatedMax = reader.binary();
        else if (id === 2) result.deprecatedMin = reader.binary();
        else if (id === 5) result.max = reader.binary();
        else if (id === 6) result.min = reader.binary();
        else return false;
        return true;
      case wireType.i64:
        if (id === 3) result.nullCount = countOf(reader.integer());
        else if (id === 9) result.nanCount = countOf(reader.integer());
        else return false;
        return true;
      case wireType.true:
      case wireType.false:
        if (id === 7) result.isMaxExact = type === wireType.true;
        else if (id === 8) result.isMinExact = type === wireType.true;
        return false;
      default:
        return false;
    }
  });
  return result;
}

/** A negative count is some writer's "unknown". */
function countOf(value: number): number | undefined {
  return value < 0 ? undefined : value;
}

function externalError(location: string): QueryError {
  return new QueryError(
    'UNSUPPORTED_TABLE_FEATURE',
    `The Parquet file ${displayLocation(location)} keeps its column chunks in other files, which cannot be read.`,
  );
}
