const delayMs = 1;

/**
 * Work that nobody waits for, done in a moment: by then the answer that called for it is on its way. `flush` does at
 * once what is left, so that the end of the process loses none of it.
 */
export class DeferredWork {
  #queue: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  add(work: () => void): void {
    this.#queue.push(work);
    this.#timer ??= setTimeout(() => this.flush(), delayMs);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const queue = this.#queue;
    this.#queue = [];
    for (const work of queue) work();
  }
}
