import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BufferPool, pooledSize } from './buffer-pool.js';

test('a buffer that was given back is used again, for lengths of its size only', () => {
  const pool = new BufferPool(4096);
  const first = pool.take(1000);
  assert.equal(first.length, 1000);
  pool.giveBack(first);
  assert.notEqual(pool.take(100).buffer, first.buffer);
  const again = pool.take(1024);
  assert.equal(again.buffer, first.buffer);
  assert.equal(again.length, 1024);
  assert.notEqual(pool.take(1024).buffer, first.buffer, 'it has one user at a time');
});

test('no more is kept than the pool may keep', () => {
  const pool = new BufferPool(2048);
  const buffers = [pool.take(1024), pool.take(1024), pool.take(1024)];
  for (const buffer of buffers) pool.giveBack(buffer);
  const kept = buffers.map(({ buffer }) => buffer);
  const taken = [1, 2, 3].map(() => pool.take(1024).buffer);
  assert.equal(taken.filter((buffer) => kept.includes(buffer)).length, 2);
});

test('sizes are at most twice the length', () => {
  for (const length of [0, 1, 2, 3, 100, 128, 129, 8 << 20])
    assert.ok(pooledSize(length) >= length && pooledSize(length) <= Math.max(2 * length, 1), `${length}`);
});
