import { AvroError } from './avro-error.js';

const beyondEnd = 'the data ends in the middle of a value';

/** A position in binary Avro data. Every read is checked against the end; damage is an AvroError, never a hang. */
export class AvroCursor {
  readonly bytes: Buffer;
  position: number;

  constructor(bytes: Uint8Array, position = 0) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.position = position;
  }

  get remaining(): number {
    return this.bytes.length - this.position;
  }

  /** An int or long as a number. Above 2^53 it is taken for damage: only ids and sequence numbers are that large. */
  integer(): number {
    const first = this.byte();
    if (first < 0x80) return (first >>> 1) ^ -(first & 1);
    let low = first & 0x7f;
    for (let shift = 7; shift < 28; shift += 7) {
      const byte = this.byte();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (low >>> 1) ^ -(low & 1);
    }
    return this.largeInteger(low);
  }

  long(): bigint {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt((low >>> 1) ^ -(low & 1));
    }
    let value = BigInt(low);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
    }
    throw new AvroError('a number has more than ten bytes');
  }

  /** The next long as 64 bits, little-endian, at `offset` of `target`: of columns of them none becomes a bigint. */
  longTo(target: Buffer, offset: number): void {
    let [low, high] = [0, 0];
    for (let shift = 0; ; shift += 7) {
      if (shift === 70) throw new AvroError('a number has more than ten bytes');
      const byte = this.byte();
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) break;
    }
    const sign = -(low & 1);
    target.writeInt32LE(((low >>> 1) | (high << 31)) ^ sign, offset);
    target.writeInt32LE((high >>> 1) ^ sign, offset + 4);
  }

  skipLong(): void {
    for (let length = 1; this.byte() >= 0x80; length++)
      if (length === 10) throw new AvroError('a number has more than ten bytes');
  }

  boolean(): boolean {
    return this.byte() !== 0;
  }

  float(): number {
    return this.bytes.readFloatLE(this.advance(4));
  }

  double(): number {
    return this.bytes.readDoubleLE(this.advance(8));
  }

  /** A view, not a copy. */
  take(length: number): Buffer {
    const start = this.advance(length);
    return this.bytes.subarray(start, start + length);
  }

  byteString(): Buffer {
    return this.take(this.integer());
  }

  text(): string {
    const length = this.integer();
    const start = this.advance(length);
    return this.bytes.toString('utf8', start, start + length);
  }

  skipBytes(): void {
    this.advance(this.integer());
  }

  /** Moves on by `length` bytes and answers where they start. */
  advance(length: number): number {
    const start = this.position;
    if (length < 0 || length > this.bytes.length - start) throw new AvroError(beyondEnd);
    this.position = start + length;
    return start;
  }

  /**
   * The next block of an array or map: its number of items, 0 at the end. An item has at least one byte, so a count
   * above what is left is damage; nothing is ever allocated by a count alone.
   */
  blockCount(): number {
    let count = this.integer();
    if (count < 0) {
      count = -count;
      this.skipLong();
    }
    if (count > this.remaining) throw new AvroError(`a list of ${count} items does not fit into the data`);
    return count;
  }

  private byte(): number {
    const byte = this.bytes[this.position];
    if (byte === undefined) throw new AvroError(beyondEnd);
    this.position++;
    return byte;
  }

  /** `low` are the 28 lowest bits. Continues in floating point, which is exact below 2^53. */
  private largeInteger(low: number): number {
    let value = low;
    for (let factor = 2 ** 28; factor <= 2 ** 56; factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      }
    }
    throw new AvroError('a number is larger than its meaning allows');
  }
}
