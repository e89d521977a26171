/**
 * The footer of a Parquet file, indexed and not parsed: the positions of the chunk descriptions are found in one pass
 * over the bytes, and only those that a query needs are decoded (column-chunk.ts). A full parse of 1,000 row groups
 * of 50 columns takes more than a hundred times longer.
 */
import { createHash } from 'node:crypto';
import { QueryError } from '@svc/base';
import { displayLocation } from '../storage/display-location.js';
import { maxSchemaElements, type ParquetSchema, parseSchema } from './schema.js';
import { CompactReader, wireType } from './thrift/compact-reader.js';

const maxWriterName = 256;
/** No chunk can be described in fewer bytes: an index is never much larger than what it is made from. */
const minChunkBytes = 16;
/** Page headers count values in 32 bits. */
const maxRowGroupRows = 2 ** 31 - 1;

/** Objects and names of one that is kept, as measured with 5,000 of them. */
const objectBytes = 3072;

export interface ParquetFooter {
  readonly location: string;
  /** See ObjectInfo.version. */
  readonly version: string;
  /** Where the footer begins: all data lies before it. */
  readonly footerStart: number;
  /** The encoded FileMetaData. */
  readonly bytes: Uint8Array;
  readonly schema: ParquetSchema;
  /** Equal for files with equal encoded schemas. */
  readonly schemaKey: string;
  readonly rowCount: number;
  readonly rowGroupCount: number;
  /** Rows per row group. */
  readonly rowCounts: Float64Array;
  /** Position of each encoded ColumnChunk: row group × columns + column. */
  readonly chunkPositions: Uint32Array;
  /** Compressed bytes of each chunk, in the same order; NaN until asked for. */
  readonly chunkSizes: Float64Array;
  /** Whether the order of `min_value` and `max_value` is the one that the format defines for the column's type. */
  readonly hasTypeDefinedOrder: readonly boolean[];
  readonly createdBy: string;
  /** What keeping it in memory costs, about. */
  readonly memoryBytes: number;
}

/** Answers a schema that was parsed before for the same key, or parses. */
export type SchemaParser = (key: string, parse: () => ParquetSchema) => ParquetSchema;

export interface FooterSource {
  readonly location: string;
  readonly version: string;
  readonly footerStart: number;
}

/** Positions of the parts of FileMetaData; `-1` while not met. */
interface Parts {
  schemaStart: number;
  schemaEnd: number;
  rowGroups: number;
  rowCount: number;
  createdBy: string;
  orders: boolean[];
}

/** Indexes an encoded FileMetaData. Throws DATA_CORRUPT, or UNSUPPORTED_TABLE_FEATURE for encrypted columns. */
export function indexFooter(
  bytes: Uint8Array,
  source: FooterSource,
  parseOnce: SchemaParser = (_key, parse) => parse(),
): ParquetFooter {
  const { location } = source;
  const reader = new CompactReader(bytes, location);
  const parts: Parts = {
    schemaStart: -1,
    schemaEnd: -1,
    rowGroups: -1,
    rowCount: -1,
    createdBy: '',
    orders: [],
  };
  let schema: ParquetSchema | undefined;
  let schemaKey = '';
  let index: RowGroupIndex | undefined;
  reader.fields((id, type) => {
    if (id === 2) {
      parts.schemaStart = reader.position;
      reader.skip(type);
      const encoded = bytes.subarray(parts.schemaStart, reader.position);
      schemaKey = createHash('sha256').update(encoded).digest('base64url');
      // A copy, so that a schema shared by many files does not keep one file's whole footer alive.
      schema = parseOnce(schemaKey, () => parseSchema(new Uint8Array(encoded), location));
      return true;
    }
    if (id === 4 && schema !== undefined) {
      reader.expect(type, wireType.list, 'the list of row groups');
      index = indexRowGroups(reader, schema.leaves.length);
      return true;
    }
    if (id === 4) parts.rowGroups = reader.position;
    return readPart(reader, id, type, parts, location);
  });
  if (schema === undefined) return reader.fail('it has no schema');
  if (index === undefined && parts.rowGroups >= 0)
    index = indexRowGroups(new CompactReader(bytes, location, parts.rowGroups), schema.leaves.length);
  if (index === undefined) return reader.fail('it has no list of row groups');
  checkRowCount(reader, parts.rowCount, index.rowCounts);
  const { leaves } = schema;
  return {
    ...source,
    bytes,
    schema,
    schemaKey,
    rowCount: parts.rowCount,
    rowGroupCount: index.rowCounts.length,
    rowCounts: index.rowCounts,
    chunkPositions: index.chunkPositions,
    chunkSizes: new Float64Array(index.chunkPositions.length).fill(Number.NaN),
    hasTypeDefinedOrder: leaves.map((_leaf, column) => parts.orders[column] === true),
    createdBy: parts.createdBy,
    memoryBytes: bytes.length + index.chunkPositions.length * 12 + index.rowCounts.length * 8 + objectBytes,
  };
}

