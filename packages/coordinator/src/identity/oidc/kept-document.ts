/** Something loaded from the provider that is used again, and goes on being used while the provider is down. */
export interface KeptDocument<T> {
  /** What is kept while it is fresh; else it is loaded anew, and when that fails, what is kept serves on. */
  get(): Promise<T>;
  /** Loads anew, unless that was tried within the last `cooldownMs`: then what is kept has to do. */
  renewed(cooldownMs: number): Promise<T>;
}

export interface KeptDocumentOptions<T> {
  readonly load: () => Promise<T>;
  /** Up to this age it is not asked for again. */
  readonly freshMs: number;
  /** Up to this age it is used when it cannot be loaded anew. */
  readonly keptMs: number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
}

/** How long after a failure nobody tries again: with nothing to use meanwhile, and with something. */
const retryMs = { withNothing: 1000, withOld: 30_000 } as const;

/** Nothing is loaded before it is asked for; whoever asks at the same time waits for the same load. */
export function createKeptDocument<T>(options: KeptDocumentOptions<T>): KeptDocument<T> {
  const { elapsed } = options;
  let kept: { readonly value: T; readonly loadedAt: number } | undefined;
  let failure: { readonly error: unknown } | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<T> | undefined;

  const keptWithin = (ms: number) =>
    kept !== undefined && elapsed() - kept.loadedAt < ms ? kept : undefined;

  async function tryLoad(): Promise<T> {
    triedAt = elapsed();
    try {
      const value = await options.load();
      kept = { value, loadedAt: elapsed() };
      failure = undefined;
      return value;
    } catch (error) {
      failure = { error };
      throw error;
    } finally {
      pending = undefined;
    }
  }

  /** A failure a moment ago is answered again: a flood of callers must not become one of requests. */
  async function load(cooldownMs: number): Promise<T> {
    const old = keptWithin(options.keptMs);
    if (pending === undefined && elapsed() - triedAt < cooldownMs) {
      if (old !== undefined) return old.value;
      if (failure !== undefined) throw failure.error;
    }
    pending ??= tryLoad();
    try {
      return await pending;
    } catch (error) {
      if (old !== undefined) return old.value;
      throw error;
    }
  }

  return {
    async get() {
      const fresh = keptWithin(options.freshMs);
      if (fresh !== undefined) return fresh.value;
      const hasOld = keptWithin(options.keptMs) !== undefined;
      return await load(failure === undefined ? 0 : hasOld ? retryMs.withOld : retryMs.withNothing);
    },
    renewed: load,
  };
}
