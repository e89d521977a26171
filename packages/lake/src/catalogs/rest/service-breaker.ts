import { type CircuitBreaker, createCircuitBreaker, QueryError } from '@svc/base';
import { catalogError } from './rest-errors.js';
import { UnknownOutcome } from './unknown-outcome.js';

const failuresToOpen = 5;
const openMs = 10_000;
const callersOwnCodes: ReadonlySet<string> = new Set(['CANCELLED', 'QUERY_TIMEOUT']);

/** Keeps requests from a catalog that does not answer, so that statements fail at once and not after their retries. */
export function createServiceBreaker(): CircuitBreaker {
  return createCircuitBreaker({
    failuresToOpen,
    openMs,
    elapsed: () => performance.now(),
    refusal: () =>
      catalogError(`did not answer ${failuresToOpen} times in a row, and is left alone for a moment`),
    isFailure: isOutage,
  });
}

/**
 * The cause of an error that is about one request: the service works and answers others. So one table that it fails on, or
 * one user who asks too much, keeps it from nobody else.
 */
export class AnsweredProblem extends Error {}

/** Gateways say these of a service that they do not reach, and services of themselves. */
export function isOutageStatus(status: number): boolean {
  return status === 502 || status === 503 || status === 504;
}

/**
 * What a healthy service would not do; an answer that somebody is not allowed something is none. Who stops waiting has
 * heard nothing, be the service well or not.
 */
function isOutage(error: unknown): boolean | undefined {
  if (error instanceof UnknownOutcome) return true;
  if (error instanceof QueryError && callersOwnCodes.has(error.code)) return undefined;
  return (
    error instanceof QueryError &&
    error.code === 'CATALOG_ERROR' &&
    error.retryable &&
    !(error.cause instanceof AnsweredProblem)
  );
}
