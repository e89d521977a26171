/** A running statement's result as Arrow IPC messages, pulled one at a time. */
import { QueryError } from '@svc/base';
import type { EngineProfile } from '../api.js';
import { type ArrayPlan, planArrays } from '../arrow/array-plan.js';
import { BatchMerge } from '../arrow/batch-merge.js';
import {
  type ChunkArrays,
  column,
  columnsPerNode,
  readChunkArrays,
  readSingleArray,
} from '../arrow/chunk-arrays.js';
import {
  encapsulate,
  encodeBatchMessage,
  encodeDictionaryMessage,
  encodeSchemaMessage,
} from '../arrow/ipc-encode.js';
import type { ArrowSchema } from '../arrow/types.js';
import { arrowArrayLayout } from '../capi/layouts.js';
import { type Address, addressOf, releaseArrowStruct } from '../capi/memory.js';
import { type ArrowOptions, throwErrorData } from './arrow-options.js';
import type { EngineConnection, ResultMemory } from './connection.js';

/** One message, laid out. `body` is the start of the region given, or memory of its own when it did not fit there. */
export interface CursorMessage {
  readonly kind: 'dictionary' | 'batch';
  /** Message flatbuffer without prefix. */
  readonly header: Uint8Array;
  readonly body: Uint8Array;
  /** Whether `body` lies in the region. */
  readonly isInRegion: boolean;
  readonly rowCount: number;
  /** See HostMessage. */
  readonly isLast: boolean;
}

/** Everything that a cursor owns from now on. */
export interface CursorParts {
  readonly connection: EngineConnection;
  readonly options: ArrowOptions;
  readonly result: ResultMemory;
  readonly schema: ArrowSchema;
  /** Largest message that the receivers take, header included. */
  readonly maxMessageBytes: number;
  /** Called once, when the statement has ended, with its error if it has one. */
  readonly onEnd: (error: unknown) => void;
  readonly readProfile: (rowsReturned: bigint) => EngineProfile;
}

/** A converted chunk and the memory of its root struct. */
interface OwnedChunk {
  readonly arrays: ChunkArrays;
  readonly root: Uint8Array;
}

/** A slow statement's rows are sent after this time, even if the batch could still grow. */
const lingerMs = 250;
/** Bounds rows per batch when they are tiny. */
const maxRowsPerBatch = 2 ** 20;
/** Bounds what is held of chunks with few rows. */
const maxChunksPerBatch = 4096;
/** gRPC framing and FlightData fields around a message. */
const framingBytes = 1024;

export class ResultCursor {
  /** Encapsulated schema message. */
  readonly schema: Uint8Array;
  /** A statement counts as started once it has them. */
  readonly hasFirstRows = true;
  private readonly parts: CursorParts;
  private readonly plan: ArrayPlan;
  private readonly merge: BatchMerge;
  /** Chunks whose rows are in `merge` but not written yet. */
  private readonly merged: OwnedChunk[] = [];
  /** A fetched chunk with rows left, from `currentRow`. */
  private current: OwnedChunk | undefined;
  private currentRow = 0;
  private dictionariesSent = 0;
  private rowsReturned = 0n;
  private isAtEnd = false;
  private isOpen = true;
  private readonly endListeners: (() => void)[] = [];
  private finalProfile: EngineProfile | undefined;

  constructor(parts: CursorParts) {
    this.parts = parts;
    this.schema = encapsulate(encodeSchemaMessage(parts.schema));
    this.plan = planArrays(parts.schema.fields);
    this.merge = new BatchMerge(this.plan);
  }

  /**
   * Lays out the next message from the start of `region` (8-byte aligned, reused by the caller once it is done with the
   * body); undefined at the end. Blocks while the engine works. A row that does not fit in the region comes in memory
   * of its own. Throws the statement's error, or RESULT_TOO_LARGE for a row beyond the largest message; the cursor
   * is closed then.
   */
  next(region: Uint8Array): CursorMessage | undefined {
    if (region.byteOffset % 8 !== 0) throw new RangeError('the region must be aligned to 8 bytes');
    try {
      return this.isOpen ? this.nextMessage(region) : undefined;
    } catch (error) {
      this.end(error);
      throw error;
    }
  }

  /** Ends the statement, early or not, and frees everything. Idempotent. */
  close(): void {
    this.end(undefined);
  }

