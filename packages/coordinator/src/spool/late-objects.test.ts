import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { LateObjects } from './late-objects.js';

describe('what is put into the spool behind its query', () => {
  it('is removed ever more seldom, the last time when nothing more can come', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let nowMs = 0;
    const clock = mock.method(performance, 'now', () => nowMs);
    try {
      const late = new LateObjects();
      const removedAt: number[] = [];
      late.watch(async () => void removedAt.push(nowMs), 10_000);
      for (; nowMs < 20_000; nowMs += 500) {
        mock.timers.tick(500);
        await new Promise(setImmediate);
      }
      assert.equal(removedAt.length, 4);
      assert.ok((removedAt.at(-1) ?? 0) >= 9_500);
      await late.close();
      assert.equal(removedAt.length, 4);
    } finally {
      clock.mock.restore();
      mock.timers.reset();
    }
  });

  it('is removed at once when the service ends', async () => {
    const late = new LateObjects();
    let removed = 0;
    for (let at = 0; at < 3; at += 1)
      late.watch(async () => {
        removed += 1;
      }, 900_000);
    await late.close();
    assert.equal(removed, 3);
  });
});
