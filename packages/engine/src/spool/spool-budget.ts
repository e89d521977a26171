/** Bytes that spool files may take: all together, and each one. A reservation is made before the bytes are written. */
export class SpoolBudget {
  readonly perResultBytes: number;
  readonly #totalBytes: number;
  #usedBytes = 0;

  constructor(totalBytes: number, perResultBytes: number) {
    this.#totalBytes = totalBytes;
    this.perResultBytes = perResultBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** False, and nothing reserved, when the bytes do not fit. */
  tryReserve(byteLength: number, alreadyInResult: number): boolean {
    if (alreadyInResult + byteLength > this.perResultBytes) return false;
    if (this.#usedBytes + byteLength > this.#totalBytes) return false;
    this.#usedBytes += byteLength;
    return true;
  }

  release(byteLength: number): void {
    this.#usedBytes -= byteLength;
  }
}
