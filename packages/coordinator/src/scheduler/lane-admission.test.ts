import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LaneAdmission } from './lane-admission.js';

describe('admission by lane', () => {
  it('keeps statements without tables apart from queries', async () => {
    const { admission, signal, end } = newAdmission();
    await admission.enter('query', signal);
    admission.enter('query', signal).catch(() => undefined);
    assert.equal(admission.queued, 1);
    await admission.enter('small', signal);
    await admission.enter('small', signal);
    admission.enter('small', signal).catch(() => undefined);
    assert.equal(admission.queued, 2);
    end();
  });

  it('drains both lanes', async () => {
    const { admission, signal } = newAdmission();
    admission.drain();
    assert.throws(() => admission.throwIfDraining(), { code: 'SHUTTING_DOWN' });
    for (const lane of ['query', 'small'] as const)
      await assert.rejects(admission.enter(lane, signal), { code: 'SHUTTING_DOWN' });
  });
});

function newAdmission() {
  const controller = new AbortController();
  const admission = new LaneAdmission({
    queryPlaces: 1,
    smallPlaces: 2,
    maxQueued: 5,
    queueTimeoutMs: 60_000,
  });
  return { admission, signal: controller.signal, end: () => controller.abort() };
}
