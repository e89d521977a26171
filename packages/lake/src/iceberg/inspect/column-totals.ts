import { decodeBinaryValue } from '../spec/binary-value.js';
import type { PrimitiveType } from '../spec/types.js';
import { compareValues, type PrimitiveValue, toComparable } from '../spec/values.js';
import type { FileEntry } from './file-entries.js';
import type { Cell } from './metadata-table.js';

/**
 * What the statistics of several files say of a column together. What one file does not say is not known of all: a
 * bound that is missing counts for nothing only where the file says that the column is NULL throughout.
 */
export class ColumnTotals {
  readonly #id: number;
  readonly #type: PrimitiveType;
  #min: PrimitiveValue | null | undefined;
  #max: PrimitiveValue | null | undefined;
  #nullCount: number | null = 0;
  #nanCount: number | null = 0;

  constructor(id: number, type: PrimitiveType) {
    this.#id = id;
    this.#type = type;
  }

  add(file: FileEntry): void {
    const id = this.#id;
    const nullCount = file.nullValueCounts?.get(id);
    const hasValues =
      nullCount === undefined || nullCount !== (file.valueCounts?.get(id) ?? file.recordCount);
    this.#nullCount = sum(this.#nullCount, nullCount);
    this.#nanCount = sum(this.#nanCount, file.nanValueCounts?.get(id));
    if (!hasValues) return;
    this.#min = this.#widened(this.#min, file.lowerBounds?.get(id), -1);
    this.#max = this.#widened(this.#max, file.upperBounds?.get(id), 1);
  }

  /** `min`, `max`, `null_count`, `nan_count`; NULL when nothing is known. */
  cell(): Cell {
    const [min, max] = [this.#min ?? null, this.#max ?? null];
    if (min === null && max === null && this.#nullCount === null) return null;
    return [min, max, this.#nullCount, this.#nanCount];
  }

  /** `null`: a file did not say. */
  #widened(
    known: PrimitiveValue | null | undefined,
    bound: Uint8Array | undefined,
    direction: number,
  ): PrimitiveValue | null {
    const value = bound === undefined ? undefined : decodeBinaryValue(this.#type, bound);
    if (value === undefined || known === null) return null;
    if (known === undefined) return owned(value);
    return compareValues(toComparable(value), toComparable(known)) * direction > 0 ? owned(value) : known;
  }
}

/** Bytes are a view of their manifest, all of which they would keep in memory. */
function owned(value: PrimitiveValue): PrimitiveValue {
  return value instanceof Uint8Array ? Uint8Array.from(value) : value;
}

function sum(total: number | null, count: number | undefined): number | null {
  return total === null || count === undefined ? null : total + count;
}
