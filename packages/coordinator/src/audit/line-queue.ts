/** Several lines that are written together. */
export interface Batch {
  readonly bytes: Buffer;
  readonly lineCount: number;
  /** Up to where it was written. */
  offset: number;
}

/** So much is written at once, where one line is not longer. */
const batchBytes = 1024 * 1024;
const lineFeed = 0x0a;

/** Lines that wait, first in first out, bounded in bytes; a batch counts until it was written. */
export class LineQueue {
  readonly #maxBytes: number;
  #lines: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  get isHalfFull(): boolean {
    return this.#bytes > this.#maxBytes / 2;
  }

  /** False when there is no room within this share of the bound. One line has room always, however long it is. */
  add(line: Buffer, share: number): boolean {
    if (this.#bytes > 0 && this.#bytes + line.length > this.#maxBytes * share) return false;
    this.#lines.push(line);
    this.#bytes += line.length;
    return true;
  }

  take(): Batch | undefined {
    let count = 0;
    let bytes = 0;
    for (const line of this.#lines) {
      if (count > 0 && bytes + line.length > batchBytes) break;
      count += 1;
      bytes += line.length;
    }
    if (count === 0) return undefined;
    return { bytes: Buffer.concat(this.#lines.splice(0, count)), lineCount: count, offset: 0 };
  }

  written({ bytes }: Batch): void {
    this.#bytes -= bytes.length;
  }

  /** Gives all up; answers how many lines there were. */
  clear(): number {
    const count = this.#lines.length;
    this.#lines = [];
    return count;
  }
}

/** The line that was written in part: where it begins and ends. Undefined when the last one was written whole. */
export function tornLine({
  bytes,
  offset,
}: Batch): { readonly start: number; readonly end: number } | undefined {
  if (offset === 0 || offset === bytes.length || bytes[offset - 1] === lineFeed) return undefined;
  return { start: bytes.lastIndexOf(lineFeed, offset - 1) + 1, end: bytes.indexOf(lineFeed, offset) + 1 };
}
