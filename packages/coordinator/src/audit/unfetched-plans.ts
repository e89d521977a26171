/** Statements that were planned and not run yet, and what to do about those whose run does not come. */
export interface UnfetchedPlansOptions<T> {
  /** How long a run may take to follow its plan. */
  readonly graceMs: number;
  /** Of all together; above it the oldest count as not fetched, but never the only one. */
  readonly maxBytes: number;
  readonly bytesOf: (plan: T) => number;
  readonly notFetched: (plan: T) => void;
}

export class UnfetchedPlans<T> {
  readonly #options: UnfetchedPlansOptions<T>;
  /** Oldest first. */
  readonly #plans = new Map<string, { readonly plan: T; readonly bytes: number; readonly sinceMs: number }>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UnfetchedPlansOptions<T>) {
    this.#options = options;
  }

  planned(queryId: string, plan: T): void {
    const bytes = this.#options.bytesOf(plan);
    this.#plans.set(queryId, { plan, bytes, sinceMs: performance.now() });
    this.#bytes += bytes;
    while (this.#bytes > this.#options.maxBytes && this.#plans.size > 1) this.#giveUpOldest();
    this.#timer ??= setTimeout(() => this.#sweep(), this.#options.graceMs).unref();
  }

  /** The plan runs. */
  fetched(queryId: string): void {
    const entry = this.#plans.get(queryId);
    if (entry === undefined) return;
    this.#plans.delete(queryId);
    this.#bytes -= entry.bytes;
  }

  /** None of them is waited for any longer. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#plans.size > 0) this.#giveUpOldest();
  }

  #sweep(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const { sinceMs } of [...this.#plans.values()]) {
      // A timer may fire a little early.
      const leftMs = sinceMs + this.#options.graceMs - now;
      if (leftMs > 1) {
        this.#timer = setTimeout(() => this.#sweep(), leftMs).unref();
        return;
      }
      this.#giveUpOldest();
    }
  }

  #giveUpOldest(): void {
    const [first] = this.#plans;
    if (first === undefined) return;
    const [queryId, { plan }] = first;
    this.fetched(queryId);
    this.#options.notFetched(plan);
  }
}
