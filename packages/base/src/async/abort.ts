import { QueryError } from '../errors/query-error.js';

/** Throws the reason of an aborted signal as a QueryError (CANCELLED unless the reason says otherwise). */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw QueryError.from(abortReason(signal));
}

function abortReason(signal: AbortSignal): unknown {
  return signal.reason ?? new DOMException('Aborted', 'AbortError');
}

/** Rejects with the signal's reason once it aborts, otherwise settles as `promise`. Its listener is always removed. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  throwIfAborted(signal);
  let onAbort: (() => void) | undefined;
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_resolve, reject) => {
        onAbort = () => reject(QueryError.from(abortReason(signal)));
        signal.addEventListener('abort', onAbort, { once: true });
      }),
    ]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}

/** Waits `ms`, or rejects with the signal's reason. The timer never outlives the call. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await abortable(
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
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

/** `deadlineMs` is a duration. Durations above 24.8 days are clamped: setTimeout would fire at once. */
export function linkAbort(
  parent?: AbortSignal,
  deadlineMs?: number,
  deadlineError?: () => QueryError,
): LinkedAbort {
  const controller = new AbortController();
  const onParent = () => controller.abort(parent?.reason);
  if (parent?.aborted) onParent();
  else parent?.addEventListener('abort', onParent, { once: true });
  const timer =
    deadlineMs === undefined
      ? undefined
      : setTimeout(
          () =>
            controller.abort(
              deadlineError?.() ?? new QueryError('QUERY_TIMEOUT', 'The deadline of the call has passed.'),
            ),
          Math.min(Math.max(deadlineMs, 0), 2 ** 31 - 1),
        );
  timer?.unref();
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]() {
      clearTimeout(timer);
      parent?.removeEventListener('abort', onParent);
    },
  };
}
