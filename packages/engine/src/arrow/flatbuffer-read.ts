/**
 * Flatbuffer tables from untrusted bytes. Every read is checked against the buffer: a damaged offset throws
 * INVALID_ARGUMENT, never reads elsewhere. (The generated readers of the flatbuffers package trust their input.)
 */
import { QueryError } from '@svc/base';

/** A nested object of this many levels is no schema, but an attempt to exhaust the stack. */
export const maxNesting = 64;

export function malformed(what: string): QueryError {
  return new QueryError('INVALID_ARGUMENT', `The Arrow data is malformed: ${what}.`);
}

export class FlatTable {
  private readonly view: DataView;
  private readonly position: number;
  private readonly vtable: number;
  private readonly vtableBytes: number;

  private constructor(view: DataView, position: number) {
    this.view = view;
    this.position = position;
    this.vtable = position - this.guard(() => view.getInt32(position, true));
    this.vtableBytes = this.guard(() => view.getUint16(this.vtable, true));
  }

  /** The root table of a buffer. */
  static root(bytes: Uint8Array): FlatTable {
    if (bytes.byteLength < 8) throw malformed('a message is too short');
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new FlatTable(view, view.getUint32(0, true));
  }

  int8(slot: number, fallback: number): number {
    const at = this.field(slot);
    return at === 0 ? fallback : this.guard(() => this.view.getInt8(at));
  }

  int16(slot: number, fallback: number): number {
    const at = this.field(slot);
    return at === 0 ? fallback : this.guard(() => this.view.getInt16(at, true));
  }

  int32(slot: number, fallback: number): number {
    const at = this.field(slot);
    return at === 0 ? fallback : this.guard(() => this.view.getInt32(at, true));
  }

  int64(slot: number, fallback: bigint): bigint {
    const at = this.field(slot);
    return at === 0 ? fallback : this.guard(() => this.view.getBigInt64(at, true));
  }

  table(slot: number): FlatTable | undefined {
    const at = this.field(slot);
    return at === 0 ? undefined : new FlatTable(this.view, this.follow(at));
  }

  text(slot: number): string | undefined {
    const at = this.field(slot);
    if (at === 0) return undefined;
    const { start, count } = this.vectorAt(at, 1);
    return Buffer.from(this.view.buffer, this.view.byteOffset + start, count).toString('utf8');
  }

  tables(slot: number): FlatTable[] {
    const at = this.field(slot);
    if (at === 0) return [];
    const { start, count } = this.vectorAt(at, 4);
    return Array.from(
      { length: count },
      (_, index) => new FlatTable(this.view, this.follow(start + index * 4)),
    );
  }

  int32s(slot: number): number[] {
    const at = this.field(slot);
    if (at === 0) return [];
    const { start, count } = this.vectorAt(at, 4);
    return Array.from({ length: count }, (_, index) => this.view.getInt32(start + index * 4, true));
  }

  /** A vector of structs of two 64-bit integers. Throws on values that are negative or not exact as numbers. */
  pairs(slot: number): (readonly [number, number])[] {
    const at = this.field(slot);
    if (at === 0) return [];
    const { start, count } = this.vectorAt(at, 16);
    const word = (position: number) => toCount(this.view.getBigInt64(position, true));
    return Array.from({ length: count }, (_, index) => {
      const pair = start + index * 16;
      return [word(pair), word(pair + 8)] as const;
    });
  }

  has(slot: number): boolean {
    return this.field(slot) !== 0;
  }

  /** Position of a field's value, or 0 when the table does not have it. */
  private field(slot: number): number {
    const entry = 4 + slot * 2;
    if (entry + 2 > this.vtableBytes) return 0;
    const offset = this.guard(() => this.view.getUint16(this.vtable + entry, true));
    return offset === 0 ? 0 : this.position + offset;
  }

  private follow(at: number): number {
    return at + this.guard(() => this.view.getUint32(at, true));
  }

  private vectorAt(at: number, elementBytes: number): { readonly start: number; readonly count: number } {
    const vector = this.follow(at);
    const count = this.guard(() => this.view.getUint32(vector, true));
    const start = vector + 4;
    if (start + count * elementBytes > this.view.byteLength)
      throw malformed('a vector is longer than its message');
    return { start, count };
  }

  private guard<T>(read: () => T): T {
    try {
      return read();
    } catch (cause) {
      if (cause instanceof RangeError) throw malformed('an offset lies outside its message');
      throw cause;
    }
  }
}

/** A length or position: not negative, and small enough to be one. */
export function toCount(value: bigint): number {
  if (value < 0n || value > 0x7fff_ffff_ffffn) throw malformed(`${value} is no length`);
  return Number(value);
}
