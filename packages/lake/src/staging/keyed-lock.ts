import { abortable } from '@svc/base';

/**
 * One caller at a time per key; the others wait in line and then look again at what the first one left behind. When
 * the first one is cancelled the next simply does the work, so nobody depends on another's query.
 */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>();

  /** Throws the signal's reason when it aborts while waiting. */
  async run<T>(key: string, signal: AbortSignal | undefined, body: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const tail = before === undefined ? gate : before.then(() => gate);
    this.#tails.set(key, tail);
    try {
      if (before !== undefined) await abortable(before, signal);
      return await body();
    } finally {
      open();
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}
