/**
 * Whole columns of Parquet files as Arrow IPC messages, pulled one at a time: pages become Arrow buffers without the
 * engine's vectors in between (docs/decisions.md).
 */
import { QueryError } from '@svc/base';
import type { EngineProfile, ParquetRead } from '../api.js';
import {
  type BatchLayout,
  type BufferRange,
  encodeBatchMessage,
  type FieldNode,
} from '../arrow/ipc-encode.js';
import { blankBits, blankFixed } from '../arrow/null-mask.js';
import type { HostCursor, HostMessage } from '../host/instance-interface.js';
import { ColumnOutput, outputWidths } from './column-output.js';
import { allocateScratch, ColumnReader } from './column-reader.js';
import { LinearMemory, type Pointer } from './kernels.js';
import { OpenFiles } from './open-files.js';
import { PageSource } from './page-source.js';

/** As in batches of the engine. */
const alignment = 64;
const maxRowsPerBatch = 65_536;
const minRowsPerBatch = 256;
/** Of a full region: texts are longer in some rows than in those before. */
const fillShare = 0.97;
/** gRPC framing, FlightData fields and the message's own header, per column. */
const headerBytesPerColumn = 128;
const framingBytes = 1024;

interface Column {
  readonly output: ColumnOutput;
  readonly reader: ColumnReader;
}

export class ParquetCursor implements HostCursor {
  readonly schema: Uint8Array;
  readonly hasFirstRows = true;
  private readonly files = new OpenFiles();
  private readonly memory = LinearMemory.borrow();
  private readonly columns: readonly Column[];
  private readonly bitmap: Pointer;
  private readonly maxRows: number;
  private readonly maxMessageBytes: number;
  private readonly cpuAtStart = process.cpuUsage();
  private targetRows: number;
  private rowsReturned = 0n;
  private isOpen = true;
  private readonly endListeners: (() => void)[] = [];
  private finalProfile: EngineProfile | undefined;

  /** `regionBytes` is what `next` will mostly be given. */
  constructor(request: ParquetRead, regionBytes: number, maxMessageBytes: number) {
    const { memory } = this;
    this.schema = request.schema;
    this.maxMessageBytes = maxMessageBytes;
    const rowBytes = request.columns.reduce((sum, { values }) => sum + (outputWidths[values] || 8), 0);
    this.maxRows = Math.max(
      minRowsPerBatch,
      Math.min(maxRowsPerBatch, Math.ceil(regionBytes / Math.max(1, rowBytes))),
    );
    this.targetRows = this.maxRows;
    this.bitmap = memory.allocate(this.maxRows / 8 + 8);
    const scratch = allocateScratch(memory);
    this.columns = request.columns.map(({ values }, index) => {
      const isNullable = request.files.some(({ rowGroups }) =>
        rowGroups.some(({ chunks }) => chunks[index]?.isNullable === true),
      );
      const output = new ColumnOutput(memory, values, isNullable, this.maxRows);
      const source = new PageSource(memory, this.files, request, index);
      return { output, reader: new ColumnReader({ memory, source, output, scratch, kind: values }) };
    });
  }

