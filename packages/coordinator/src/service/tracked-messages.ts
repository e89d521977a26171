import { QueryError } from '@svc/base';

export interface StreamObserver<T> {
  onMessage(message: T): void;
  /** Aborts when it is not the reader who ends the stream. */
  readonly failed?: AbortSignal;
  /**
   * Exactly once: undefined after the last message, an error otherwise. When the reader stopped early that is the reason
   * of `failed`, and CANCELLED when there is none.
   */
  onEnd(error: QueryError | undefined): void;
}

/**
 * Passes a stream on and reports how it went. An iterator and not a generator: `return()` must reach the source even
 * when nothing has been read yet.
 */
export function trackedMessages<T>(source: AsyncIterable<T>, observer: StreamObserver<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = source[Symbol.asyncIterator]();
      let isEnded = false;
      const end = (error: QueryError | undefined) => {
        if (isEnded) return;
        isEnded = true;
        observer.onEnd(error);
      };
      return {
        async next() {
          try {
            const next = await iterator.next();
            if (next.done) end(undefined);
            else observer.onMessage(next.value);
            return next;
          } catch (caught) {
            const error = QueryError.from(caught);
            end(error);
            throw error;
          }
        },
        async return() {
          try {
            await iterator.return?.();
          } finally {
            const { failed } = observer;
            end(
              failed?.aborted
                ? QueryError.from(failed.reason)
                : new QueryError('CANCELLED', 'The client stopped reading the result.'),
            );
          }
          return { done: true, value: undefined };
        },
      };
    },
  };
}
