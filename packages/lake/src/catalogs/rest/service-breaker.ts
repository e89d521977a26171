import { QueryError } from '@svc/base';
import { BrokenCircuitError, ConsecutiveBreaker, circuitBreaker, handleWhen } from 'cockatiel';
import { catalogError } from './rest-errors.js';
import { UnknownOutcome } from './rest-service.js';

/** Keeps requests from a service that does not answer, so that statements fail at once and not after their retries. */
export interface ServiceBreaker {
  run<T>(body: () => Promise<T>): Promise<T>;
}

const failuresToOpen = 5;
const openMs = 10_000;

export function createServiceBreaker(): ServiceBreaker {
  const policy = circuitBreaker(handleWhen(isOutage), {
    halfOpenAfter: openMs,
    breaker: new ConsecutiveBreaker(failuresToOpen),
  });
  return {
    async run(body) {
      try {
        return await policy.execute(body);
      } catch (error) {
        if (error instanceof BrokenCircuitError)
          throw catalogError(
            `did not answer ${failuresToOpen} times in a row, and is left alone for a moment`,
          );
        throw error;
      }
    },
  };
}

/** What a healthy service would not do; an answer that somebody is not allowed something is none. */
function isOutage(error: unknown): boolean {
  if (error instanceof UnknownOutcome) return true;
  return error instanceof QueryError && error.code === 'CATALOG_ERROR' && error.retryable;
}
