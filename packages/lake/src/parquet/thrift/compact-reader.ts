import { QueryError } from '@svc/base';
import { displayLocation } from '../../storage/display-location.js';

/** Type ids of the Thrift compact protocol. A boolean field carries its value in its type. */
export const wireType = {
  stop: 0,
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
  uuid: 13,
} as const;

/** Nothing in Parquet's metadata nests deeper than this; hostile input must not reach the call stack's end. */
const maxDepth = 32;

/**
 * Reads the Thrift compact protocol within bounds: whatever the bytes are, it answers or throws DATA_CORRUPT naming
 * the file, in time linear in the bytes and without allocating by a length that the input merely claims.
 */
export class CompactReader {
  readonly #bytes: Uint8Array;
  readonly #location: string;
  #depth = 0;
  position: number;

  constructor(bytes: Uint8Array, location: string, position = 0) {
    this.#bytes = bytes;
    this.#location = location;
    this.position = position;
  }

  /** Throws DATA_CORRUPT; `what` completes the sentence "… : `what`". */
  fail(what: string): never {
    throw new QueryError(
      'DATA_CORRUPT',
      `The Parquet metadata of ${displayLocation(this.#location)} is damaged: ${what}.`,
    );
  }

  /** Bytes not read yet. */
  get remaining(): number {
    return this.#bytes.length - this.position;
  }

  byte(): number {
    const value = this.#bytes[this.position];
    if (value === undefined) this.fail('it ends too early');
    this.position += 1;
    return value;
  }

  /** An unsigned number; above 2^53 is no count, size or offset that a file can have. */
  varint(): number {
    let value = 0;
    let factor = 1;
    for (let length = 0; length < 10; length++) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if (!Number.isSafeInteger(value)) this.fail('a number is out of range');
        return value;
      }
      factor *= 128;
    }
    return this.fail('a number is longer than 64 bits');
  }

  /** A signed (zigzag) integer of any of the integer types. */
  integer(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** A count, size or offset, which is never negative. */
  size(what: string): number {
    const value = this.integer();
    if (value < 0) this.fail(`${what} is negative`);
    return value;
  }

  /** A view of the bytes, not a copy. */
  binary(): Uint8Array {
    const length = this.varint();
    const start = this.position;
    this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  text(): string {
    return Buffer.from(this.binary()).toString('utf8');
  }

  /** Reads a list's header; each of its elements takes at least one byte, so the count is bounded by the input. */
  list(): { readonly elementType: number; readonly count: number } {
    const header = this.byte();
    const short = header >> 4;
    const count = short === 15 ? this.varint() : short;
    if (count > this.remaining) this.fail('a list is longer than the metadata');
    return { elementType: header & 15, count };
  }

  /** A list of structs, each read by `read`; more than `maxCount` are refused before anything is kept of them. */
  structs<T>(maxCount: number, read: (index: number) => T): T[] {
    const { elementType, count } = this.list();
    if (count > maxCount) this.fail(`a list has ${count} elements, where at most ${maxCount} are read`);
    if (count > 0 && elementType !== wireType.struct) this.fail('a list has elements of an unexpected type');
    const result: T[] = [];
    for (let index = 0; index < count; index++) result.push(read(index));
    return result;
  }

  /** A list of integers; more than `maxCount` are refused. */
  integers(maxCount: number): number[] {
    const { elementType, count } = this.list();
    if (count > maxCount) this.fail(`a list has ${count} elements, where at most ${maxCount} are read`);
    if (count > 0 && elementType !== wireType.i32) this.fail('a list has elements of an unexpected type');
    const result: number[] = [];
    for (let index = 0; index < count; index++) result.push(this.integer());
    return result;
  }

  /**
   * Visits the fields of a struct. `visit` reads the value and answers true, or answers false without having moved:
   * then the value is skipped.
   */
  fields(visit: (id: number, type: number) => boolean): void {
    this.#enter();
    let id = 0;
    for (let header = this.byte(); (header & 15) !== wireType.stop; header = this.byte()) {
      const delta = header >> 4;
      id = delta === 0 ? this.integer() : id + delta;
      if (!visit(id, header & 15)) this.skip(header & 15);
    }
    this.#depth -= 1;
  }

  /** Checks that a field has the type that the format gives it. */
  expect(actual: number, expected: number, what: string): void {
    if (actual !== expected) this.fail(`${what} has an unexpected type`);
  }

  skip(type: number): void {
    switch (type) {
      case wireType.true:
      case wireType.false:
        break;
      case wireType.byte:
        this.#advance(1);
        break;
      case wireType.i16:
      case wireType.i32:
      case wireType.i64:
        this.#skipVarint();
        break;
      case wireType.double:
        this.#advance(8);
        break;
      case wireType.uuid:
        this.#advance(16);
        break;
      case wireType.binary:
        this.#advance(this.varint());
        break;
      case wireType.list:
      case wireType.set:
        this.#skipList();
        break;
      case wireType.map:
        this.#skipMap();
        break;
      case wireType.struct:
        this.#skipStruct();
        break;
      default:
        this.fail(`it has a value of the unknown type ${type}`);
    }
  }

  #skipStruct(): void {
    this.#enter();
    for (let header = this.byte(); (header & 15) !== wireType.stop; header = this.byte()) {
      if (header >> 4 === 0) this.#skipVarint();
      this.skip(header & 15);
    }
    this.#depth -= 1;
  }

  #skipList(): void {
    const { elementType, count } = this.list();
    this.#enter();
    for (let index = 0; index < count; index++) this.#skipElement(elementType);
    this.#depth -= 1;
  }

  #skipMap(): void {
    const count = this.varint();
    if (count === 0) return;
    const types = this.byte();
    if (count > this.remaining) this.fail('a map is longer than the metadata');
    this.#enter();
    for (let index = 0; index < count; index++) {
      this.#skipElement(types >> 4);
      this.#skipElement(types & 15);
    }
    this.#depth -= 1;
  }

  /** Inside containers a boolean takes a byte of its own. */
  #skipElement(type: number): void {
    if (type === wireType.true || type === wireType.false) this.#advance(1);
    else this.skip(type);
  }

  #skipVarint(): void {
    for (let length = 0; length < 10; length++) if (this.byte() < 0x80) return;
    this.fail('a number is longer than 64 bits');
  }

  #advance(length: number): void {
    if (length > this.remaining) this.fail('it ends too early');
    this.position += length;
  }

  #enter(): void {
    this.#depth += 1;
    if (this.#depth > maxDepth) this.fail('it is nested too deeply');
  }
}
