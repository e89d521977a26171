/**
 * Merges the arrays of many chunks, column by column, into the body of one IPC record batch. Chunks are added while
 * they fit; `write` then copies each buffer once from the engine's memory to its place.
 */
import { QueryError } from '@svc/base';
import { type Address, addressOf, copyBytes, readInt32, window } from '../capi/memory.js';
import type { ArrayPlan, PlanNode } from './array-plan.js';
import { appendBits, appendOnes, type BitmapTarget, countZeros } from './bitmap.js';
import { type ChunkArrays, column, columnsPerNode } from './chunk-arrays.js';
import type { BatchLayout, BufferRange, FieldNode } from './ipc-encode.js';
import { blankBits, blankFixed, blankTexts, maskOfRanges, type NullMask } from './null-mask.js';

/** Readers vectorise over 64-byte boundaries; 8 is the format's minimum. */
const alignment = 64;

/** Rows of a chunk, resolved to ranges of every array below it. */
interface Piece {
  readonly chunk: ChunkArrays;
  readonly rowCount: number;
  /** Per node: first element (array offset included), element count, first byte and byte count of its values. */
  readonly start: Float64Array;
  readonly count: Float64Array;
  readonly byteStart: Float64Array;
  readonly byteCount: Float64Array;
}

/** Where a node's buffers go. */
interface NodeWriting {
  readonly target: { readonly bytes: Uint8Array; readonly address: Address };
  /** Answers where the next buffer begins. */
  place(byteCount: number): number;
  /** The same in the place of the last one. */
  placeAgain(byteCount: number): number;
  /** What the node lies below. */
  readonly above: NullMask | undefined;
}

export class BatchMerge {
  private readonly plan: ArrayPlan;
  private pieces: Piece[] = [];
  private rows = 0;
  private readonly elements: Float64Array;
  private readonly valueBytes: Float64Array;
  private readonly hasNulls: Uint8Array;

  constructor(plan: ArrayPlan) {
    this.plan = plan;
    this.elements = new Float64Array(plan.nodes.length);
    this.valueBytes = new Float64Array(plan.nodes.length);
    this.hasNulls = new Uint8Array(plan.nodes.length);
  }

  get rowCount(): number {
    return this.rows;
  }

  get pieceCount(): number {
    return this.pieces.length;
  }

  /** Adds rows of a chunk if the body stays within `maxBytes`; answers whether it did. */
  add(chunk: ChunkArrays, rowStart: number, rowCount: number, maxBytes: number): boolean {
    const piece = resolvePiece(this.plan, chunk, rowStart, rowCount);
    if (this.bodyBytesWith(piece) > maxBytes) return false;
    this.pieces.push(piece);
    this.rows += rowCount;
    for (let index = 0; index < this.plan.nodes.length; index++) {
      this.elements[index] = (this.elements[index] ?? 0) + (piece.count[index] ?? 0);
      this.valueBytes[index] = (this.valueBytes[index] ?? 0) + (piece.byteCount[index] ?? 0);
      if (mayHaveNulls(piece, index)) this.hasNulls[index] = 1;
    }
    return true;
  }

  /** The most rows from `rowStart` that fit now; 0 when not even one does. */
  rowsThatFit(chunk: ChunkArrays, rowStart: number, maxBytes: number): number {
    let fits = 0;
    let above = chunk.rowCount - rowStart + 1;
    while (above - fits > 1) {
      const middle = (fits + above) >> 1;
      const piece = resolvePiece(this.plan, chunk, rowStart, middle);
      if (this.bodyBytesWith(piece) <= maxBytes) fits = middle;
      else above = middle;
    }
    return fits;
  }

  /** Bytes of a body that holds only these rows. */
  bytesAlone(chunk: ChunkArrays, rowStart: number, rowCount: number): number {
    return new BatchMerge(this.plan).bodyBytesWith(resolvePiece(this.plan, chunk, rowStart, rowCount));
  }

