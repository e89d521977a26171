import { QueryError } from '@svc/base';

const firstCapacity = 4096;

/** Bytes that grow, up to a limit. */
export class WireWriter {
  #bytes = Buffer.allocUnsafeSlow(firstCapacity);
  #length = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** Seven bits in each byte, the lowest first. */
  uint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new QueryError('INTERNAL_ERROR', `${value} of a fragment is no count.`);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.byte((rest % 0x80) | 0x80);
    this.byte(rest);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  text(value: string): void {
    this.#reserve(Buffer.byteLength(value, 'utf8'));
    this.#length += this.#bytes.write(value, this.#length, 'utf8');
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.byteLength);
    this.#bytes.set(value, this.#length);
    this.#length += value.byteLength;
  }

  /** What `write` writes, behind its length. */
  sized(write: () => void): void {
    const start = this.#length;
    this.byte(0);
    write();
    const length = this.#length - start - 1;
    const prefix = lengthPrefix(length);
    if (prefix.length > 1) {
      this.#reserve(prefix.length - 1);
      this.#bytes.copyWithin(start + prefix.length, start + 1, this.#length);
      this.#length += prefix.length - 1;
    }
    this.#bytes.set(prefix, start);
  }

  /** A copy: nothing that was written stays in memory that others are given. */
  finish(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#length));
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed > this.#maxBytes)
      throw new QueryError(
        'NOT_SUPPORTED',
        `The fragment is larger than the ${this.#maxBytes} bytes that may travel.`,
      );
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

function lengthPrefix(length: number): readonly number[] {
  const prefix: number[] = [];
  let rest = length;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) prefix.push((rest % 0x80) | 0x80);
  return [...prefix, rest];
}
