import { linkAbort, QueryError } from '@svc/base';
import { type BufferPool, pooledSize } from '../storage/buffer-pool.js';
import type { ByteBudget } from '../storage/byte-budget.js';
import type { Fetch } from '../storage/copy-plan.js';

/** Reads as many bytes as `into` holds, from `start` on; too few are an error of its own. Once it has answered, nothing is written there. */
export type RangeReader = (into: Uint8Array, start: number, signal: AbortSignal) => Promise<void>;

export interface OrderedFetchOptions {
  readonly budget: ByteBudget;
  readonly buffers: BufferPool;
  readonly maxConcurrent: number;
  readonly signal?: AbortSignal | undefined;
}

interface Running {
  readonly fetch: Fetch<RangeReader>;
  readonly into: Uint8Array<ArrayBuffer>;
  readonly reading: Promise<void>;
}

/**
 * Reads ahead in parallel and answers in order. Only the first read waits for its share of the budget, further ones
 * start while there is room, so that many readers on one budget never block each other. Ending early aborts the
 * reads under way. The bytes are the caller's until it asks for the next ones.
 */
export async function* fetchInOrder(
  fetches: readonly Fetch<RangeReader>[],
  options: OrderedFetchOptions,
): AsyncGenerator<{ readonly fetch: Fetch<RangeReader>; readonly bytes: Uint8Array }> {
  const { budget, buffers, maxConcurrent } = options;
  using abort = linkAbort(options.signal);
  const running: Running[] = [];
  let next = 0;

  const start = (fetch: Fetch<RangeReader>): void => {
    const into = buffers.take(fetch.end - fetch.start);
    const reading = fetch.source(into, fetch.start, abort.signal);
    reading.catch(() => undefined); // Reported when its turn comes; until then it is not unhandled.
    running.push({ fetch, into, reading });
    next += 1;
  };

  try {
    while (next < fetches.length || running.length > 0) {
      const head = fetches[next];
      if (running.length === 0 && head !== undefined) {
        await budget.acquire(bytesOf(head), abort.signal);
        start(head);
      }
      for (
        let ahead = fetches[next];
        ahead !== undefined && running.length < maxConcurrent;
        ahead = fetches[next]
      ) {
        if (!budget.tryAcquire(bytesOf(ahead))) break;
        start(ahead);
      }
      const first = running[0];
      if (first === undefined) break;
      await first.reading;
      yield { fetch: first.fetch, bytes: first.into };
      running.shift();
      buffers.giveBack(first.into);
      budget.release(bytesOf(first.fetch));
    }
  } finally {
    abort.abort(new QueryError('CANCELLED', 'The read was no longer needed.'));
    await Promise.allSettled(running.map(({ reading }) => reading));
    for (const { fetch } of running) budget.release(bytesOf(fetch));
  }
}

function bytesOf(fetch: Fetch<RangeReader>): number {
  return pooledSize(fetch.end - fetch.start);
}
