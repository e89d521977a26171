/**
 * Page headers of Parquet (parquet.thrift, `PageHeader`) in the Thrift compact protocol. Of the footer nothing is read
 * here: who asks for a column says where its pages lie.
 */
export interface PageHeader {
  readonly kind: 'data' | 'data-v2' | 'dictionary' | 'other';
  /** Bytes of the header itself. */
  readonly headerBytes: number;
  readonly compressedBytes: number;
  readonly uncompressedBytes: number;
  /** Nulls included. */
  readonly valueCount: number;
  /** `Encoding` of the format. */
  readonly encoding: number;
  /** Of the definition levels of a version 1 page. */
  readonly levelEncoding: number;
  /** Version 2: levels stand in front of the values, never compressed. */
  readonly levelBytes: number;
  readonly repetitionBytes: number;
  readonly isCompressed: boolean;
}

const pageKinds: Readonly<Record<number, PageHeader['kind']>> = { 0: 'data', 2: 'dictionary', 3: 'data-v2' };
const type = {
  true: 1,
  false: 2,
  byte: 3,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  struct: 12,
};
const maxDepth = 8;

/** Reads the header at the start of `bytes`; undefined when they end before it does, or it makes no sense. */
export function readPageHeader(bytes: Uint8Array): PageHeader | undefined {
  const reader = new HeaderReader(bytes);
  const numbers = new Map<number, number>();
  try {
    reader.fields((id, fieldType) => {
      if (fieldType === type.i32) {
        numbers.set(id, reader.integer());
        return true;
      }
      if (fieldType !== type.struct) return false;
      // Fields of the struct that goes with the page's kind: numbered behind those of the header itself.
      reader.fields((inner, innerType) => {
        if (innerType === type.i32) numbers.set(id * 100 + inner, reader.integer());
        else if (innerType === type.true || innerType === type.false)
          numbers.set(id * 100 + inner, innerType === type.true ? 1 : 0);
        else return false;
        return true;
      });
      return true;
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  const kind = pageKinds[numbers.get(1) ?? -1] ?? 'other';
  const struct = kind === 'data' ? 500 : kind === 'dictionary' ? 700 : 800;
  const isV2 = kind === 'data-v2';
  const field = (id: number) => numbers.get(struct + id) ?? 0;
  const header: PageHeader = {
    kind,
    headerBytes: reader.position,
    compressedBytes: numbers.get(3) ?? -1,
    uncompressedBytes: numbers.get(2) ?? -1,
    valueCount: field(1),
    encoding: field(isV2 ? 4 : 2),
    levelEncoding: isV2 ? 3 : field(3),
    levelBytes: isV2 ? field(5) : 0,
    repetitionBytes: isV2 ? field(6) : 0,
    isCompressed: !isV2 || numbers.get(struct + 7) !== 0,
  };
  const counts = [header.compressedBytes, header.uncompressedBytes, header.valueCount, header.levelBytes];
  return counts.some((count) => count < 0) || header.repetitionBytes < 0 ? undefined : header;
}

/** Throws RangeError where the bytes end or are not of the protocol. */
class HeaderReader {
  position = 0;
  private depth = 0;
  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** `visit` reads the value and answers true, or answers false: then it is skipped. */
  fields(visit: (id: number, fieldType: number) => boolean): void {
    if (++this.depth > maxDepth) throw new RangeError('nested too deeply');
    let id = 0;
    for (let header = this.byte(); header !== 0; header = this.byte()) {
      const delta = header >> 4;
      id = delta === 0 ? this.integer() : id + delta;
      if (!visit(id, header & 15)) this.skip(header & 15);
    }
    this.depth -= 1;
  }

  integer(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  private byte(): number {
    const value = this.bytes[this.position++];
    if (value === undefined) throw new RangeError('the bytes end');
    return value;
  }

  private varint(): number {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 63; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new RangeError('a number is too long');
  }

  private skip(fieldType: number): void {
    switch (fieldType) {
      case type.true:
      case type.false:
        return;
      case type.byte:
        this.position += 1;
        return;
      case 4:
      case type.i32:
      case type.i64:
        this.varint();
        return;
      case type.double:
        this.position += 8;
        return;
      case type.binary:
        this.skipBinary();
        return;
      case type.list:
      case type.set:
        this.skipList();
        return;
      case type.struct:
        this.fields(() => false);
        return;
      default:
        throw new RangeError('a value of a type that page headers do not have');
    }
  }

  private skipBinary(): void {
    const length = this.varint();
    this.position += length;
  }

  private skipList(): void {
    const header = this.byte();
    const count = header >> 4 === 15 ? this.varint() : header >> 4;
    if (count > this.bytes.length) throw new RangeError('a list is too long');
    for (let index = 0; index < count; index++) this.skip(header & 15);
  }
}