  /**
   * Lays the rows out from the start of `region` (8-byte aligned, at least as long as `add` was allowed) and forgets
   * them. Padding is zeroed, for a region is reused by later results, and so is what lies below NULLs.
   */
  write(region: Uint8Array): BatchLayout {
    const target = { bytes: region, address: addressOf(region) };
    const nodes: FieldNode[] = [];
    const buffers: BufferRange[] = [];
    /** Per node what its children lie below. */
    const masks: (NullMask | undefined)[] = [];
    let position = 0;
    const place = (byteCount: number): number => {
      const offset = position;
      buffers.push({ offset, byteCount });
      position = align(offset + byteCount);
      region.fill(0, offset + byteCount, position);
      return offset;
    };
    const placeAgain = (byteCount: number): number => {
      position = buffers.pop()?.offset ?? 0;
      return place(byteCount);
    };
    this.plan.nodes.forEach((node, index) => {
      const above = node.parent === -1 ? undefined : masks[node.parent];
      const { mask, ...written } = this.writeNode(node, index, { target, place, placeAgain, above });
      nodes.push(written);
      masks.push(mask);
    });
    const layout = { rowCount: this.rows, nodes, buffers, bodyBytes: position };
    this.clear();
    return layout;
  }

  private clear(): void {
    this.pieces = [];
    this.rows = 0;
    this.elements.fill(0);
    this.valueBytes.fill(0);
    this.hasNulls.fill(0);
  }

  private bodyBytesWith(piece: Piece): number {
    let total = 0;
    const { nodes } = this.plan;
    for (let index = 0; index < nodes.length; index++) {
      const node = nodes[index];
      if (node === undefined) continue;
      const elements = (this.elements[index] ?? 0) + (piece.count[index] ?? 0);
      const values = (this.valueBytes[index] ?? 0) + (piece.byteCount[index] ?? 0);
      // Whether there are NULLs is known of chunks: how many rows fit is not to depend on where these end.
      if (hasValidity(node)) total += align(Math.ceil(elements / 8));
      switch (node.layout.kind) {
        case 'none':
        case 'denseUnion':
          break;
        case 'bits':
          total += align(Math.ceil(elements / 8));
          break;
        case 'fixed':
          total += align(elements * node.layout.bytes);
          break;
        case 'sparseUnion':
          total += align(elements);
          break;
        case 'list':
          total += align((elements + 1) * node.layout.offsetBytes);
          break;
        case 'variable':
          total += align((elements + 1) * node.layout.offsetBytes) + align(values);
          break;
      }
    }
    return total;
  }

  private writeNode(
    node: PlanNode,
    index: number,
    { target, place, placeAgain, above }: NodeWriting,
  ): FieldNode & { readonly mask: NullMask | undefined } {
    const length = this.elements[index] ?? 0;
    const { bytes } = target;
    let mask = above;
    let nullCount = 0;
    if (hasValidity(node)) {
      if (this.hasNulls[index] === 1) {
        const bitmap = { ...target, byteOffset: place(Math.ceil(length / 8)) };
        this.writeBits(bitmap, index, column.buffer0);
        if (above !== undefined) blankBits(above, length, bytes, bitmap.byteOffset);
        nullCount = countZeros(bitmap.bytes, bitmap.byteOffset, length);
        if (nullCount > 0) mask = bitmap;
        else placeAgain(0);
      } else place(0);
    }
    const { layout } = node;
    switch (layout.kind) {
      case 'none':
        if (node.field.type.kind === 'null') nullCount = length;
        else if (node.field.type.kind === 'fixedList') {
          const { size } = node.field.type;
          mask &&= maskOfRanges(mask, length, (row) => row * size);
        }
        break;
      case 'bits': {
        const at = place(Math.ceil(length / 8));
        this.writeBits({ ...target, byteOffset: at }, index, column.buffer1);
        if (mask !== undefined) blankBits(mask, length, bytes, at);
        break;
      }
      case 'fixed': {
        const at = place(length * layout.bytes);
        this.writeFixed(target.address + at, index, column.buffer1, layout.bytes);
        if (mask !== undefined) blankFixed(mask, length, bytes, at, layout.bytes);
        break;
      }
      case 'sparseUnion':
        this.writeFixed(target.address + place(length), index, column.buffer0, 1);
        break;
      case 'list':
      case 'variable': {
        const at = place((length + 1) * layout.offsetBytes);
        if (layout.offsetBytes === 4) this.writeOffsets(target, at, index);
        else this.writeLongOffsets(target, at, index);
        // What is NULL itself has no length: only below something else that is there may be a text or elements.
        const offsetAt = offsetsIn(bytes, at, layout.offsetBytes);
        if (layout.kind === 'variable') {
          const byteCount = this.valueBytes[index] ?? 0;
          const textAt = place(byteCount);
          this.writeValues(target.address + textAt, index);
          if (above !== undefined)
            blankTexts(above, length, offsetAt, bytes.subarray(textAt, textAt + byteCount));
        } else mask = above && maskOfRanges(above, length, offsetAt);
        break;
      }
      case 'denseUnion':
        throw new QueryError('INTERNAL_ERROR', 'A dense union reached the batch writer.');
    }
    return { length, nullCount, mask };
  }

