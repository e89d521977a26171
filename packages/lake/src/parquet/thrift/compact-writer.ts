import { wireType } from './compact-reader.js';

/** Writes the Thrift compact protocol into a growing buffer. Fields of a struct are written with ascending ids. */
export class CompactWriter {
  #buffer = Buffer.allocUnsafe(4096);
  #length = 0;
  #lastId = 0;
  readonly #outerIds: number[] = [];

  /** A view of what was written; further writing may overwrite it. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  i32(id: number, value: number): void {
    this.#header(id, wireType.i32);
    this.#integer(value);
  }

  i64(id: number, value: number): void {
    this.#header(id, wireType.i64);
    this.#integer(value);
  }

  i16(id: number, value: number): void {
    this.#header(id, wireType.i16);
    this.#integer(value);
  }

  binary(id: number, value: Uint8Array): void {
    this.#header(id, wireType.binary);
    this.binaryElement(value);
  }

  /** A field whose encoded value is taken over as it is; a boolean has an empty one. */
  raw(id: number, type: number, value: Uint8Array): void {
    this.#header(id, type);
    this.rawElement(value);
  }

  struct(id: number, write: () => void): void {
    this.#header(id, wireType.struct);
    this.structElement(write);
  }

  list(id: number, elementType: number, count: number): void {
    this.#header(id, wireType.list);
    if (count < 15) this.#byte((count << 4) | elementType);
    else {
      this.#byte(0xf0 | elementType);
      this.varint(count);
    }
  }

  /** A struct that is a list's element, or the outermost value. */
  structElement(write: () => void): void {
    this.#outerIds.push(this.#lastId);
    this.#lastId = 0;
    write();
    this.#byte(wireType.stop);
    this.#lastId = this.#outerIds.pop() ?? 0;
  }

  integerElement(value: number): void {
    this.#integer(value);
  }

  binaryElement(value: Uint8Array): void {
    this.varint(value.length);
    this.rawElement(value);
  }

  rawElement(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.#byte(rest);
  }

  #integer(value: number): void {
    this.varint(value >= 0 ? value * 2 : -value * 2 - 1);
  }

  #header(id: number, type: number): void {
    const delta = id - this.#lastId;
    if (delta > 0 && delta < 16) this.#byte((delta << 4) | type);
    else {
      this.#byte(type);
      this.#integer(id);
    }
    this.#lastId = id;
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length] = value;
    this.#length += 1;
  }

  #reserve(length: number): void {
    if (this.#length + length <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + length));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
