import { linkAbort, QueryError } from '@svc/base';
import type { ByteBudget } from '../storage/byte-budget.js';
import type { Fetch } from '../storage/copy-plan.js';

/** Reads `[start, end)` of something; a short answer is an error of its own. */
export type RangeReader = (start: number, end: number, signal: AbortSignal) => Promise<Uint8Array>;

export interface OrderedFetchOptions {
  readonly budget: ByteBudget;
  readonly maxConcurrent: number;
  readonly signal?: AbortSignal | undefined;
}

interface Running {
  readonly fetch: Fetch<RangeReader>;
  readonly bytes: Promise<Uint8Array>;
}

/**
 * Reads ahead in parallel and answers in order. Only the first read waits for its share of the budget, further ones
 * start while there is room, so that many readers on one budget never block each other. Ending early aborts the
 * reads under way.
 */
export async function* fetchInOrder(
  fetches: readonly Fetch<RangeReader>[],
  options: OrderedFetchOptions,
): AsyncGenerator<{ readonly fetch: Fetch<RangeReader>; readonly bytes: Uint8Array }> {
  const { budget, maxConcurrent } = options;
  using abort = linkAbort(options.signal);
  const running: Running[] = [];
  let next = 0;

  const start = (fetch: Fetch<RangeReader>): void => {
    const bytes = fetch.source(fetch.start, fetch.end, abort.signal);
    bytes.catch(() => undefined); // Reported when its turn comes; until then it is not unhandled.
    running.push({ fetch, bytes });
    next += 1;
  };

  try {
    while (next < fetches.length || running.length > 0) {
      const head = fetches[next];
      if (running.length === 0 && head !== undefined) {
        await budget.acquire(lengthOf(head), abort.signal);
        start(head);
      }
      for (
        let ahead = fetches[next];
        ahead !== undefined && running.length < maxConcurrent;
        ahead = fetches[next]
      ) {
        if (!budget.tryAcquire(lengthOf(ahead))) break;
        start(ahead);
      }
      const first = running[0];
      if (first === undefined) break;
      const bytes = await first.bytes;
      yield { fetch: first.fetch, bytes };
      running.shift();
      budget.release(lengthOf(first.fetch));
    }
  } finally {
    abort.abort(new QueryError('CANCELLED', 'The read was no longer needed.'));
    await Promise.allSettled(running.map(({ bytes }) => bytes));
    for (const { fetch } of running) budget.release(lengthOf(fetch));
  }
}

function lengthOf(fetch: Fetch<RangeReader>): number {
  return fetch.end - fetch.start;
}
