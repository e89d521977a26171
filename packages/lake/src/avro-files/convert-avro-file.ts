/** Writes columns of an Avro data file as Parquet, row group by row group, so that memory is bounded whatever its size. */
import { QueryError } from '@svc/base';
import { AvroError, namedAvroError } from '../iceberg/avro/avro-error.js';
import { AvroCursor } from '../iceberg/avro/cursor.js';
import { createPacer } from '../iceberg/avro/pacer.js';
import { wireType } from '../parquet/thrift/compact-reader.js';
import { CompactWriter } from '../parquet/thrift/compact-writer.js';
import { withTrailer } from '../parquet/thrift/footer-trailer.js';
import type { ChunkPlace } from '../staging/constant-chunk.js';
import { encodeRowDelta, writeRowDeltaChunk, writeRowDeltaElement } from '../staging/row-delta.js';
import { displayLocation } from '../storage/display-location.js';
import type { ObjectInfo, ObjectStore } from '../storage/object-store.js';
import { takeBlocks, takeHeader } from './avro-blocks.js';
import { draftRowGroup, type RowGroupDraft, readableColumns } from './compile-columns.js';
import { type LeafPath, leavesOf, writeLeafChunk, writeSchema } from './encode-columns.js';
import { ForwardReader } from './forward-reader.js';

/** Asked of storage at a time. */
const pieceBytes = 4 * 1024 * 1024;
/** A row group is closed once it has so much. */
const maxRowGroupBytes = 8 * 1024 * 1024;
const maxRowGroupCells = 16 * 1024 * 1024;
const maxRowGroupRows = 1_000_000;
/** Values moved before other work gets its turn. */
const sliceCells = 30_000;
/** What a block costs, and its decompression. */
const blockCells = 100;
const bytesOfCell = 256;
/** A record costs some time beside its values. */
const recordCells = 4;

/** What a conversion of usual files holds in memory: a piece, a block, and a row group with its buffers' spare room. */
export const conversionBytes = 24 * 1024 * 1024;

export interface ConvertOptions {
  readonly store: ObjectStore;
  readonly info: ObjectInfo;
  /** Rows that the manifest says there are: another number is damage. */
  readonly rowCount: number;
  /** Names of columns at the top level. */
  readonly columns: readonly string[];
  /** Position of the first byte that is written. */
  readonly start: number;
  readonly append: (bytes: Uint8Array) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/** Answers the bytes read from storage. Throws DATA_CORRUPT and UNSUPPORTED_TABLE_FEATURE naming the file. */
export async function convertAvroFile(options: ConvertOptions): Promise<number> {
  const { store, info, signal, rowCount } = options;
  const source = displayLocation(info.location);
  const reader = new ForwardReader(store, info, { pieceBytes, signal });
  try {
    const header = await takeHeader(reader);
    const columns = readableColumns(header.record, new Set(options.columns));
    const writer = new RowGroupWriter(options, leavesOf(columns));
    const draft = draftRowGroup(header.record, columns);
    const pacer = createPacer(sliceCells, signal);
    for await (const block of takeBlocks(reader, header, source)) {
      if (writer.totalRows + writer.rowCount + block.count > rowCount)
        throw wrongRowCount(source, 'more', rowCount);
      if (pacer.spend(blockCells + block.bytes.length / bytesOfCell)) await pacer.pause();
      if (columns.length === 0) {
        writer.rowCount += block.count;
        if (isFull(draft, writer)) await writer.closeRowGroup(draft);
        continue;
      }
      const cursor = new AvroCursor(block.bytes);
      for (let left = block.count; left > 0; left--) {
        const cells = draft.load.cells;
        draft.moveRecord(cursor);
        writer.rowCount++;
        if (pacer.spend(draft.load.cells - cells + recordCells)) await pacer.pause();
        if (isFull(draft, writer)) await writer.closeRowGroup(draft);
      }
      if (cursor.remaining > 0) throw new AvroError('it has more data than its records');
    }
    await writer.closeRowGroup(draft);
    if (writer.totalRows !== rowCount) throw wrongRowCount(source, writer.totalRows, rowCount);
    await options.append(writer.footer((footer) => writeSchema(footer, columns, [writeRowDeltaElement])));
    return reader.bytesFetched;
  } catch (error) {
    // What the disk says of the writing is for the caller to tell.
    throw error instanceof AvroError ? namedAvroError(source, error) : error;
  }
}

function wrongRowCount(source: string, found: number | 'more', expected: number): QueryError {
  return new QueryError(
    'DATA_CORRUPT',
    `${source} has ${found} rows; the table's metadata says ${expected}.`,
  );
}

function isFull({ load }: RowGroupDraft, { rowCount }: RowGroupWriter): boolean {
  return load.bytes >= maxRowGroupBytes || load.cells >= maxRowGroupCells || rowCount >= maxRowGroupRows;
}

interface WrittenRowGroup {
  readonly rowCount: number;
  readonly chunks: readonly ChunkPlace[];
  readonly rowDeltaStart: number;
}

class RowGroupWriter {
  /** Of the row group that is not closed yet. */
  rowCount = 0;
  totalRows = 0;
  readonly #append: ConvertOptions['append'];
  readonly #leaves: readonly LeafPath[];
  readonly #written: WrittenRowGroup[] = [];
  #position: number;

  constructor({ append, start }: ConvertOptions, leaves: readonly LeafPath[]) {
    this.#append = append;
    this.#leaves = leaves;
    this.#position = start;
  }

  async closeRowGroup({ columns, load }: RowGroupDraft): Promise<void> {
    const { rowCount } = this;
    if (rowCount === 0) return;
    const chunks: ChunkPlace[] = [];
    for (const column of columns) {
      const { pieces, bytes, valueCount } = column.finish();
      chunks.push({ dataPageStart: this.#position, bytes, valueCount });
      for (const piece of pieces) await this.#append(piece);
      this.#position += bytes;
      column.clear();
    }
    const rowDelta = encodeRowDelta(0, rowCount).bytes;
    await this.#append(rowDelta);
    this.#written.push({ rowCount, chunks, rowDeltaStart: this.#position });
    this.#position += rowDelta.length;
    this.totalRows += rowCount;
    this.rowCount = 0;
    load.bytes = 0;
    load.cells = 0;
  }

  /** The footer with its length and magic bytes. */
  footer(writeSchemaTo: (writer: CompactWriter) => void): Uint8Array {
    const writer = new CompactWriter();
    writer.structElement(() => {
      writer.i32(1, 1);
      writeSchemaTo(writer);
      writer.i64(3, this.totalRows);
      writer.list(4, wireType.struct, this.#written.length);
      for (const rowGroup of this.#written) this.#writeRowGroup(writer, rowGroup);
    });
    return withTrailer(writer.bytes());
  }

  #writeRowGroup(writer: CompactWriter, { rowCount, chunks, rowDeltaStart }: WrittenRowGroup): void {
    const rowDelta = encodeRowDelta(0, rowCount);
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, rowDelta.bytes.length);
    writer.structElement(() => {
      writer.list(1, wireType.struct, chunks.length + 1);
      for (const [index, leaf] of this.#leaves.entries()) {
        const chunk = chunks[index];
        if (chunk !== undefined) writeLeafChunk(writer, leaf, chunk);
      }
      writeRowDeltaChunk(writer, rowDelta, rowDeltaStart, rowCount);
      writer.i64(2, bytes);
      writer.i64(3, rowCount);
    });
  }
}
