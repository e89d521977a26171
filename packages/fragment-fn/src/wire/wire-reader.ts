const maxDepth = 400;

/** What is wrong with bytes, and where in them. Whoever decodes makes of it the error of what was sent. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

export interface WireReaderOptions {
  /** Fields that are not known are passed over: whoever wrote them is newer. */
  readonly skipsUnknown: boolean;
}

/** Reads bytes that somebody else wrote. A value is always all of a slice, and what is read never lies outside of it. */
export class WireReader {
  readonly skipsUnknown: boolean;
  readonly #bytes: Buffer;
  #position = 0;
  #end: number;
  #depth = 0;
  readonly #path: (string | number)[] = [];

  constructor(bytes: Uint8Array, { skipsUnknown }: WireReaderOptions) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.byteLength;
    this.skipsUnknown = skipsUnknown;
  }

  get remaining(): number {
    return this.#end - this.#position;
  }

  byte(): number {
    const value = this.remaining > 0 ? this.#bytes[this.#position] : undefined;
    if (value === undefined) this.fail('is cut short');
    this.#position += 1;
    return value;
  }

  uint(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 53; scale *= 0x80) {
      const next = this.byte();
      value += (next & 0x7f) * scale;
      if (next >= 0x80) continue;
      // One number has one form.
      if (!Number.isSafeInteger(value) || (next === 0 && scale > 1)) break;
      return value;
    }
    this.fail('is no count');
  }

  double(): number {
    return this.#take(8).readDoubleLE();
  }

  /** All that is left of the slice. */
  rest(): Uint8Array {
    return this.#take(this.remaining);
  }

  text(): string {
    try {
      return decoder.decode(this.rest());
    } catch {
      this.fail('is no text');
    }
  }

  /** What `sized` of the writer wrote: `read` is to read all of it. `name` is for messages. */
  sized<T>(name: string | number, read: () => T): T {
    const length = this.uint();
    if (length > this.remaining) this.fail('is cut short');
    const outer = this.#end;
    this.#end = this.#position + length;
    this.#depth += 1;
    this.#path.push(name);
    if (this.#depth > maxDepth) this.fail('is nested too deeply');
    const value = read();
    if (this.remaining > 0) this.fail('has bytes left over');
    this.#path.pop();
    this.#depth -= 1;
    this.#end = outer;
    return value;
  }

  skip(): void {
    this.#take(this.uint());
  }

  fail(problem: string): never {
    const place = this.#path.map((name) => (typeof name === 'number' ? `[${name}]` : `.${name}`)).join('');
    throw new WireError(`${place === '' ? 'it' : place.replace(/^\./, '')} ${problem}`);
  }

  #take(length: number): Buffer {
    if (length > this.remaining) this.fail('is cut short');
    this.#position += length;
    return this.#bytes.subarray(this.#position - length, this.#position);
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
