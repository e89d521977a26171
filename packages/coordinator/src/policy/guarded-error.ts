/** Errors of statements that read tables whose rows are partly hidden: a message could quote values, or tell how much there is. */
import { type ErrorCode, QueryError } from '@svc/base';
import { withoutExcerpt } from '../planner/without-excerpt.js';

/** What these say does not depend on any row, or is about the caller. */
const tellNothing: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'AUDIT_UNAVAILABLE',
  'CANCELLED',
  'ENGINE_CRASHED',
  'NO_EXECUTOR',
  'PERMISSION_DENIED',
  'POLICY_CHECK_FAILED',
  'QUERY_TIMEOUT',
  'QUEUE_FULL',
  'QUEUE_TIMEOUT',
  'RESULT_SCHEMA_CHANGED',
  'RESULT_TOO_LARGE',
  'SESSION_EXPIRED',
  'SESSION_LOST',
  'SHUTTING_DOWN',
  'SLOW_CONSUMER',
]);

/** The same code without the text; the log of the service has no values of tables either, so the cause goes nowhere. */
export function guardedError(caught: unknown): QueryError {
  const error = QueryError.from(caught);
  if (tellNothing.has(error.code)) return error;
  const { code, retryable } = error;
  return new QueryError(
    code,
    code === 'EVALUATION_ERROR'
      ? 'An expression failed on a value. Which one is not said, for policies hide a part of what the statement reads.'
      : 'The statement failed. More is not said, for policies hide a part of what it reads.',
    { retryable },
  );
}

/** These come of machines and of what a client sent, and no expression makes the engine fail with them, whatever it says. */
const ofNoExpression: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'CATALOG_ERROR',
  'DISK_FULL',
  'INVALID_ARGUMENT',
  'OUT_OF_MEMORY',
  'STORAGE_ACCESS_DENIED',
  'STORAGE_ERROR',
]);

/**
 * Of a statement that adds rows to a table whose filters check them: what fails may be the check, and the engine would quote it, its
 * constants, or what it makes of a value. `readsRows`: it reads rows of other tables, of whose number nothing is to be told either.
 */
export function guardedWriteError(caught: unknown, table: string, readsRows: boolean): unknown {
  const error = QueryError.from(caught);
  if (tellNothing.has(error.code)) return error;
  if (readsRows) return guardedError(error);
  if (ofNoExpression.has(error.code)) return withoutExcerpt(error);
  const { code, retryable } = error;
  return new QueryError(
    code,
    code === 'EVALUATION_ERROR'
      ? `An expression failed on a row that was to be added to ${table}. Which one is not said, for policies check its rows.`
      : `The rows could not be added to ${table}. More is not said, for policies check its rows.`,
    { retryable },
  );
}

/** An iterator and not a generator: `return()` must reach the source even when nothing has been read yet. */
export function guardedMessages<T>(source: AsyncIterable<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = source[Symbol.asyncIterator]();
      return {
        next: () =>
          iterator.next().catch((error: unknown) => {
            throw guardedError(error);
          }),
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** Aborts as the source does; its reason is what may be told. */
export function guardedSignal(source: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(guardedError(source.reason));
  if (source.aborted) abort();
  else source.addEventListener('abort', abort, { once: true });
  return controller.signal;
}
