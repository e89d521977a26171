import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '../errors/query-error.js';
import { createCircuitBreaker } from './circuit-breaker.js';

const openMs = 1000;

function newBreaker() {
  let elapsedMs = 0;
  const clock = {
    advance(ms: number) {
      elapsedMs += ms;
    },
  };
  const breaker = createCircuitBreaker({
    failuresToOpen: 2,
    openMs,
    elapsed: () => elapsedMs,
    refusal: () => new QueryError('CATALOG_ERROR', 'The catalog does not answer.'),
    isFailure: (error) => (error instanceof QueryError ? undefined : error instanceof Error),
  });
  const fail = () =>
    breaker.run(async () => {
      throw new Error('down');
    });
  const succeed = () => breaker.run(async () => 'up');
  return { clock, breaker, fail, succeed };
}

describe('a circuit breaker', () => {
  it('opens after failures in a row, and refuses at once', async () => {
    const { breaker, fail, succeed } = newBreaker();
    await assert.rejects(fail(), /down/);
    await succeed();
    await assert.rejects(fail(), /down/);
    assert.equal(breaker.state, 'closed');
    await assert.rejects(fail(), /down/);
    assert.equal(breaker.state, 'open');
    await assert.rejects(succeed(), { code: 'CATALOG_ERROR' });
  });

  it('learns nothing from callers who went away, neither while it counts nor when one was to try', async () => {
    const { clock, breaker, fail } = newBreaker();
    const leave = () =>
      breaker.run(async () => {
        throw new QueryError('CANCELLED', 'No longer wanted.');
      });
    await assert.rejects(fail(), /down/);
    await assert.rejects(leave(), { code: 'CANCELLED' });
    await assert.rejects(fail(), /down/);
    assert.equal(breaker.state, 'open');
    clock.advance(openMs);
    await assert.rejects(leave(), { code: 'CANCELLED' });
    assert.equal(breaker.state, 'half_open');
    await assert.rejects(fail(), /down/);
    assert.equal(breaker.state, 'open');
  });

  it('lets one try when its time is over, and refuses the others meanwhile', async () => {
    const { clock, breaker, fail, succeed } = newBreaker();
    await assert.rejects(fail());
    await assert.rejects(fail());
    clock.advance(openMs);
    assert.equal(breaker.state, 'half_open');
    let answer = (_text: string): void => undefined;
    const trial = breaker.run(
      () =>
        new Promise<string>((resolve) => {
          answer = resolve;
        }),
    );
    await assert.rejects(succeed(), { code: 'CATALOG_ERROR' });
    answer('up');
    assert.equal(await trial, 'up');
    assert.equal(breaker.state, 'closed');
  });

  it('opens again when the trial fails, for the whole time', async () => {
    const { clock, breaker, fail } = newBreaker();
    await assert.rejects(fail());
    await assert.rejects(fail());
    clock.advance(openMs);
    await assert.rejects(fail(), /down/);
    clock.advance(openMs - 1);
    assert.equal(breaker.state, 'open');
    clock.advance(1);
    assert.equal(breaker.state, 'half_open');
  });

  it('is not closed by an answer to what was asked before it opened', async () => {
    const { breaker, fail } = newBreaker();
    let answer = (_text: string): void => undefined;
    const early = breaker.run(
      () =>
        new Promise<string>((resolve) => {
          answer = resolve;
        }),
    );
    await assert.rejects(fail());
    await assert.rejects(fail());
    answer('up');
    await early;
    assert.equal(breaker.state, 'open');
  });

  it('is not opened by what says nothing of the service', async () => {
    const { breaker } = newBreaker();
    for (const _time of [1, 2, 3]) await assert.rejects(breaker.run(() => Promise.reject('forbidden')));
    assert.equal(breaker.state, 'closed');
  });
});
