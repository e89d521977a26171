import type { ParquetReadColumn } from '../api.js';
import type { LinearMemory, Pointer } from './kernels.js';

/** Bytes of one value in the output; 0 for text and bytes. */
export const outputWidths = { flags: 1, fixed4: 4, fixed8: 8, decimal: 16, text: 0, bytes: 0 } as const;

const firstTextRoom = 64 << 10;

/**
 * Rows of one column that have been read and not been sent: values as Arrow has them, but booleans and validity as a
 * byte each. Rows are appended behind and taken from the front.
 */
export class ColumnOutput {
  readonly width: number;
  readonly isText: boolean;
  /** A byte per row, for columns that may have nulls. */
  readonly flags: Pointer;
  readonly values: Pointer;
  /** Of text: where each one ends; the first entry is 0. */
  readonly offsets: Pointer;
  /** Rows that are complete, and rows whose flags are known: never fewer. */
  rows = 0;
  flagRows = 0;
  private text: Pointer = 0;
  private readonly memory: LinearMemory;

  constructor(
    memory: LinearMemory,
    values: ParquetReadColumn['values'],
    isNullable: boolean,
    maxRows: number,
  ) {
    this.memory = memory;
    this.width = outputWidths[values];
    this.isText = this.width === 0;
    this.flags = isNullable ? memory.allocate(maxRows) : 0;
    this.values = this.isText ? 0 : memory.allocate(maxRows * this.width);
    this.offsets = this.isText ? memory.allocate((maxRows + 1) * 4) : 0;
    if (!this.isText) return;
    this.text = memory.allocate(firstTextRoom);
    this.setOffset(0, 0);
  }

  /** Where the bytes of all texts stand; moves when room is made. */
  get textBytes(): Pointer {
    return this.text;
  }

  /** Bytes of the first `rows` texts. */
  textEnd(rows = this.rows): number {
    return this.view().getUint32(this.offsets + rows * 4, true);
  }

  /** Makes room for texts of so many bytes behind the present ones. Answers up to where the texts may reach. */
  makeTextRoom(byteCount: number): number {
    const used = this.textEnd();
    if (used + byteCount > this.memory.capacityOf(this.text)) {
      const wider = this.memory.allocate(Math.max(used + byteCount, 2 * this.memory.capacityOf(this.text)));
      this.memory.bytes.copyWithin(wider, this.text, this.text + used);
      this.memory.release(this.text);
      this.text = wider;
    }
    return this.memory.capacityOf(this.text);
  }

  /** Forgets the first `count` rows. */
  take(count: number): void {
    const { bytes, kernels } = this.memory;
    const left = this.rows - count;
    if (this.flags !== 0) {
      bytes.copyWithin(this.flags, this.flags + count, this.flags + this.flagRows);
      this.flagRows -= count;
    }
    if (!this.isText) {
      bytes.copyWithin(this.values, this.values + count * this.width, this.values + this.rows * this.width);
    } else if (left === 0) {
      this.setOffset(0, 0);
    } else {
      bytes.copyWithin(this.text, this.text + this.textEnd(count), this.text + this.textEnd());
      kernels.rebaseOffsets(this.offsets + count * 4, left + 1, this.offsets);
    }
    this.rows = left;
  }

  private setOffset(index: number, value: number): void {
    this.view().setUint32(this.offsets + index * 4, value, true);
  }

  private view(): DataView {
    return new DataView(this.memory.bytes.buffer);
  }
}
