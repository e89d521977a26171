import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { Governor } from './governor.js';

const never = new AbortController().signal;

test('no more run than may, and who waits goes in the order of asking', async () => {
  const governor = new Governor({ maxConcurrency: 2 });
  const first = await governor.acquire(never);
  await governor.acquire(never);
  const order: string[] = [];
  const third = governor.acquire(never).then((place) => {
    order.push('third');
    return place;
  });
  const fourth = governor.acquire(never).then(() => order.push('fourth'));
  assert.deepEqual(governor.stats(), { running: 2, waiting: 2, limit: 2, warm: 0 });
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  await fourth;
  assert.deepEqual(order, ['third', 'fourth']);
  assert.deepEqual(governor.stats(), { running: 2, waiting: 0, limit: 2, warm: 0 });
});

test('refusals of one moment halve what may run once; what ends well gives it back', async () => {
  let nowMs = 0;
  const governor = new Governor({ maxConcurrency: 16, now: () => nowMs });
  const places = await Promise.all(Array.from({ length: 16 }, () => governor.acquire(never)));
  nowMs = 1000;
  governor.refused();
  governor.refused();
  assert.equal(governor.stats().limit, 8);
  nowMs = 2000;
  governor.refused();
  assert.equal(governor.stats().limit, 4);
  for (const place of places) {
    place.succeeded();
    place[Symbol.dispose]();
  }
  // Those that were refused are not there; those that ran are.
  assert.deepEqual(governor.stats(), { running: 0, waiting: 0, limit: 16, warm: 16 });
  nowMs = 10 * 60_000;
  assert.equal(governor.stats().warm, 0);
  nowMs = 3000;
  governor.refused();
  assert.equal(governor.stats().limit, 1);
});

test('sandboxes are started at a pace; those that are there are used at once', async () => {
  let nowMs = 0;
  const governor = new Governor({ maxConcurrency: 100, startsPerTenSeconds: 2, now: () => nowMs });
  const first = await governor.acquire(never);
  const second = await governor.acquire(never);
  const stop = new AbortController();
  const third = governor.acquire(stop.signal);
  assert.equal(governor.stats().waiting, 1);
  stop.abort(new QueryError('CANCELLED', 'Enough.'));
  await assert.rejects(third, /Enough/);
  assert.equal(governor.stats().waiting, 0);
  first[Symbol.dispose]();
  second[Symbol.dispose]();
  await governor.acquire(never);
  await governor.acquire(never);
  nowMs = 5000;
  await governor.acquire(never);
  assert.deepEqual(governor.stats(), { running: 3, waiting: 0, limit: 100, warm: 0 });
});
