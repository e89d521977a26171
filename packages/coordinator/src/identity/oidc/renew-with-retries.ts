import { abortable, delay, QueryError } from '@svc/base';

const maxAttempts = 4;
const firstDelayMs = 250;
/** No attempt begins later than this after the first. */
const patienceMs = 4000;

export interface RetryClock {
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

/**
 * Tries again what the provider could not do for the moment, a few times within a few seconds. The delays double and are
 * spread over their whole length, so that sessions that failed together do not come back together.
 */
export async function renewWithRetries<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  { elapsed, random }: RetryClock,
): Promise<T> {
  const startedAt = elapsed();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await abortable(work(), signal);
    } catch (error) {
      const delayMs = firstDelayMs * 2 ** (attempt - 1) * (0.5 + random());
      const isLate = elapsed() - startedAt + delayMs > patienceMs;
      if (signal.aborted || attempt === maxAttempts || isLate || !isTransient(error)) throw error;
      await delay(delayMs, signal);
    }
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'IDENTITY_PROVIDER_UNAVAILABLE' && error.retryable;
}
