import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { FairSlots } from './fair-slots.js';
import { UsedIds } from './used-ids.js';

const never = new AbortController().signal;
/** Deadlines alone do not keep a process alive. */
const awake = setInterval(() => {}, 1000);
after(() => clearInterval(awake));
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('slots', () => {
  it('are given to coordinators in turn, however many tasks each has', async () => {
    const slots = new FairSlots({ slots: 1, maxWaiting: 10, waitMs: 60_000 });
    const order: string[] = [];
    let current = await slots.take('a', never);
    const taken: Disposable[] = [];
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2'])
      void slots.take(name.slice(0, 1), never).then((slot) => {
        order.push(name);
        taken.push(slot);
      });
    assert.deepEqual([slots.running, slots.waiting], [1, 5]);
    for (let turn = 0; turn < 6; turn += 1) {
      current[Symbol.dispose]();
      current[Symbol.dispose]();
      await settled();
      const next = taken.shift();
      if (next !== undefined) current = next;
    }
    assert.deepEqual(order, ['a1', 'b1', 'a2', 'b2', 'a3']);
    assert.deepEqual([slots.running, slots.waiting], [0, 0]);
  });

  it('are waited for by so many tasks, and for so long', async () => {
    const slots = new FairSlots({ slots: 1, maxWaiting: 1, waitMs: 1 });
    using _slot = await slots.take('a', never);
    const late = assert.rejects(slots.take('a', never), { code: 'QUEUE_TIMEOUT' });
    await assert.rejects(slots.take('a', never), { code: 'QUEUE_FULL' });
    await Promise.all([late, assert.rejects(slots.take('b', never), { code: 'QUEUE_TIMEOUT' })]);
    assert.deepEqual([slots.running, slots.waiting], [1, 0]);
  });

  it('are not lost with a task that no longer waits', async () => {
    const slots = new FairSlots({ slots: 1, maxWaiting: 9, waitMs: 60_000 });
    const slot = await slots.take('a', never);
    const stop = new AbortController();
    const gone = assert.rejects(slots.take('a', stop.signal), { code: 'CANCELLED' });
    const served = slots.take('b', never);
    stop.abort(new QueryError('CANCELLED', 'Gone.'));
    await gone;
    slot[Symbol.dispose]();
    (await served)[Symbol.dispose]();
    assert.deepEqual([slots.running, slots.waiting], [0, 0]);
  });

  it('go on to the next one from a task that was served and gave up in the same moment', async () => {
    const slots = new FairSlots({ slots: 1, maxWaiting: 9, waitMs: 60_000 });
    const slot = await slots.take('a', never);
    const stop = new AbortController();
    const gone = slots.take('a', stop.signal).then(
      (taken) => taken[Symbol.dispose](),
      () => undefined,
    );
    stop.abort(new QueryError('CANCELLED', 'Gone.'));
    slot[Symbol.dispose]();
    await gone;
    assert.deepEqual([slots.running, slots.waiting], [0, 0]);
  });
});

describe('ids of one use', () => {
  it('are kept until they could not be used again anyway', () => {
    let now = 0;
    const ids = new UsedIds(() => now, 2);
    assert.equal(ids.use('a', 10), true);
    assert.equal(ids.use('a', 10), false);
    assert.equal(ids.use('b', 20), true);
    assert.throws(() => ids.use('c', 20), { code: 'QUEUE_FULL' });
    now = 10;
    assert.equal(ids.use('c', 20), true);
    assert.equal(ids.use('b', 30), false);
  });

  it('make room also when they do not come in the order of their ends', () => {
    let now = 0;
    const ids = new UsedIds(() => now, 2);
    ids.use('late', 100);
    ids.use('soon', 10);
    now = 50;
    assert.equal(ids.use('next', 100), true);
    assert.equal(ids.use('late', 100), false);
  });
});