function readPart(reader: CompactReader, id: number, type: number, parts: Parts, location: string): boolean {
  switch (id) {
    case 3:
      reader.expect(type, wireType.i64, 'the row count');
      parts.rowCount = reader.size('the row count');
      return true;
    case 6:
      reader.expect(type, wireType.binary, 'the name of the writer');
      parts.createdBy = reader.text().slice(0, maxWriterName);
      return true;
    case 7:
      reader.expect(type, wireType.list, 'the list of column orders');
      parts.orders = reader.structs(maxSchemaElements, () => readColumnOrder(reader));
      return true;
    case 8:
      throw encryptedError(location);
    default:
      return false;
  }
}

/** Row groups that have rows. What others say of their chunks is arbitrary, and there is nothing to read in them. */
export function rowGroupsWithRows(footer: ParquetFooter): number[] {
  return Array.from(footer.rowCounts.keys()).filter((rowGroup) => footer.rowCounts[rowGroup] !== 0);
}

/** Encryption is refused by name; what could be read of such a file would be misleading. */
export function encryptedError(location: string): QueryError {
  return new QueryError(
    'UNSUPPORTED_TABLE_FEATURE',
    `The Parquet file ${displayLocation(location)} is encrypted; encrypted files cannot be read.`,
  );
}

/** Only the first member of the union is the order that the format defines by type. */
function readColumnOrder(reader: CompactReader): boolean {
  let isTypeDefined = false;
  reader.fields((id) => {
    isTypeDefined = id === 1;
    return false;
  });
  return isTypeDefined;
}

function checkRowCount(reader: CompactReader, rowCount: number, rowCounts: Float64Array): void {
  if (rowCount < 0) reader.fail('it has no row count');
  let sum = 0;
  for (const rows of rowCounts) sum += rows;
  if (sum !== rowCount) reader.fail(`it counts ${rowCount} rows, but its row groups have ${sum}`);
}

interface RowGroupIndex {
  readonly rowCounts: Float64Array;
  readonly chunkPositions: Uint32Array;
}

function indexRowGroups(reader: CompactReader, columnCount: number): RowGroupIndex {
  const { elementType, count } = reader.list();
  if (count > 0) reader.expect(elementType, wireType.struct, 'a row group');
  if (count * columnCount * minChunkBytes > reader.remaining)
    reader.fail('it has fewer column chunks than it claims');
  const rowCounts: number[] = [];
  const chunkPositions: number[] = [];
  for (let group = 0; group < count; group++) {
    let rows = -1;
    let isComplete = false;
    reader.fields((id, type) => {
      if (id === 1) {
        reader.expect(type, wireType.list, 'the list of column chunks');
        if (isComplete) reader.fail(`row group ${group} lists its columns twice`);
        indexChunks(reader, columnCount, chunkPositions, group);
        isComplete = true;
        return true;
      }
      if (id !== 3) return false;
      reader.expect(type, wireType.i64, 'the row count of a row group');
      rows = reader.size('the row count of a row group');
      if (rows > maxRowGroupRows) reader.fail(`row group ${group} claims ${rows} rows`);
      return true;
    });
    if (rows < 0 || !isComplete) reader.fail(`row group ${group} is incomplete`);
    rowCounts.push(rows);
  }
  return { rowCounts: Float64Array.from(rowCounts), chunkPositions: Uint32Array.from(chunkPositions) };
}

function indexChunks(reader: CompactReader, columnCount: number, positions: number[], group: number): void {
  const { elementType, count } = reader.list();
  if (count !== columnCount)
    reader.fail(`row group ${group} has ${count} columns where the schema has ${columnCount}`);
  if (count > 0) reader.expect(elementType, wireType.struct, 'a column chunk');
  for (let column = 0; column < count; column++) {
    positions.push(reader.position);
    reader.skip(wireType.struct);
  }
}
