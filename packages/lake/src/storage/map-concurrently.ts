import { throwIfAborted } from '@svc/base';

export interface ConcurrencyOptions {
  readonly maxConcurrent: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `run` over all items, at most `maxConcurrent` at a time, and answers in the order of the items. After the first
 * failure or an abort nothing further is started, what runs is waited for, and the first error is thrown.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  options: ConcurrencyOptions,
  run: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const pending = items.entries();
  let failure: { readonly error: unknown } | undefined;
  const lane = async (): Promise<void> => {
    for (const [index, item] of pending) {
      if (failure !== undefined) return;
      try {
        throwIfAborted(options.signal);
        results[index] = await run(item, index);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.maxConcurrent, items.length) }, lane));
  if (failure !== undefined) throw failure.error;
  throwIfAborted(options.signal);
  return results;
}
