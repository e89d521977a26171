import { setMaxListeners } from 'node:events';
import { QueryError } from '../errors/query-error.js';

/** The longest delay a timer of Node can hold; a longer one would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** Throws the reason of an aborted signal as a QueryError: its own if it is one, QUERY_TIMEOUT, else CANCELLED. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

/** Whatever a signal was aborted with, somebody wanted the work to end: never an internal error. */
function abortError(signal: AbortSignal): QueryError {
  const reason: unknown = signal.reason;
  const error = QueryError.from(reason);
  return error.code === 'INTERNAL_ERROR' && !(reason instanceof QueryError)
    ? new QueryError('CANCELLED', 'The query was cancelled.', { cause: reason })
    : error;
}

/**
 * Rejects with the signal's reason once it aborts, otherwise settles as `promise`. Its listener is always removed. The
 * work behind `promise` goes on; if that fails later, the failure is dropped: nobody waits for it any more.
 */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  allowManyListeners(signal);
  let onAbort: (() => void) | undefined;
  try {
    return await Promise.race([
      new Promise<never>((_resolve, reject) => {
        onAbort = () => reject(abortError(signal));
        if (signal.aborted) onAbort();
        else signal.addEventListener('abort', onAbort, { once: true });
      }),
      promise,
    ]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}

/** Signals that may have many listeners already: asking again costs more than looking here. */
const signalsOfMany = new WeakSet<AbortSignal>();

/** Node warns of a leak at the eleventh listener of a signal; the parallel reads of one query are more than that. */
function allowManyListeners(signal: AbortSignal): void {
  if (signalsOfMany.has(signal)) return;
  setMaxListeners(0, signal);
  signalsOfMany.add(signal);
}

/** Waits `ms`, or rejects with the signal's reason. The timer never outlives the call. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await abortable(
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, Math.min(ms, maxTimerMs));
      }),
      signal,
    );
  } finally {
    clearTimeout(timer);
  }
}

/** An abort controller that follows a parent signal and, optionally, a deadline; dispose removes both. */
export interface LinkedAbort extends Disposable {
  readonly signal: AbortSignal;
  abort(reason: QueryError): void;
}

/**
 * Follows one or several signals, whichever aborts first. `deadlineMs` is a duration; one above 24.8 days, a timer's
 * limit, is cut to that. The timer does not keep the process alive. `deadlineError` is the reason once the deadline
 * passes, by default QUERY_TIMEOUT. Unlike AbortSignal.any, disposing leaves nothing behind at a long-lived parent.
 */
export function linkAbort(
  parents?: AbortSignal | readonly AbortSignal[],
  deadlineMs?: number,
  deadlineError?: () => QueryError,
): LinkedAbort {
  const controller = new AbortController();
  const followed = parents === undefined ? [] : parents instanceof AbortSignal ? [parents] : parents;
  for (const signal of [controller.signal, ...followed]) allowManyListeners(signal);
  let timer: NodeJS.Timeout | undefined;
  const unlink = () => {
    clearTimeout(timer);
    for (const parent of followed) parent.removeEventListener('abort', onParent);
  };
  const abort = (reason: unknown) => {
    unlink();
    controller.abort(reason);
  };
  const onParent = () => abort(followed.find((parent) => parent.aborted)?.reason);
  const onDeadline = () =>
    abort(deadlineError?.() ?? new QueryError('QUERY_TIMEOUT', 'The deadline of the call has passed.'));

  if (followed.some((parent) => parent.aborted)) {
    onParent();
  } else {
    for (const parent of followed) parent.addEventListener('abort', onParent, { once: true });
    if (deadlineMs !== undefined) {
      timer = setTimeout(onDeadline, Math.min(Math.max(deadlineMs, 0), maxTimerMs));
      timer.unref();
    }
  }
  return { signal: controller.signal, abort, [Symbol.dispose]: unlink };
}
