import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DeferredWork } from './deferred-work.js';

describe('deferred work', () => {
  it('is done soon, in order, and not at once', async () => {
    const { work, done } = newWork();
    work.add(() => done.push('a'));
    const last = new Promise<void>((resolve) => work.add(() => resolve(void done.push('b'))));
    assert.deepEqual(done, []);
    await last;
    assert.deepEqual(done, ['a', 'b']);
  });

  it('is done by a flush, once', async () => {
    const { work, done } = newWork();
    work.add(() => done.push('a'));
    work.flush();
    work.flush();
    assert.deepEqual(done, ['a']);
    await new Promise<void>((resolve) => work.add(resolve));
    assert.deepEqual(done, ['a']);
  });
});

function newWork() {
  const done: string[] = [];
  return { work: new DeferredWork(), done };
}
