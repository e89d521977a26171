/** Bytes that spool files may take: all together, and each one. A reservation is made before the bytes are written. */
export class SpoolBudget {
  readonly perResultBytes: number;
  readonly #totalBytes: number;
  readonly #used: { bytes: number };

  constructor(totalBytes: number, perResultBytes: number, used = { bytes: 0 }) {
    this.#totalBytes = totalBytes;
    this.perResultBytes = perResultBytes;
    this.#used = used;
  }

  /** The same budget in total, with another limit for each result. */
  withPerResult(bytes: number): SpoolBudget {
    return new SpoolBudget(this.#totalBytes, bytes, this.#used);
  }

  get usedBytes(): number {
    return this.#used.bytes;
  }

  /** False, and nothing reserved, when the bytes do not fit. */
  tryReserve(byteLength: number, alreadyInResult: number): boolean {
    if (alreadyInResult + byteLength > this.perResultBytes) return false;
    if (this.#used.bytes + byteLength > this.#totalBytes) return false;
    this.#used.bytes += byteLength;
    return true;
  }

  release(byteLength: number): void {
    this.#used.bytes -= byteLength;
  }
}
