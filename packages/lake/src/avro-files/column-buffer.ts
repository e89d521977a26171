/** A column chunk in the making: plain values, and the levels that tell lists, structs and nulls apart. */
import { AvroError } from '../iceberg/avro/avro-error.js';
import { plainPageHeader } from '../staging/constant-chunk.js';

/** What all columns of a row group hold together. */
export interface RowGroupLoad {
  bytes: number;
  /** Values, nulls among them: many of these are few bytes, and take their time nevertheless. */
  cells: number;
}

/** Of one row group. A record goes into one as a whole, so that a single one can be too large. */
const maxLoadBytes = 192 * 1024 * 1024;
const maxLoadCells = 64 * 1024 * 1024;

class ByteSink {
  bytes = Buffer.alloc(0);
  length = 0;
  readonly #load: RowGroupLoad;

  constructor(load: RowGroupLoad) {
    this.#load = load;
  }

  /** Makes room and answers where it begins. */
  extend(length: number): number {
    const start = this.length;
    const end = start + length;
    this.#load.bytes += length;
    if (this.#load.bytes > maxLoadBytes) throw tooLarge();
    if (end > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(end, this.bytes.length * 2, 1024));
      larger.set(this.bytes.subarray(0, start));
      this.bytes = larger;
    }
    this.length = end;
    return start;
  }

  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }
}

/** Levels as runs (Parquet format, "Run Length Encoding / Bit-Packing Hybrid"), none above 255. */
class LevelRuns {
  readonly #sink: ByteSink;
  #level = 0;
  #count = 0;

  constructor(load: RowGroupLoad) {
    this.#sink = new ByteSink(load);
  }

  add(level: number): void {
    if (level !== this.#level) {
      this.#close();
      this.#level = level;
    }
    this.#count++;
  }

  /** With their length in front, as data pages have them. */
  finish(): readonly Buffer[] {
    this.#close();
    const length = Buffer.alloc(4);
    length.writeUInt32LE(this.#sink.length);
    return [length, this.#sink.view()];
  }

  clear(): void {
    this.#sink.clear();
  }

  #close(): void {
    if (this.#count === 0) return;
    for (let rest = this.#count * 2; ; rest = Math.floor(rest / 128)) {
      this.#push(rest >= 128 ? (rest % 128) | 128 : rest);
      if (rest < 128) break;
    }
    this.#push(this.#level);
    this.#count = 0;
  }

  #push(byte: number): void {
    const at = this.#sink.extend(1);
    this.#sink.bytes[at] = byte;
  }
}

export class ColumnBuffer {
  readonly #load: RowGroupLoad;
  readonly #values: ByteSink;
  readonly #repetitions: LevelRuns | undefined;
  readonly #definitions: LevelRuns | undefined;
  readonly #maxDefinition: number;
  #valueCount = 0;
  #flagCount = 0;

  constructor(
    load: RowGroupLoad,
    { maxRepetition, maxDefinition }: { readonly maxRepetition: number; readonly maxDefinition: number },
  ) {
    this.#load = load;
    this.#values = new ByteSink(load);
    this.#repetitions = maxRepetition > 0 ? new LevelRuns(load) : undefined;
    this.#definitions = maxDefinition > 0 ? new LevelRuns(load) : undefined;
    this.#maxDefinition = maxDefinition;
  }

  /** Where nothing is, and up to which level there is something. */
  addNull(repetition: number, definition: number): void {
    this.#count();
    this.#repetitions?.add(repetition);
    this.#definitions?.add(definition);
  }

  /** Makes room for a value of `length` bytes at the answered place of `bytes`. */
  add(repetition: number, length: number): number {
    this.#count();
    this.#repetitions?.add(repetition);
    this.#definitions?.add(this.#maxDefinition);
    return this.#values.extend(length);
  }

  /** Another buffer after each `add`. */
  get bytes(): Buffer {
    return this.#values.bytes;
  }

  addFlag(repetition: number, flag: boolean): void {
    const bit = this.#flagCount & 7;
    this.#flagCount++;
    const at = this.add(repetition, bit === 0 ? 1 : 0);
    const place = bit === 0 ? at : at - 1;
    const before = bit === 0 ? 0 : (this.bytes[place] ?? 0);
    this.bytes[place] = before | (flag ? 1 << bit : 0);
  }

  /** The chunk: one page. The pieces are views of the buffer, good until it is cleared. */
  finish(): { readonly pieces: readonly Uint8Array[]; readonly bytes: number; readonly valueCount: number } {
    const body = [
      ...(this.#repetitions?.finish() ?? []),
      ...(this.#definitions?.finish() ?? []),
      this.#values.view(),
    ];
    const bodyBytes = body.reduce((sum, piece) => sum + piece.length, 0);
    const header = plainPageHeader(bodyBytes, this.#valueCount);
    return { pieces: [header, ...body], bytes: header.length + bodyBytes, valueCount: this.#valueCount };
  }

  clear(): void {
    this.#values.clear();
    this.#repetitions?.clear();
    this.#definitions?.clear();
    this.#valueCount = 0;
    this.#flagCount = 0;
  }

  #count(): void {
    this.#valueCount++;
    this.#load.cells++;
    if (this.#load.cells > maxLoadCells) throw tooLarge();
  }
}

function tooLarge(): AvroError {
  return new AvroError(
    `a record has more than ${maxLoadBytes} bytes, or more than ${maxLoadCells} values in lists and structs`,
  );
}
