import { abortable } from '@svc/base';

/**
 * Bytes that may be held in memory at a time by all who share the budget. Whoever waits is served in order; a request
 * above the whole budget gets it when nobody else holds anything.
 */
export class ByteBudget {
  readonly #capacity: number;
  readonly #waiting: { readonly bytes: number; readonly grant: () => void }[] = [];
  #used = 0;

  constructor(capacityBytes: number) {
    this.#capacity = capacityBytes;
  }

  /** Takes bytes when they are free and nobody waits. */
  tryAcquire(bytes: number): boolean {
    if (this.#waiting.length > 0 || !this.#fits(bytes)) return false;
    this.#used += bytes;
    return true;
  }

  async acquire(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.tryAcquire(bytes)) return;
    let grant = (): void => undefined;
    const granted = new Promise<void>((resolve) => {
      grant = resolve;
    });
    const request = { bytes, grant };
    this.#waiting.push(request);
    try {
      await abortable(granted, signal);
    } catch (error) {
      const place = this.#waiting.indexOf(request);
      if (place >= 0) this.#waiting.splice(place, 1);
      else this.#used -= bytes; // Granted in the same moment as aborted.
      this.#serve();
      throw error;
    }
  }

  release(bytes: number): void {
    this.#used -= bytes;
    this.#serve();
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#capacity;
  }

  #serve(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#used += next.bytes;
      next.grant();
    }
  }
}
