import { QueryError } from '@svc/base';
import type { EngineMessage } from '@svc/engine';
import { type FragmentLimits, resultTooLarge } from '@svc/fragment-fn';

/** Passes messages on within the limit of a result; `onEnd` is called once, before the end is told. */
export function resultMessages(
  source: AsyncIterable<EngineMessage>,
  limits: FragmentLimits,
  onEnd: (how: 'complete' | 'early') => Promise<void>,
): AsyncIterable<EngineMessage> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = source[Symbol.asyncIterator]();
      let bytes = 0;
      let ending: Promise<void> | undefined;
      const end = (how: 'complete' | 'early') => {
        ending ??= onEnd(how);
        return ending;
      };
      return {
        async next() {
          try {
            const next = await iterator.next();
            if (next.done === true) {
              await end('complete');
              return next;
            }
            bytes += next.value.body.byteLength;
            if (bytes <= limits.resultBytes) return next;
            next.value.release();
            throw resultTooLarge(limits);
          } catch (caught) {
            await iterator.return?.();
            await end('early');
            throw QueryError.from(caught);
          }
        },
        async return() {
          try {
            await iterator.return?.();
          } finally {
            await end('early');
          }
          return { done: true, value: undefined };
        },
      };
    },
  };
}
