/**
 * An Avro data file described as the Parquet file that it is staged as: one row group with a chunk for each column. So
 * whatever plans the reading of data files knows footers only.
 */
import { QueryError } from '@svc/base';
import { namedAvroError } from '../iceberg/avro/avro-error.js';
import { indexFooter, type ParquetFooter, type SchemaParser } from '../parquet/footer.js';
import { wireType } from '../parquet/thrift/compact-reader.js';
import { CompactWriter } from '../parquet/thrift/compact-writer.js';
import { displayLocation } from '../storage/display-location.js';
import type { ObjectInfo, ObjectStore } from '../storage/object-store.js';
import { type AvroFileHeader, takeHeader } from './avro-blocks.js';
import { columnsOfRecord } from './avro-columns.js';
import { decimalBytes, type LeafPath, leavesOf, writeLeafChunk, writeSchema } from './encode-columns.js';
import { ForwardReader } from './forward-reader.js';

/** A data file; Parquet, unless it says how many rows it has as Avro, which only its manifest knows. */
export interface DataFileInfo extends ObjectInfo {
  readonly avroRows?: number | undefined;
}

const pieceBytes = 64 * 1024;
/** As of a row group of Parquet. */
const maxRows = 2 ** 31 - 1;
/** No estimate is above. */
const maxColumnBytes = 2 ** 40;
/** By how much compressed blocks unfold, about: it decides how much room is looked for, and not what is read. */
const usualExpansion = 4;

/** Throws DATA_CORRUPT and UNSUPPORTED_TABLE_FEATURE naming the file. */
export async function describeAvroFile(
  store: ObjectStore,
  info: ObjectInfo,
  rowCount: number,
  parseOnce?: SchemaParser,
  signal?: AbortSignal,
): Promise<ParquetFooter> {
  const { location, version } = info;
  const source = displayLocation(location);
  try {
    if (!Number.isInteger(rowCount) || rowCount < 0 || rowCount > maxRows)
      throw new QueryError(
        'UNSUPPORTED_TABLE_FEATURE',
        `The Avro file ${source} has ${rowCount} rows, says the table's metadata; at most ${maxRows} are read.`,
      );
    const reader = new ForwardReader(store, info, { pieceBytes, signal });
    const header = await takeHeader(reader);
    const { bytes, dataEnd } = encodeDescription(header, info, rowCount);
    return indexFooter(bytes, { location, version, footerStart: dataEnd }, parseOnce);
  } catch (error) {
    throw namedAvroError(source, error);
  }
}

function encodeDescription(
  { record, codec }: AvroFileHeader,
  { sizeBytes }: ObjectInfo,
  rowCount: number,
): { readonly bytes: Uint8Array; readonly dataEnd: number } {
  const columns = columnsOfRecord(record).filter((column) => column !== undefined);
  const leaves = leavesOf(columns);
  const expanded = sizeBytes * (codec === 'null' ? 1 : usualExpansion);
  let end = 4;
  const writer = new CompactWriter();
  writer.structElement(() => {
    writer.i32(1, 1);
    writeSchema(writer, columns);
    writer.i64(3, rowCount);
    writer.list(4, wireType.struct, 1);
    writer.structElement(() => {
      writer.list(1, wireType.struct, leaves.length);
      for (const leaf of leaves) {
        const bytes = estimateBytes(leaf, rowCount, expanded / leaves.length);
        writeLeafChunk(writer, leaf, { dataPageStart: end, bytes, valueCount: rowCount });
        end += bytes;
      }
      writer.i64(2, end);
      writer.i64(3, rowCount);
    });
  });
  // A copy: the writer's buffer is larger.
  return { bytes: Uint8Array.from(writer.bytes()), dataEnd: end };
}

/** Of values of a known size what they take, and of others a fair share of the file. */
function estimateBytes({ encoding, isFlat }: LeafPath, rowCount: number, share: number): number {
  const width = isFlat ? valueBytes(encoding) : undefined;
  return Math.min(maxColumnBytes, Math.ceil(width === undefined ? share : rowCount * width));
}

function valueBytes(encoding: LeafPath['encoding']): number | undefined {
  switch (encoding.kind) {
    case 'boolean':
      return 1 / 8;
    case 'int':
    case 'float':
      return 4;
    case 'long':
    case 'double':
      return 8;
    case 'decimal':
      return decimalBytes;
    case 'fixed':
      return encoding.size;
    default:
      return undefined;
  }
}
