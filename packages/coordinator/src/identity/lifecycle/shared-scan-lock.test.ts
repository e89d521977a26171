import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createLogger, createMetrics, parseLogFilter, QueryError } from '@svc/base';
import { createSharedScanLock, type LockServer, type LockTimings } from './shared-scan-lock.js';

const never = new AbortController().signal;
const timings: LockTimings = { waitMs: 60, retryMs: 2, ttlMs: 1_000_000 };

/** Deadlines alone do not keep a process alive. */
const awake = setInterval(() => {}, 1000);
after(() => clearInterval(awake));

describe('the shared lock of token scans', () => {
  it('lets one scan run at a time', async () => {
    const server = new FakeLockServer();
    let [running, most] = [0, 0];
    const scan = async (isAlone: boolean) => {
      assert.equal(isAlone, true);
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
    };
    const locks = Array.from({ length: 5 }, () => newLock(server, { ...timings, waitMs: 60_000 }).lock);
    await Promise.all([...locks, ...locks].map((lock) => lock.run(scan, never)));
    assert.deepEqual([most, server.value], [1, undefined]);
  });

  it('is not waited for longer than its time, and is left to its holder then', async () => {
    const server = new FakeLockServer();
    server.value = 'of another coordinator';
    const { lock, warnings, outcomes } = newLock(server);
    const seen: boolean[] = [];
    for (const _scan of [1, 2, 3]) await lock.run(async (isAlone) => void seen.push(isAlone), never);
    assert.deepEqual(seen, [false, false, false]);
    assert.equal(server.value, 'of another coordinator');
    assert.deepEqual(warnings(), ['another coordinator holds it']);
    assert.deepEqual(await outcomes(), { held: 0, missed: 3 });
  });

  const faults: Readonly<Record<string, () => Promise<never>>> = {
    'refuses connections': async () => {
      throw new Error('connect ECONNREFUSED');
    },
    'is a replica': async () => {
      throw new Error("READONLY You can't write against a read only replica.");
    },
    'is out of memory': async () => {
      throw new Error("OOM command not allowed when used memory > 'maxmemory'.");
    },
    'refuses the password': async () => {
      throw new Error('WRONGPASS invalid username-password pair or user is disabled.');
    },
    'never answers': () => new Promise(() => {}),
  };
  for (const [title, fault] of Object.entries(faults)) {
    it(`does not stop the scan when its server ${title}`, async () => {
      const { lock, warnings } = newLock({ take: fault, keep: fault, release: async () => {}, close() {} });
      let hasRun = false;
      await lock.run(async (isAlone) => {
        hasRun = !isAlone;
      }, never);
      assert.equal(hasRun, true);
      assert.equal(warnings().length, 1);
    });
  }

  it('recognises its own value when the answer was lost', async () => {
    const server = new FakeLockServer();
    let calls = 0;
    const lossy: LockServer = {
      keep: (value) => server.keep(value),
      release: (value) => server.release(value),
      close() {},
      async take(value) {
        calls += 1;
        const isTaken = await server.take(value);
        if (calls === 1) throw new Error('Command timed out');
        return isTaken;
      },
    };
    await newLock(lossy).lock.run(async (isAlone) => assert.equal(isAlone, true), never);
    assert.equal(server.value, undefined);
  });

  it('does not leave behind what an attempt without an answer may have taken', async () => {
    const server = new FakeLockServer();
    const silent: LockServer = {
      keep: (value) => server.keep(value),
      release: (value) => server.release(value),
      close() {},
      async take(value) {
        await server.take(value);
        return new Promise(() => {});
      },
    };
    await newLock(silent).lock.run(async (isAlone) => assert.equal(isAlone, false), never);
    assert.equal(server.value, undefined);
  });

  it('is kept while the scan goes on, and taken again when its server has forgotten it', async () => {
    const server = new FakeLockServer();
    const { lock, warnings } = newLock(server, { ...timings, ttlMs: 6 });
    await lock.run(async () => {
      await server.until(() => server.keeps > 2);
      server.value = undefined;
      await server.until(() => server.value !== undefined);
    }, never);
    assert.deepEqual([server.value, warnings()], [undefined, []]);
  });

  it('that another one has meanwhile is not freed, and that is told', async () => {
    const server = new FakeLockServer();
    const { lock, warnings } = newLock(server, { ...timings, ttlMs: 6 });
    await lock.run(async () => {
      server.value = 'of another coordinator';
      await server.until(() => warnings().length > 0);
    }, never);
    assert.equal(server.value, 'of another coordinator');
  });

  it('is given back when the scan fails or is aborted', async () => {
    const server = new FakeLockServer();
    const { lock } = newLock(server);
    await assert.rejects(
      lock.run(() => Promise.reject(new Error('no scan')), never),
      /no scan/,
    );
    const stop = new AbortController();
    stop.abort(new QueryError('SHUTTING_DOWN', 'The service stops.'));
    await assert.rejects(
      lock.run(async () => assert.fail('It was aborted before.'), stop.signal),
      { code: 'SHUTTING_DOWN' },
    );
    assert.equal(server.value, undefined);
  });
});

/** Keeps one value, and never forgets it by itself. */
class FakeLockServer implements LockServer {
  value: string | undefined;
  keeps = 0;
  readonly #waiting: { readonly condition: () => boolean; readonly resolve: () => void }[] = [];

  async take(value: string): Promise<boolean> {
    const isFree = this.value === undefined;
    this.value ??= value;
    this.#tell();
    return isFree;
  }

  async keep(value: string): Promise<boolean> {
    this.keeps += 1;
    this.#tell();
    return this.value === value;
  }

  async release(value: string): Promise<void> {
    if (this.value === value) this.value = undefined;
  }

  /** Asked after each call. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ condition, resolve }));
  }

  close(): void {}

  #tell(): void {
    for (const { condition, resolve } of this.#waiting) if (condition()) resolve();
  }
}

function newLock(server: LockServer, lockTimings = timings) {
  const lines: string[] = [];
  const metrics = createMetrics();
  const logger = createLogger('test', {
    write: (line) => lines.push(line),
    filter: parseLogFilter('warn'),
  });
  return {
    lock: createSharedScanLock({ server, metrics, logger, random: Math.random, timings: lockTimings }),
    warnings: () => lines.map((line): unknown => JSON.parse(line).error_message),
    async outcomes() {
      const samples = (await metrics.text()).matchAll(
        /^svc_token_scan_locks_total\{outcome="(\w+)"\} (\d+)$/gm,
      );
      return Object.fromEntries([...samples].map(([, outcome, count]) => [outcome, Number(count)]));
    },
  };
}
