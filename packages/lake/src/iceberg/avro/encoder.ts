/** Binary Avro data being written. Grows as needed; `finish` answers what was written. */
export class AvroEncoder {
  #buffer = Buffer.allocUnsafeSlow(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Ints and longs alike: zigzag, seven bits a byte. */
  integer(value: number | bigint): void {
    let rest = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n));
    this.#reserve(10);
    while (rest >= 0x80n) {
      this.#buffer[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#buffer[this.#length++] = Number(rest);
  }

  boolean(value: boolean): void {
    this.raw(Uint8Array.of(value ? 1 : 0));
  }

  float(value: number): void {
    this.#reserve(4);
    this.#length = this.#buffer.writeFloatLE(value, this.#length);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#length = this.#buffer.writeDoubleLE(value, this.#length);
  }

  byteString(value: Uint8Array): void {
    this.integer(value.length);
    this.raw(value);
  }

  text(value: string): void {
    this.byteString(Buffer.from(value, 'utf8'));
  }

  /** A value of a union of null and one other type. */
  optional<T>(value: T | null | undefined, write: (value: T) => void): void {
    const isNull = value === null || value === undefined;
    this.integer(isNull ? 0 : 1);
    if (!isNull) write(value);
  }

  /** An array or map, in one block. */
  list<T>(items: Iterable<T>, write: (item: T) => void): void {
    const all = [...items];
    if (all.length > 0) {
      this.integer(all.length);
      for (const item of all) write(item);
    }
    this.integer(0);
  }

  /** Bytes as they are: a fixed type. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  finish(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#length + bytes));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
