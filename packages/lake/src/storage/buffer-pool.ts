/** So long after the last use the buffers that nobody uses are given up. */
const keepMs = 5000;

/**
 * Buffers of a few sizes, used again: each one that is made counts towards the garbage collector's next full run, which costs
 * more than the reading of what goes into it (a cold run of TPC-H had 39 of them).
 */
export class BufferPool {
  readonly #maxFreeBytes: number;
  readonly #free = new Map<number, ArrayBuffer[]>();
  #freeBytes = 0;
  #giveUp: NodeJS.Timeout | undefined;

  /** `maxFreeBytes`: what is kept, for a few seconds, of buffers that nobody uses. */
  constructor(maxFreeBytes: number) {
    this.#maxFreeBytes = maxFreeBytes;
  }

  /** Of exactly that length; what is in it is anything. It is the caller's, who may give it back. */
  take(length: number): Uint8Array<ArrayBuffer> {
    const size = pooledSize(length);
    const found = this.#free.get(size)?.pop();
    if (found !== undefined) this.#freeBytes -= size;
    return new Uint8Array(found ?? new ArrayBuffer(size), 0, length);
  }

  /** Only once, and only when nobody reads or writes it any more. */
  giveBack({ buffer }: Uint8Array<ArrayBuffer>): void {
    const size = buffer.byteLength;
    if (this.#freeBytes + size > this.#maxFreeBytes) return;
    this.#freeBytes += size;
    const free = this.#free.get(size) ?? [];
    this.#free.set(size, free);
    free.push(buffer);
    this.#giveUp ??= setTimeout(() => this.#empty(), keepMs).unref();
    this.#giveUp.refresh();
  }

  #empty(): void {
    this.#free.clear();
    this.#freeBytes = 0;
    this.#giveUp = undefined;
  }
}

/** Bytes that a buffer of a length takes. */
export function pooledSize(length: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(length, 1)));
}
