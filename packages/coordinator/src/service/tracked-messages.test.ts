import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { trackedMessages } from './tracked-messages.js';

describe('tracked messages', () => {
  it('pass on unchanged and end without an error', async () => {
    const { source, stream, ends, seen } = tracked([1, 2, 3]);
    assert.deepEqual(await readAll(stream), [1, 2, 3]);
    assert.deepEqual([seen, ends, source.returns], [[1, 2, 3], [undefined], 0]);
  });

  it('are pulled: nothing is read that nobody asked for', async () => {
    const { source, stream } = tracked([1, 2, 3]);
    const iterator = stream[Symbol.asyncIterator]();
    assert.equal(source.pulls, 0);
    await iterator.next();
    assert.equal(source.pulls, 1);
  });

  it('reach the source when the reader stops before the first one', async () => {
    const { source, stream, ends } = tracked([1, 2, 3]);
    await stream[Symbol.asyncIterator]().return?.();
    assert.deepEqual([source.pulls, source.returns, ends], [0, 1, ['CANCELLED']]);
  });

  it('reach the source when the reader stops in the middle', async () => {
    const { source, stream, ends } = tracked([1, 2, 3]);
    for await (const value of stream) if (value === 2) break;
    assert.deepEqual([source.pulls, source.returns, ends], [2, 1, ['CANCELLED']]);
  });

  it('end once when the reader stops after the end', async () => {
    const { stream, ends } = tracked([]);
    const iterator = stream[Symbol.asyncIterator]();
    assert.equal((await iterator.next()).done, true);
    await iterator.return?.();
    await iterator.return?.();
    assert.deepEqual(ends, [undefined]);
  });

  it('end with the error of the source, which the reader gets as well', async () => {
    const { stream, ends } = tracked([1], { failure: new RangeError('in the source') });
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    await assert.rejects(async () => await iterator.next(), { code: 'INTERNAL_ERROR' });
    await iterator.return?.();
    assert.deepEqual(ends, ['INTERNAL_ERROR']);
  });

  it('end with what made the reader stop, when it was not the reader', async () => {
    const timeout = AbortSignal.abort(new QueryError('QUERY_TIMEOUT', 'Too long.'));
    const { stream, ends } = tracked([1, 2], { failed: timeout });
    for await (const _value of stream) break;
    assert.deepEqual(ends, ['QUERY_TIMEOUT']);
  });

  it('end as cancelled even when stopping the source fails', async () => {
    const { stream, ends } = tracked([1], { stopFailure: new RangeError('while stopping') });
    const iterator = stream[Symbol.asyncIterator]();
    await assert.rejects(async () => await iterator.return?.(), RangeError);
    assert.deepEqual(ends, ['CANCELLED']);
  });
});

interface TrackedOptions {
  readonly failure?: Error;
  readonly stopFailure?: Error;
  readonly failed?: AbortSignal;
}

function tracked(values: readonly number[], { failure, stopFailure, failed }: TrackedOptions = {}) {
  const source = new CountedSource(values, failure, stopFailure);
  const seen: number[] = [];
  const ends: (string | undefined)[] = [];
  const stream = trackedMessages(source, {
    ...(failed === undefined ? {} : { failed }),
    onMessage: (value) => seen.push(value),
    onEnd: (error: QueryError | undefined) => ends.push(error?.code),
  });
  return { source, stream, seen, ends };
}

/** Counts what is asked of it. */
class CountedSource implements AsyncIterable<number> {
  pulls = 0;
  returns = 0;
  readonly #values: number[];
  readonly #failure: Error | undefined;
  readonly #stopFailure: Error | undefined;

  constructor(values: readonly number[], failure: Error | undefined, stopFailure: Error | undefined) {
    this.#values = [...values];
    this.#failure = failure;
    this.#stopFailure = stopFailure;
  }

  [Symbol.asyncIterator](): AsyncIterator<number> {
    return {
      next: async () => {
        this.pulls += 1;
        const value = this.#values.shift();
        if (value !== undefined) return { done: false, value };
        if (this.#failure !== undefined) throw this.#failure;
        return { done: true, value: undefined };
      },
      return: async () => {
        this.returns += 1;
        if (this.#stopFailure !== undefined) throw this.#stopFailure;
        return { done: true, value: undefined };
      },
    };
  }
}

async function readAll<T>(stream: AsyncIterable<T>): Promise<readonly T[]> {
  const values: T[] = [];
  for await (const value of stream) values.push(value);
  return values;
}