  /** See HostCursor. Throws DATA_CORRUPT naming file and column, OUT_OF_MEMORY, RESULT_TOO_LARGE; it is closed then. */
  next(region: Uint8Array): HostMessage | undefined {
    if (!this.isOpen) return undefined;
    try {
      const message = this.nextBatch(region);
      if (message === undefined) this.close();
      return message;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.files[Symbol.dispose]();
    this.finalProfile = this.profile();
    this.memory.giveBack();
    for (const listener of this.endListeners.splice(0)) listener();
  }

  whenEnded(listener: () => void): void {
    if (this.isOpen) this.endListeners.push(listener);
    else listener();
  }

  profile(): EngineProfile {
    if (this.finalProfile !== undefined) return this.finalProfile;
    const { user, system } = process.cpuUsage(this.cpuAtStart);
    return {
      rowsReturned: this.rowsReturned,
      rowsScanned: this.rowsReturned,
      spilledBytes: 0n,
      peakMemoryBytes: BigInt(this.memory.bytes.byteLength),
      cpuSeconds: (user + system) / 1e6,
    };
  }

  private nextBatch(region: Uint8Array): HostMessage | undefined {
    const { columns } = this;
    // Text decides how many rows there are; the others follow.
    let rows = this.targetRows;
    for (const isText of [true, false])
      for (const { output, reader } of columns) {
        if (output.isText !== isText) continue;
        reader.fill(rows, region.byteLength);
        rows = Math.min(rows, output.rows);
      }
    if (columns.some(({ output }) => output.rows < rows) || rows === 0) return this.expectEnd();
    const fitting = this.rowsThatFit(rows, region.byteLength);
    const sent = Math.max(1, fitting);
    const target = fitting > 0 ? region : this.ownMemory(this.bodyBytes(1));
    const layout = this.write(sent, target);
    for (const { output } of columns) output.take(sent);
    this.rowsReturned += BigInt(sent);
    this.targetRows = Math.max(
      1,
      Math.min(this.maxRows, Math.floor((sent * region.byteLength * fillShare) / layout.bodyBytes)),
    );
    return {
      kind: 'batch',
      header: encodeBatchMessage(layout),
      body: target.subarray(0, layout.bodyBytes),
      isInRegion: fitting > 0,
      rowCount: sent,
      isLast: false,
    };
  }

  /** All columns end with the same row, or the files are not what was said of them. */
  private expectEnd(): undefined {
    if (this.columns.some(({ output }) => output.rows > 0))
      throw new QueryError(
        'DATA_CORRUPT',
        'A Parquet file is damaged: its columns have different numbers of rows.',
      );
    return undefined;
  }

  private rowsThatFit(rows: number, byteCount: number): number {
    if (this.bodyBytes(rows) <= byteCount) return rows;
    let fits = 0;
    let above = rows;
    while (above - fits > 1) {
      const middle = (fits + above) >> 1;
      if (this.bodyBytes(middle) <= byteCount) fits = middle;
      else above = middle;
    }
    return fits;
  }

  /** At most what `rows` take: a bitmap is counted wherever there may be one. */
  private bodyBytes(rows: number): number {
    let total = 0;
    for (const { output } of this.columns) {
      if (output.flags !== 0) total += align(Math.ceil(rows / 8));
      if (output.isText) total += align((rows + 1) * 4) + align(output.textEnd(rows));
      else if (output.width === 1) total += align(Math.ceil(rows / 8));
      else total += align(rows * output.width);
    }
    return total;
  }

  private write(rows: number, target: Uint8Array): BatchLayout {
    const nodes: FieldNode[] = [];
    const buffers: BufferRange[] = [];
    let position = 0;
    const place = (source: Pointer, byteCount: number): number => {
      const at = position;
      target.set(this.memory.bytes.subarray(source, source + byteCount), position);
      buffers.push({ offset: position, byteCount });
      const end = position + byteCount;
      position = align(end);
      target.fill(0, end, position);
      return at;
    };
    const { kernels } = this.memory;
    for (const { output } of this.columns) {
      const nullCount = output.flags === 0 ? 0 : rows - kernels.packFlags(output.flags, rows, this.bitmap);
      const byteOffset = place(this.bitmap, nullCount === 0 ? 0 : Math.ceil(rows / 8));
      const mask = nullCount === 0 ? undefined : { bytes: target, byteOffset };
      nodes.push({ length: rows, nullCount });
      if (output.isText) {
        place(output.offsets, (rows + 1) * 4);
        place(output.textBytes, output.textEnd(rows));
      } else if (output.width === 1) {
        kernels.packFlags(output.values, rows, this.bitmap);
        const at = place(this.bitmap, Math.ceil(rows / 8));
        if (mask !== undefined) blankBits(mask, rows, target, at);
      } else {
        const at = place(output.values, rows * output.width);
        if (mask !== undefined) blankFixed(mask, rows, target, at, output.width);
      }
    }
    return { rowCount: rows, nodes, buffers, bodyBytes: position };
  }

  private ownMemory(byteCount: number): Uint8Array {
    if (byteCount + framingBytes + headerBytesPerColumn * this.columns.length > this.maxMessageBytes)
      throw new QueryError(
        'RESULT_TOO_LARGE',
        `One row of the result takes ${byteCount} bytes; a message holds at most ${this.maxMessageBytes} bytes.`,
      );
    return new Uint8Array(new ArrayBuffer(byteCount));
  }
}

function align(byteCount: number): number {
  return Math.ceil(byteCount / alignment) * alignment;
}