  private end(error: unknown): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    for (const chunk of this.merged.splice(0)) releaseChunk(chunk);
    if (this.current !== undefined) releaseChunk(this.current);
    this.current = undefined;
    this.parts.result.close();
    this.finalProfile = this.parts.readProfile(this.rowsReturned);
    this.parts.options[Symbol.dispose]();
    this.parts.onEnd(error);
    for (const listener of this.endListeners.splice(0)) listener();
  }

  /** Calls `listener` once the cursor has ended in any way; at once if it has. */
  whenEnded(listener: () => void): void {
    if (this.isOpen) this.endListeners.push(listener);
    else listener();
  }

  /** Complete once the cursor has ended. */
  profile(): EngineProfile {
    return (
      this.finalProfile ?? {
        rowsReturned: this.rowsReturned,
        rowsScanned: 0n,
        spilledBytes: 0n,
        peakMemoryBytes: 0n,
        cpuSeconds: 0,
      }
    );
  }

  private nextMessage(region: Uint8Array): CursorMessage | undefined {
    const deadline = performance.now() + lingerMs;
    for (;;) {
      if (this.current === undefined && !this.isAtEnd) this.fetch();
      if (this.current === undefined) {
        if (this.merge.rowCount > 0) return this.writeBatch(region);
        this.close();
        return undefined;
      }
      if (this.dictionariesSent < this.plan.dictionaries.length)
        return this.writeDictionary(this.current, region);
      const message = this.mergeCurrent(this.current, region);
      if (message !== undefined) return message;
      if (this.merged.length >= maxChunksPerBatch || performance.now() > deadline)
        return this.writeBatch(region);
    }
  }

  /**
   * Takes rows of the current chunk; answers a message when the batch is full. Batches are filled up, so that where they end
   * says nothing of the engine's chunks: of a table with hidden rows these would tell where they lie.
   */
  private mergeCurrent(chunk: OwnedChunk, region: Uint8Array): CursorMessage | undefined {
    const { arrays } = chunk;
    const left = arrays.rowCount - this.currentRow;
    const room = maxRowsPerBatch - this.merge.rowCount;
    if (left <= room && this.merge.add(arrays, this.currentRow, left, region.byteLength)) {
      this.merged.push(chunk);
      this.current = undefined;
      return undefined;
    }
    if (this.merge.rowCount > 0) {
      const more = Math.min(room, this.merge.rowsThatFit(arrays, this.currentRow, region.byteLength));
      if (more > 0) this.merge.add(arrays, this.currentRow, more, region.byteLength);
      const message = this.writeBatch(region);
      this.currentRow += more;
      return message;
    }
    const fitting = this.merge.rowsThatFit(arrays, this.currentRow, region.byteLength);
    const rowCount = Math.max(1, fitting);
    const target = fitting > 0 ? region : this.ownMemory(this.merge.bytesAlone(arrays, this.currentRow, 1));
    this.merge.add(arrays, this.currentRow, rowCount, target.byteLength);
    const message = this.writeBatch(target, fitting > 0);
    this.currentRow += rowCount;
    return message;
  }

  private writeBatch(target: Uint8Array, isInRegion = true): CursorMessage {
    const layout = this.merge.write(target);
    for (const chunk of this.merged.splice(0)) releaseChunk(chunk);
    this.rowsReturned += BigInt(layout.rowCount);
    return {
      kind: 'batch',
      header: encodeBatchMessage(layout),
      body: target.subarray(0, layout.bodyBytes),
      isInRegion,
      rowCount: layout.rowCount,
      isLast: this.isAtEnd && this.current === undefined,
    };
  }

  /** Enum types have one dictionary for all chunks: it is sent once, before the first batch. */
  private writeDictionary(chunk: OwnedChunk, region: Uint8Array): CursorMessage {
    const index = this.plan.dictionaries[this.dictionariesSent] ?? 0;
    this.dictionariesSent += 1;
    const field = this.plan.nodes[index]?.field;
    if (field?.dictionary === undefined) throw new QueryError('INTERNAL_ERROR', 'A dictionary has no field.');
    const plan = planArrays([{ ...field, dictionary: undefined }]);
    const values = readSingleArray(plan, chunk.arrays.table[index * columnsPerNode + column.dictionary] ?? 0);
    const merge = new BatchMerge(plan);
    const byteCount = merge.bytesAlone(values, 0, values.rowCount);
    const isInRegion = byteCount <= region.byteLength;
    const target = isInRegion ? region : this.ownMemory(byteCount);
    merge.add(values, 0, values.rowCount, target.byteLength);
    const layout = merge.write(target);
    return {
      kind: 'dictionary',
      header: encodeDictionaryMessage(field.dictionary.id, layout),
      body: target.subarray(0, layout.bodyBytes),
      isInRegion,
      rowCount: layout.rowCount,
      isLast: false,
    };
  }

  private ownMemory(byteCount: number): Uint8Array {
    const headerBytes = 32 * this.plan.nodes.length * 4 + framingBytes;
    if (byteCount + headerBytes > this.parts.maxMessageBytes)
      throw new QueryError(
        'RESULT_TOO_LARGE',
        `One row of the result takes ${byteCount} bytes; a message holds at most ${this.parts.maxMessageBytes} bytes.`,
      );
    return new Uint8Array(new ArrayBuffer(byteCount));
  }

  /** Fetches and converts the next chunk that has rows, or notes the end. */
  private fetch(): void {
    const { connection, options, result } = this.parts;
    const { functions } = connection;
    const words = result.words();
    for (;;) {
      const chunk = functions.fetchChunk(words);
      if (chunk === 0) {
        const error = result.error();
        if (error !== null && error !== '') throw connection.error(error);
        this.isAtEnd = true;
        return;
      }
      const owned = this.convert(chunk, options);
      if (owned.arrays.rowCount > 0) {
        this.current = owned;
        this.currentRow = 0;
        return;
      }
      releaseChunk(owned);
    }
  }

  /** Converts a chunk and destroys it: the arrays hold copies. */
  private convert(chunk: Address, options: ArrowOptions): OwnedChunk {
    const { connection } = this.parts;
    const root = new Uint8Array(new ArrayBuffer(arrowArrayLayout.size));
    const address = addressOf(root);
    try {
      throwErrorData(connection, connection.functions.chunkToArrow(options.handle, chunk, address));
    } finally {
      connection.functions.destroyDataChunk([chunk]);
    }
    try {
      return { arrays: readChunkArrays(this.plan, address), root };
    } catch (error) {
      releaseArrowStruct(addressOf(root), arrowArrayLayout.release);
      throw error;
    }
  }
}

function releaseChunk(chunk: OwnedChunk): void {
  releaseArrowStruct(addressOf(chunk.root), arrowArrayLayout.release);
}