  /** Validity (a missing bitmap means all valid) or boolean values. */
  private writeBits(bitmap: BitmapTarget, index: number, buffer: number): void {
    const row = index * columnsPerNode;
    let bit = 0;
    for (const piece of this.pieces) {
      const count = piece.count[index] ?? 0;
      const source = piece.chunk.table[row + buffer] ?? 0;
      const isAllOnes = buffer === column.buffer0 && (source === 0 || !mayHaveNulls(piece, index));
      if (isAllOnes) appendOnes(bitmap, bit, count);
      else appendBits(bitmap, bit, source, piece.start[index] ?? 0, count);
      bit += count;
    }
  }

  private writeFixed(to: Address, index: number, buffer: number, width: number): void {
    const cell = index * columnsPerNode + buffer;
    let position = to;
    for (const piece of this.pieces) {
      const byteCount = (piece.count[index] ?? 0) * width;
      copyBytes(position, (piece.chunk.table[cell] ?? 0) + (piece.start[index] ?? 0) * width, byteCount);
      position += byteCount;
    }
  }

  private writeValues(to: Address, index: number): void {
    const cell = index * columnsPerNode + column.buffer2;
    let position = to;
    for (const piece of this.pieces) {
      const byteCount = piece.byteCount[index] ?? 0;
      copyBytes(position, (piece.chunk.table[cell] ?? 0) + (piece.byteStart[index] ?? 0), byteCount);
      position += byteCount;
    }
  }

  /** Copies each piece's offsets with its first one over the last of the piece before, then shifts them. */
  private writeOffsets(
    target: { readonly bytes: Uint8Array; readonly address: Address },
    at: number,
    index: number,
  ): void {
    const length = this.elements[index] ?? 0;
    const offsets = new Int32Array(target.bytes.buffer, target.bytes.byteOffset + at, length + 1);
    const cell = index * columnsPerNode + column.buffer1;
    offsets[0] = 0;
    let position = 0;
    let base = 0;
    for (const piece of this.pieces) {
      const count = piece.count[index] ?? 0;
      if (count === 0) continue;
      const source = (piece.chunk.table[cell] ?? 0) + (piece.start[index] ?? 0) * 4;
      copyBytes(target.address + at + position * 4, source, (count + 1) * 4);
      const first = piece.byteStart[index] ?? 0;
      if (offsets[position] !== first) throw new QueryError('INTERNAL_ERROR', 'Offsets do not start at 0.');
      const shift = base - first;
      const end = position + count;
      if (shift !== 0)
        for (let entry = position; entry <= end; entry++) offsets[entry] = (offsets[entry] ?? 0) + shift;
      base += piece.byteCount[index] ?? 0;
      position = end;
    }
  }

