import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ExecutorHealth } from './executor-health.js';

describe('executors to blame', () => {
  it('are left alone for longer each time, until they answer', () => {
    let now = 0;
    const health = new ExecutorHealth({ elapsed: () => now });
    const blamed = () => {
      health.blame('a', 'executor');
      health.blame('a', 'executor');
      const ms = health.quarantineMs('a');
      now += ms;
      return ms;
    };
    assert.deepEqual([blamed(), blamed(), blamed()], [500, 1000, 2000]);
    for (let count = 0; count < 40; count++) blamed();
    assert.equal(blamed(), 30_000);
    assert.equal(health.quarantineMs('b'), 0);
    health.praise('a');
    assert.equal(blamed(), 500);
  });

  it('that leave are no worse for it; those that refuse are left alone for long', () => {
    let now = 0;
    const health = new ExecutorHealth({ elapsed: () => now });
    health.blame('a', 'leaving');
    assert.equal(health.quarantineMs('a'), 2000);
    now += 2000;
    health.blame('a', 'executor');
    assert.equal(health.quarantineMs('a'), 500);
    health.blame('b', 'refused');
    assert.equal(health.quarantineMs('b'), 60_000);
    assert.equal(health.quarantined, 2);
  });

  it('that are busy are left alone for a moment, and are no worse for it', () => {
    let now = 0;
    const health = new ExecutorHealth({ elapsed: () => now });
    const rested = () => {
      health.blame('a', 'busy');
      const ms = health.quarantineMs('a');
      assert.ok(health.isThere('a'));
      now += ms;
      return ms;
    };
    assert.deepEqual([rested(), rested(), rested()], [100, 200, 400]);
    for (let count = 0; count < 40; count++) rested();
    assert.equal(rested(), 2000);
    health.blame('a', 'busy');
    assert.equal(health.quarantined, 0);
    health.blame('a', 'executor');
    assert.equal(health.quarantineMs('a'), 500);
    assert.ok(!health.isThere('a'));
    health.blame('a', 'busy');
    assert.equal(health.quarantineMs('a'), 500);
  });

  it('are functions only where several queries lose invocations, and none has one end well', () => {
    const health = new ExecutorHealth({ elapsed: () => 0 });
    for (let count = 0; count < 100; count++) health.blameInvocation('f', 'executor', 'q1');
    health.blameInvocation('f', 'executor', 'q2');
    health.praise('f');
    health.blameInvocation('f', 'executor', 'q2');
    health.blameInvocation('f', 'executor', 'q3');
    assert.equal(health.quarantineMs('f'), 0);
    health.blameInvocation('f', 'executor', 'q4');
    assert.equal(health.quarantineMs('f'), 500);
  });

  it('are a bounded number', () => {
    const health = new ExecutorHealth({ elapsed: () => 0 });
    for (let index = 0; index < 20_000; index++) health.blame(`w${index}`, 'executor');
    assert.equal(health.quarantined, 10_000);
  });
});
