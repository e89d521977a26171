/** The pages of one column's chunks, file after file, decompressed one at a time. */
import { basename } from 'node:path';
import { QueryError } from '@svc/base';
import type { ParquetRead, ParquetReadChunk } from '../api.js';
import { decompressorOf } from './decompress.js';
import type { LinearMemory, Pointer } from './kernels.js';
import type { OpenFiles } from './open-files.js';
import { type PageHeader, readPageHeader } from './page-header.js';

/** Nearly every header fits; statistics in it can make one longer. */
const headerGuessBytes = 512;
const maxHeaderBytes = 1 << 20;

/** A page in the linear memory: `[start, end)`, levels in front of the values. */
export interface Page {
  readonly header: PageHeader;
  readonly chunk: ParquetReadChunk;
  readonly start: Pointer;
  readonly end: Pointer;
}

export class PageSource {
  private readonly memory: LinearMemory;
  private readonly files: OpenFiles;
  private readonly name: string;
  private readonly chunks: Iterator<{
    readonly path: string;
    readonly rowCount: number;
    readonly chunk: ParquetReadChunk;
  }>;
  private path = '';
  private chunk: ParquetReadChunk | undefined;
  private position = 0;
  /** Rows of the present chunk that no page has brought yet. */
  private rowsLeft = 0;

  constructor(memory: LinearMemory, files: OpenFiles, request: ParquetRead, column: number) {
    this.memory = memory;
    this.files = files;
    this.name = request.columns[column]?.name ?? '';
    this.chunks = chunksOf(request, column);
  }

  /**
   * The next page of data or dictionary, or undefined at the end. It lies in the region that `regionFor` answers for
   * its kind and size. A chunk begins with `isFirst`: its dictionary, if any, replaces the one before.
   */
  next(regionFor: (header: PageHeader) => Pointer): Page | undefined {
    while (this.rowsLeft === 0) {
      const { value, done } = this.chunks.next();
      if (done === true) return undefined;
      this.path = value.path;
      this.chunk = value.chunk;
      this.position = value.chunk.start;
      this.rowsLeft = value.rowCount;
    }
    const { chunk } = this;
    if (chunk === undefined) return undefined;
    for (;;) {
      const header = this.readHeader(chunk);
      const from = this.position + header.headerBytes;
      if (from + header.compressedBytes > chunk.end) this.fail('a page reaches beyond its chunk');
      this.position = from + header.compressedBytes;
      if (header.uncompressedBytes > chunk.uncompressedBytes) this.fail('a page is larger than its chunk');
      if (header.kind === 'other') continue;
      if (header.kind !== 'dictionary') this.rowsLeft -= header.valueCount;
      if (this.rowsLeft < 0) this.fail('its pages have more values than the row group has rows');
      return this.load(header, chunk, from, regionFor(header));
    }
  }

  /** Throws DATA_CORRUPT, naming file and column. */
  fail(what: string): never {
    throw new QueryError(
      'DATA_CORRUPT',
      `The Parquet file "${basename(this.path)}" is damaged: column "${this.name}" cannot be read: ${what}.`,
    );
  }

  /** Throws what a page does that is valid and never seen from a writer of today. */
  unsupported(what: string): never {
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `Column "${this.name}" of the Parquet file "${basename(this.path)}" cannot be read: ${what}.`,
    );
  }

  private readHeader(chunk: ParquetReadChunk): PageHeader {
    for (let guess = headerGuessBytes; guess <= maxHeaderBytes; guess *= 16) {
      const bytes = this.files.read(this.path, this.position, Math.min(guess, chunk.end - this.position));
      const header = readPageHeader(bytes);
      if (header !== undefined) return header;
      if (this.position + guess >= chunk.end) break;
    }
    return this.fail('a page header makes no sense');
  }

  private load(header: PageHeader, chunk: ParquetReadChunk, from: number, region: Pointer): Page {
    const { memory } = this;
    const source = this.files.read(this.path, from, header.compressedBytes);
    const end = region + header.uncompressedBytes;
    const target = memory.bytes.subarray(region, end);
    // Version 2 leaves levels as they are and compresses what is behind them.
    const plain = header.isCompressed ? header.levelBytes + header.repetitionBytes : header.compressedBytes;
    if (plain > source.length || plain > target.length) this.fail('its levels are longer than the page');
    target.set(source.subarray(0, plain));
    const rest = target.subarray(plain);
    if (rest.length > 0 && !decompressorOf(chunk.codec)(source.subarray(plain), rest))
      this.fail(`a page cannot be decompressed (${chunk.codec})`);
    return { header, chunk, start: region, end };
  }
}

function* chunksOf({ files }: ParquetRead, column: number) {
  for (const { path, rowGroups } of files)
    for (const { rowCount, chunks } of rowGroups) {
      const chunk = chunks[column];
      if (chunk === undefined)
        throw new QueryError('INTERNAL_ERROR', 'A row group has no chunk of a column.');
      yield { path, rowCount, chunk };
    }
}
