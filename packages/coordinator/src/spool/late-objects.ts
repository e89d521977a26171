/**
 * What comes into the spool behind its removal: a function that is not listened to any more runs on, since Lambda does not end
 * it with its call, and storage may end a put that was cut. It is removed again and again, ever more seldom, until nothing
 * more can come; what a coordinator that dies leaves goes by the bucket's own rule.
 */
import { delay } from '@svc/base';

const firstPauseMs = 1000;

export class LateObjects {
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();

  /** `remove`: of all that may be there; never throws. Called first after a pause, and last when `untilMs` have passed. */
  watch(remove: () => Promise<void>, untilMs: number): void {
    const running = this.#watch(remove, untilMs).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Removes once more what may be there. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  async #watch(remove: () => Promise<void>, untilMs: number): Promise<void> {
    const { signal } = this.#stop;
    const startedMs = performance.now();
    for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
      const leftMs = untilMs - (performance.now() - startedMs);
      await delay(Math.min(pauseMs, Math.max(0, leftMs)), signal).catch(() => undefined);
      await remove();
      if (leftMs <= pauseMs || signal.aborted) return;
    }
  }
}
