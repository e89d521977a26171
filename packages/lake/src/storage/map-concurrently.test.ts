import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapConcurrently } from './map-concurrently.js';

test('keeps the order of the items and the bound', async () => {
  let running = 0;
  let highest = 0;
  const results = await mapConcurrently([5, 1, 4, 2, 3], { maxConcurrent: 2 }, async (item) => {
    highest = Math.max(highest, ++running);
    for (let turn = 0; turn < item; turn++) await Promise.resolve();
    running--;
    return item * 10;
  });
  assert.deepEqual(results, [50, 10, 40, 20, 30]);
  assert.equal(highest, 2);
});

test('throws the first error after what runs has ended, and starts nothing more', async () => {
  const started: number[] = [];
  const ended: number[] = [];
  const run = async (item: number) => {
    started.push(item);
    if (item === 1) throw new Error('first');
    await Promise.resolve();
    ended.push(item);
  };
  await assert.rejects(mapConcurrently([0, 1, 2, 3], { maxConcurrent: 2 }, run), /first/);
  assert.deepEqual(started, [0, 1]);
  assert.deepEqual(ended, [0]);
});

test('stops at an abort', async () => {
  const controller = new AbortController();
  const run = async (item: number) => {
    if (item === 1) controller.abort();
  };
  await assert.rejects(mapConcurrently([0, 1, 2], { maxConcurrent: 1, signal: controller.signal }, run), {
    code: 'CANCELLED',
  });
});