  private writeLongOffsets(
    target: { readonly bytes: Uint8Array; readonly address: Address },
    at: number,
    index: number,
  ): void {
    const length = this.elements[index] ?? 0;
    const offsets = new BigInt64Array(target.bytes.buffer, target.bytes.byteOffset + at, length + 1);
    const cell = index * columnsPerNode + column.buffer1;
    offsets[0] = 0n;
    let position = 0;
    let base = 0;
    for (const piece of this.pieces) {
      const count = piece.count[index] ?? 0;
      if (count === 0) continue;
      const source = (piece.chunk.table[cell] ?? 0) + (piece.start[index] ?? 0) * 8;
      copyBytes(target.address + at + position * 8, source, (count + 1) * 8);
      const shift = BigInt(base - (piece.byteStart[index] ?? 0));
      for (let entry = position; entry <= position + count; entry++)
        offsets[entry] = (offsets[entry] ?? 0n) + shift;
      base += piece.byteCount[index] ?? 0;
      position += count;
    }
  }
}

/** The offsets that have been written. */
function offsetsIn(
  { buffer, byteOffset }: Uint8Array,
  at: number,
  offsetBytes: 4 | 8,
): (row: number) => number {
  const view = new DataView(buffer, byteOffset + at);
  return offsetBytes === 4
    ? (row) => view.getInt32(row * 4, true)
    : (row) => Number(view.getBigInt64(row * 8, true));
}

function align(byteCount: number): number {
  return Math.ceil(byteCount / alignment) * alignment;
}

function hasValidity(node: PlanNode): boolean {
  const { layout } = node;
  return layout.kind === 'none' ? layout.hasValidity : layout.kind !== 'sparseUnion';
}

function mayHaveNulls(piece: Piece, index: number): boolean {
  return piece.chunk.table[index * columnsPerNode + column.nullCount] !== 0 && (piece.count[index] ?? 0) > 0;
}

/** Depth-first order puts parents first, so that one pass resolves every range. */
function resolvePiece(plan: ArrayPlan, chunk: ChunkArrays, rowStart: number, rowCount: number): Piece {
  const size = plan.nodes.length;
  const piece: Piece = {
    chunk,
    rowCount,
    start: new Float64Array(size),
    count: new Float64Array(size),
    byteStart: new Float64Array(size),
    byteCount: new Float64Array(size),
  };
  for (let index = 0; index < size; index++) {
    const node = plan.nodes[index];
    if (node === undefined) continue;
    resolveRange(plan, piece, node, index, rowStart);
    if (node.layout.kind === 'variable' || node.layout.kind === 'list')
      resolveValues(piece, index, node.layout.offsetBytes);
  }
  return piece;
}

function resolveRange(plan: ArrayPlan, piece: Piece, node: PlanNode, index: number, rowStart: number): void {
  const offset = piece.chunk.table[index * columnsPerNode + column.offset] ?? 0;
  const parent = node.parent === -1 ? undefined : plan.nodes[node.parent];
  if (parent === undefined) {
    piece.start[index] = rowStart + offset;
    piece.count[index] = piece.rowCount;
    return;
  }
  const parentStart = piece.start[node.parent] ?? 0;
  const parentCount = piece.count[node.parent] ?? 0;
  if (parent.layout.kind === 'list') {
    piece.start[index] = (piece.byteStart[node.parent] ?? 0) + offset;
    piece.count[index] = piece.byteCount[node.parent] ?? 0;
  } else {
    const factor = parent.field.type.kind === 'fixedList' ? parent.field.type.size : 1;
    piece.start[index] = parentStart * factor + offset;
    piece.count[index] = parentCount * factor;
  }
}

/** First offset and distance to the last: bytes of values, or elements of a list's child. */
function resolveValues(piece: Piece, index: number, offsetBytes: 4 | 8): void {
  const count = piece.count[index] ?? 0;
  if (count === 0) return;
  const offsets = piece.chunk.table[index * columnsPerNode + column.buffer1] ?? 0;
  const start = piece.start[index] ?? 0;
  // An array starts at offset 0 (checked when it is copied); reading it here would cost a call per column and chunk.
  const first = start === 0 ? 0 : readOffset(offsets, start, offsetBytes);
  piece.byteStart[index] = first;
  piece.byteCount[index] = readOffset(offsets, start + count, offsetBytes) - first;
}

function readOffset(offsets: Address, element: number, offsetBytes: 4 | 8): number {
  if (offsetBytes === 4) return readInt32(offsets + element * 4);
  window.load(offsets + element * 8, 8);
  return window.word(0);
}
