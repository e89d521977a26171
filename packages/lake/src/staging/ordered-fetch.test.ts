import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { seededRandom } from '../parquet/fakes/memory-store.js';
import { BufferPool } from '../storage/buffer-pool.js';
import { ByteBudget } from '../storage/byte-budget.js';
import { type CopyStep, planFetches } from '../storage/copy-plan.js';
import { fetchInOrder, type RangeReader } from './ordered-fetch.js';

/** A source of bytes whose value is their position, answering out of order, with what is in memory counted. */
class Source {
  held = 0;
  mostHeld = 0;
  started = 0;
  failAt = Number.POSITIVE_INFINITY;
  readonly #random = seededRandom(3);

  readonly read: RangeReader = async (into, start, signal) => {
    this.started += 1;
    this.held += into.length;
    this.mostHeld = Math.max(this.mostHeld, this.held);
    for (let turn = Math.floor(this.#random() * 5); turn >= 0; turn--) await new Promise(setImmediate);
    if (signal.aborted) throw QueryError.from(signal.reason);
    if (start >= this.failAt) throw new QueryError('STORAGE_ERROR', 'f failed.');
    for (const index of into.keys()) into[index] = (start + index) % 251;
  };
}

const buffers = new BufferPool(1000);

const fetchesOf = (source: Source, count: number) =>
  planFetches([{ source: source.read, start: 0, end: count * 100 }], { maxFetchBytes: 100, maxGapBytes: 0 });

test('reads ahead within the budget and answers in order', async () => {
  const source = new Source();
  const budget = new ByteBudget(450);
  let position = 0;
  for await (const { bytes } of fetchInOrder(fetchesOf(source, 50), { budget, buffers, maxConcurrent: 8 })) {
    assert.equal(bytes[0], position % 251);
    position += bytes.length;
    source.held -= bytes.length;
  }
  assert.equal(position, 5000);
  assert.ok(source.mostHeld > 100 && source.mostHeld <= 500, `${source.mostHeld} bytes held`);
  assert.ok(budget.tryAcquire(450));
});

test('readers on one budget, each larger than it, all come to an end', async () => {
  const budget = new ByteBudget(150);
  const totals = await Promise.all(
    Array.from({ length: 5 }, async () => {
      let total = 0;
      for await (const { bytes } of fetchInOrder(fetchesOf(new Source(), 10), {
        budget,
        buffers,
        maxConcurrent: 4,
      }))
        total += bytes.length;
      return total;
    }),
  );
  assert.deepEqual(totals, Array(5).fill(1000));
  assert.ok(budget.tryAcquire(150));
});

test('ending early, an error and an abort give all of the budget back', async () => {
  const budget = new ByteBudget(300);
  for await (const _first of fetchInOrder(fetchesOf(new Source(), 20), { budget, buffers, maxConcurrent: 3 }))
    break;
  const failing = new Source();
  failing.failAt = 500;
  await assert.rejects(drain(failing), { code: 'STORAGE_ERROR' });
  const abort = new AbortController();
  abort.abort(new QueryError('CANCELLED', 'Enough.'));
  await assert.rejects(drain(new Source(), abort.signal), { code: 'CANCELLED' });
  assert.ok(budget.tryAcquire(300));

  async function drain(source: Source, signal?: AbortSignal): Promise<void> {
    for await (const _each of fetchInOrder(fetchesOf(source, 20), {
      budget,
      buffers,
      maxConcurrent: 3,
      signal,
    }));
  }
});

test('whoever stops waiting for the budget does not keep others from it', async () => {
  const budget = new ByteBudget(100);
  await budget.acquire(100, undefined);
  const abort = new AbortController();
  const impatient = budget.acquire(80, abort.signal);
  const patient = budget.acquire(50, undefined);
  abort.abort(new QueryError('CANCELLED', 'Enough.'));
  await assert.rejects(impatient, { code: 'CANCELLED' });
  budget.release(100);
  await patient;
  assert.equal(budget.tryAcquire(51), false);
  assert.ok(budget.tryAcquire(50));
});

test('joined and divided reads are exactly the steps, in order', () => {
  const random = seededRandom(11);
  for (let round = 0; round < 200; round++) {
    const steps: CopyStep<string>[] = Array.from({ length: 1 + Math.floor(random() * 12) }, () => {
      const start = Math.floor(random() * 1000);
      return { source: random() < 0.5 ? 'a' : 'b', start, end: start + Math.floor(random() * 120) };
    });
    const fetches = planFetches(steps, { maxFetchBytes: 64, maxGapBytes: 10 });
    const wanted = steps.flatMap(({ source, start, end }) =>
      Array.from({ length: end - start }, (_u, index) => `${source}${start + index}`),
    );
    const got = fetches.flatMap((fetch) =>
      fetch.slices.flatMap((slice) =>
        Array.from(
          { length: slice.end - slice.start },
          (_u, index) => `${fetch.source}${fetch.start + slice.start + index}`,
        ),
      ),
    );
    assert.deepEqual(got, wanted, `round ${round}`);
    assert.ok(fetches.every((fetch) => fetch.end - fetch.start <= 64));
  }
});
