import { linkAbort, QueryError } from '@svc/base';

/**
 * Binding and optimising take milliseconds, but constants are computed then, and an expression over them can be made to
 * take for ever: it must not keep a host of the lane that everybody's planning needs.
 */
const maxBindingMs = 30_000;

/** For what an engine is asked to plan. */
export function linkBindingTime(signal: AbortSignal): ReturnType<typeof linkAbort> {
  return linkAbort(signal, maxBindingMs, bindingTooLong);
}

function bindingTooLong(): QueryError {
  return new QueryError(
    'QUERY_TIMEOUT',
    `The statement could not be planned within ${maxBindingMs / 1000} s: it has constant expressions that take too long to compute.`,
  );
}
