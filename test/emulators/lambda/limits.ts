/** The quotas of Lambda that are about time. */

export interface RampOptions {
  /** Invocations at a time. */
  readonly maxConcurrency: number;
  /** Sandboxes that may be started at once, and again in every ten seconds. */
  readonly startsPerTenSeconds: number;
}

/** How many sandboxes may be started now. */
export class Ramp {
  readonly #perTenSeconds: number;
  #available: number;
  #lastMs = performance.now();

  constructor({ startsPerTenSeconds }: RampOptions) {
    this.#perTenSeconds = startsPerTenSeconds;
    this.#available = startsPerTenSeconds;
  }

  take(): boolean {
    const nowMs = performance.now();
    this.#available = Math.min(
      this.#perTenSeconds,
      this.#available + ((nowMs - this.#lastMs) / 10_000) * this.#perTenSeconds,
    );
    this.#lastMs = nowMs;
    if (this.#available < 1) return false;
    this.#available -= 1;
    return true;
  }
}

export interface PaceOptions {
  readonly burstBytes: number;
  readonly bytesPerSecond: number;
  readonly maxBytes: number;
}

/** How long to wait before the next bytes of an answer may go; undefined once it is too long. */
export class Pace {
  readonly #options: PaceOptions;
  #bytes = 0;
  #slowSinceMs: number | undefined;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  waitFor(bytes: number): number | undefined {
    const { burstBytes, bytesPerSecond, maxBytes } = this.#options;
    this.#bytes += bytes;
    if (this.#bytes > maxBytes) return undefined;
    const slowBytes = this.#bytes - burstBytes;
    if (slowBytes <= 0) return 0;
    this.#slowSinceMs ??= performance.now();
    const dueMs = this.#slowSinceMs + (slowBytes / bytesPerSecond) * 1000;
    return Math.max(0, dueMs - performance.now());
  }
}
