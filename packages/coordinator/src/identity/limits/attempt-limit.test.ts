import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeClock } from '../../test-support/clock.js';
import { AttemptLimit, type AttemptLimitOptions } from './attempt-limit.js';

const never = new AbortController().signal;

function newLimit(options: Partial<AttemptLimitOptions> = {}) {
  const clock = fakeClock();
  const limit = new AttemptLimit({
    maxFailures: 2,
    maxInFlight: 10,
    maxKeys: 100,
    maxWaiting: 100,
    windowMs: 1000,
    elapsed: clock.now,
    ...options,
  });
  return { clock, limit };
}

describe('a limit on attempts', () => {
  it('remembers a bounded number of keys, whatever comes', async () => {
    const { limit } = newLimit();
    for (let index = 0; index < 10_000; index += 1)
      (await limit.enter(`key ${index}`, never)).settle('wrong');
    assert.equal(limit.size, 100);
    const newest = await limit.enter('key 9999', never);
    newest.settle('wrong');
    await assert.rejects(limit.enter('key 9999', never), { code: 'SIGN_IN_LIMITED' });
  });

  it('keeps nothing of attempts that were right, and by and by nothing of old ones', async () => {
    const { clock, limit } = newLimit();
    for (let index = 0; index < 50; index += 1) (await limit.enter(`key ${index}`, never)).settle('other');
    assert.equal(limit.size, 0);
    for (let index = 0; index < 50; index += 1) (await limit.enter(`key ${index}`, never)).settle('wrong');
    clock.advance(1000);
    for (let index = 0; index < 20; index += 1) (await limit.enter(`new ${index}`, never)).settle('other');
    assert.equal(limit.size, 0);
  });

  it('lets an attempt wait for one under way, which may be right', async () => {
    const { limit } = newLimit({ maxFailures: 1 });
    const first = await limit.enter('key', never);
    const second = limit.enter('key', never);
    first.settle('other');
    (await second).settle('wrong');
    await assert.rejects(limit.enter('key', never), { code: 'SIGN_IN_LIMITED' });
  });

  it('lets no more be under way at once than it may, however many could still fail', async () => {
    const { limit } = newLimit({ maxFailures: 100, maxInFlight: 2 });
    let underWay = 0;
    let most = 0;
    const attempts = Array.from({ length: 20 }, async (_, index) => {
      const place = await limit.enter('key', never);
      underWay += 1;
      most = Math.max(most, underWay);
      await Promise.resolve();
      underWay -= 1;
      place.settle(index % 2 === 0 ? 'wrong' : 'other');
    });
    await Promise.all(attempts);
    assert.equal(most, 2);
  });

  it('refuses all who wait once the limit is reached', async () => {
    const { limit } = newLimit({ maxFailures: 1 });
    const first = await limit.enter('key', never);
    const waiting = [1, 2, 3].map(() => limit.enter('key', never));
    first.settle('wrong');
    for (const each of waiting) await assert.rejects(each, { code: 'SIGN_IN_LIMITED' });
  });

  it('lets nobody wait who has gone away, and hands the place on', async () => {
    const { limit } = newLimit({ maxFailures: 1 });
    const controller = new AbortController();
    const first = await limit.enter('key', never);
    const gone = limit.enter('key', controller.signal);
    const next = limit.enter('key', never);
    first.settle('other');
    controller.abort();
    await assert.rejects(gone, { code: 'CANCELLED' });
    (await next).settle('other');
    assert.equal(limit.size, 0);
  });

  it('lets a bounded number wait', async () => {
    const { limit } = newLimit({ maxFailures: 1, maxWaiting: 1 });
    const first = await limit.enter('key', never);
    const second = limit.enter('key', never);
    await assert.rejects(limit.enter('key', never), {
      code: 'SIGN_IN_LIMITED',
      message: /try again in 1 second/,
    });
    first.settle('other');
    (await second).settle('other');
  });
});
