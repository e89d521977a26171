import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { silentLogger, throwIfAborted } from '@svc/base';
import { startSessionUpkeep } from './session-upkeep.js';

const options = { logger: silentLogger, random: () => 1, periodMs: 2 };

/** Deadlines alone do not keep a process alive. */
const awake = setInterval(() => {}, 1000);
after(() => clearInterval(awake));

describe('the upkeep of sessions', () => {
  it('sweeps and scans again and again, whatever fails', async () => {
    const counts = { sweeps: 0, scans: 0 };
    const many = createMoment();
    const upkeep = startSessionUpkeep({
      ...options,
      sweep() {
        counts.sweeps += 1;
        throw new Error('a listener failed');
      },
      async scan() {
        counts.scans += 1;
        if (counts.scans > 5) many.come();
        throw new Error('the scan failed');
      },
    });
    await many.came;
    await upkeep.close();
    assert.ok(counts.sweeps > 5);
  });

  it('does not scan while a scan is under way', async () => {
    const several = createMoment();
    let scans = 0;
    let sweeps = 0;
    const upkeep = startSessionUpkeep({
      ...options,
      sweep() {
        sweeps += 1;
        if (sweeps > 5) several.come();
      },
      async scan() {
        scans += 1;
        await several.came;
      },
    });
    await several.came;
    assert.equal(scans, 1);
    await upkeep.close();
  });

  it('aborts the scan when it is closed, and waits for it', async () => {
    const begun = createMoment();
    let isOver = false;
    const upkeep = startSessionUpkeep({
      ...options,
      sweep() {},
      async scan(signal) {
        begun.come();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        isOver = true;
        throwIfAborted(signal);
      },
    });
    await begun.came;
    await Promise.all([upkeep.close(), upkeep.close()]);
    assert.equal(isOver, true);
  });

  it('scans every 10 seconds (spec 3.1, 8)', async ({ mock }) => {
    mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
    let scans = 0;
    const { periodMs: _ofTests, ...defaults } = options;
    const upkeep = startSessionUpkeep({
      ...defaults,
      random: () => 0.5,
      sweep: () => {},
      scan: async () => {
        scans += 1;
      },
    });
    const counts: number[] = [];
    for (const ms of [4999, 1, 9999, 1, 10_000]) {
      mock.timers.tick(ms);
      await new Promise((resolve) => setImmediate(resolve));
      counts.push(scans);
    }
    assert.deepEqual(counts, [0, 1, 1, 2, 3]);
    await upkeep.close();
  });

  it('begins at a moment of its own within the period', async () => {
    const begun = createMoment();
    const immediate = startSessionUpkeep({
      ...options,
      random: () => 0,
      periodMs: 1_000_000,
      sweep: begun.come,
      scan: async () => {},
    });
    await begun.came;
    await immediate.close();
  });
});

function createMoment(): { readonly came: Promise<void>; readonly come: () => void } {
  let come = () => {};
  const came = new Promise<void>((resolve) => {
    come = resolve;
  });
  return { came, come: () => come() };
}
