import type { QueryError } from '../errors/query-error.js';
import type { BreakerState } from '../metrics/labels.js';

/**
 * Spares a service that does not answer, and its callers the wait. Closed: work runs; after `failuresToOpen` failures
 * in a row it opens. Open: work is refused at once, for `openMs`. Half open: one piece of work tries, and everything
 * else is refused until it has ended; its end closes the breaker or opens it again. Times are of a clock that no one
 * sets, so that a step of the machine's clock keeps nobody out.
 */
export interface CircuitBreaker {
  readonly state: BreakerState;
  /** Throws `refusal` without calling `work` while open. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export interface CircuitBreakerOptions {
  readonly failuresToOpen: number;
  readonly openMs: number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** What callers are told while it is open. */
  readonly refusal: () => QueryError;
  /**
   * Whether what the work threw says that the service does not answer; undefined: it says nothing of the service, as when
   * the caller went away. Without it, everything is a failure.
   */
  readonly isFailure?: (error: unknown) => boolean | undefined;
}

export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  let failures = 0;
  let openUntil: number | undefined;
  let isTrying = false;

  const stateNow = (): BreakerState => {
    if (openUntil === undefined) return 'closed';
    return isTrying || options.elapsed() >= openUntil ? 'half_open' : 'open';
  };

  const succeed = (isTrial: boolean) => {
    // What began before the breaker opened says nothing about now.
    if (openUntil !== undefined && !isTrial) return;
    failures = 0;
    openUntil = undefined;
  };

  const fail = (isTrial: boolean) => {
    failures += 1;
    const opens = openUntil === undefined ? failures >= options.failuresToOpen : isTrial;
    if (opens) openUntil = options.elapsed() + options.openMs;
  };

  return {
    get state() {
      return stateNow();
    },
    async run(work) {
      const state = stateNow();
      if (state === 'open' || isTrying) throw options.refusal();
      const isTrial = state === 'half_open';
      isTrying = isTrial;
      try {
        const result = await work();
        succeed(isTrial);
        return result;
      } catch (error) {
        const isFailure = options.isFailure === undefined || options.isFailure(error);
        if (isFailure === true) fail(isTrial);
        else if (isFailure === false) succeed(isTrial);
        throw error;
      } finally {
        if (isTrial) isTrying = false;
      }
    },
  };
}
