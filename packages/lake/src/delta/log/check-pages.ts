import { QueryError } from '@svc/base';
import type { ColumnChunk } from '../../parquet/column-chunk.js';
import { CompactReader, wireType } from '../../parquet/thrift/compact-reader.js';

const maxPageBytes = 256 * 1024 * 1024;
const maxChunkValues = 32_000_000;

/**
 * Checks the page headers of a chunk: a few bytes of a page may claim billions of values, for which a reader would make
 * room. Throws DATA_CORRUPT naming the file.
 */
export function checkPages(bytes: Uint8Array, chunk: ColumnChunk, location: string): void {
  if (bytes.length !== chunk.end - chunk.start)
    throw new QueryError('DATA_CORRUPT', `${location} answered fewer bytes than it has.`);
  if (chunk.valueCount > maxChunkValues)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `A column of ${location} has ${chunk.valueCount} values in one row group; at most ${maxChunkValues} are read.`,
    );
  let values = 0;
  // The last byte alone is no page: the decoder stops there, too.
  for (let start = 0; start < bytes.length - 1; ) {
    const reader = new CompactReader(bytes, location, start);
    const page = readHeader(reader);
    if (page.compressedBytes > bytes.length - reader.position) reader.fail('a page is cut short');
    if (page.uncompressedBytes > maxPageBytes) reader.fail(`a page claims ${page.uncompressedBytes} bytes`);
    if (page.dictionaryValues > page.uncompressedBytes)
      reader.fail(`a dictionary of ${page.uncompressedBytes} bytes claims ${page.dictionaryValues} values`);
    values += page.values;
    if (values > chunk.valueCount)
      reader.fail(`the pages of a chunk with ${chunk.valueCount} values claim more`);
    start = reader.position + page.compressedBytes;
  }
}

interface PageHeader {
  uncompressedBytes: number;
  compressedBytes: number;
  values: number;
  dictionaryValues: number;
}

function readHeader(reader: CompactReader): PageHeader {
  const header: PageHeader = { uncompressedBytes: 0, compressedBytes: 0, values: 0, dictionaryValues: 0 };
  const valueCount = (): number => {
    let count = 0;
    reader.fields((id, type) => {
      if (id !== 1 || type !== wireType.i32) return false;
      count = reader.size('a value count');
      return true;
    });
    return count;
  };
  reader.fields((id, type) => {
    if (type === wireType.i32 && id === 2) header.uncompressedBytes = reader.size('a page size');
    else if (type === wireType.i32 && id === 3) header.compressedBytes = reader.size('a page size');
    else if (type === wireType.struct && (id === 5 || id === 8)) header.values = valueCount();
    else if (type === wireType.struct && id === 7) header.dictionaryValues = valueCount();
    else return false;
    return true;
  });
  return header;
}
