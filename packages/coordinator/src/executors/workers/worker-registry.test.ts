import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LogFields, type Logger, QueryError, silentLogger } from '@svc/base';
import { fragmentProtocolVersion, type KnownFacts } from '@svc/fragment-fn';
import { discoverWorkers } from './discover-workers.js';
import { parseWorkerAddress, type WorkerAddress } from './worker-address.js';
import type { WorkerExecutor } from './worker-executor.js';
import { createWorkerRegistry } from './worker-registry.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Who sleeps, until the test lets time pass. */
class FakeTime {
  private readonly sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>();
  private nowMs = 0;

  readonly now = () => this.nowMs;

  readonly sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const sleeper = { untilMs: this.nowMs + ms, wake: () => resolve() };
      this.sleepers.add(sleeper);
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });

  async pass(ms: number): Promise<void> {
    this.nowMs += ms;
    for (const sleeper of this.sleepers)
      if (sleeper.untilMs <= this.nowMs) {
        this.sleepers.delete(sleeper);
        sleeper.wake();
      }
    await settled();
    await settled();
  }
}

const goodFacts: KnownFacts = {
  bootId: 'boot-1',
  version: '1',
  slots: 4,
  running: 1,
  waiting: 0,
  isDraining: false,
  reads: { newest: fragmentProtocolVersion, oldest: fragmentProtocolVersion - 1 },
};

/** A worker that answers what the test says. */
class FakeWorker {
  facts: Partial<KnownFacts> | undefined = {};
  heartbeats = 0;
  isClosed = false;
  onLost = () => {};
  onIdle: (() => void) | undefined;
  running = 0;

  executor(name: string): WorkerExecutor {
    const worker = this;
    return {
      name: `worker ${name}`,
      kind: 'workers',
      get slots() {
        return worker.facts?.slots ?? 0;
      },
      facts: undefined,
      get running() {
        return worker.running;
      },
      async heartbeat() {
        worker.heartbeats += 1;
        if (worker.facts === undefined) throw new QueryError('EXECUTOR_LOST', 'It is away.');
        return { ...goodFacts, ...worker.facts };
      },
      idle: async () => {
        if (worker.running > 0)
          await new Promise<void>((resolve) => {
            worker.onIdle = resolve;
          });
      },
      start: () => assert.fail('it starts nothing'),
      close: () => {
        worker.isClosed = true;
      },
    };
  }
}

async function open(addresses: readonly string[]) {
  const time = new FakeTime();
  const workers = new Map<string, FakeWorker>();
  const found = { addresses: addresses as readonly string[] | Error };
  const logged: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    log: (_level: string, message: string, _fields?: LogFields) => logged.push(message),
  };
  const workerOf = (text: string) => {
    const worker = workers.get(text) ?? new FakeWorker();
    workers.set(text, worker);
    return worker;
  };
  const registry = createWorkerRegistry({
    discover: async () => {
      if (found.addresses instanceof Error) throw found.addresses;
      return found.addresses.map(parseWorkerAddress);
    },
    connect: ({ text }: WorkerAddress, onLost) => {
      const worker = workerOf(text);
      worker.onLost = onLost;
      return worker.executor(text);
    },
    discoveryMs: 1000,
    heartbeatMs: 100,
    logger,
    now: time.now,
    sleep: time.sleep,
  });
  await settled();
  await settled();
  return { registry, time, found, workerOf, logged, names: () => registry.healthy().map(({ name }) => name) };
}

describe('the registry of workers', () => {
  it('has those that answer', async () => {
    const { registry, names, time } = await open(['a:1', 'b:1']);
    assert.deepEqual(names(), ['worker a:1', 'worker b:1']);
    assert.deepEqual(registry.records()[0], {
      address: 'a:1',
      state: 'healthy',
      version: '1',
      slots: 4,
      running: 0,
      runningTotal: 1,
      waiting: 0,
      lastSeenMs: time.now(),
      problem: undefined,
    });
    await registry.close();
    await registry.close();
  });

  it('leaves out one that misses two heartbeats, until it answers again', async () => {
    const { registry, names, time, workerOf } = await open(['a:1']);
    workerOf('a:1').facts = undefined;
    await time.pass(100);
    assert.deepEqual(names(), ['worker a:1']);
    await time.pass(100);
    assert.deepEqual(names(), []);
    assert.match(registry.records()[0]?.problem ?? '', /away/);
    workerOf('a:1').facts = {};
    await time.pass(100);
    assert.deepEqual(names(), ['worker a:1']);
    await registry.close();
    assert.equal(workerOf('a:1').isClosed, true);
  });

  it('leaves out one that never answered at once', async () => {
    const { registry, workerOf, names, time, found } = await open([]);
    workerOf('a:1').facts = undefined;
    found.addresses = ['a:1'];
    await time.pass(1000);
    assert.deepEqual(names(), []);
    assert.equal(registry.records()[0]?.state, 'unhealthy');
    await registry.close();
  });

  it('looks at once at one that failed a task', async () => {
    const { registry, workerOf, names } = await open(['a:1']);
    const worker = workerOf('a:1');
    worker.facts = undefined;
    for (let task = 0; task < 2; task += 1) {
      worker.onLost();
      await settled();
      await settled();
    }
    assert.deepEqual(names(), []);
    await registry.close();
  });

  it('gives nothing new to one that drains', async () => {
    const { registry, workerOf, names, time } = await open(['a:1']);
    workerOf('a:1').facts = { isDraining: true };
    await time.pass(100);
    assert.deepEqual(names(), []);
    assert.equal(registry.records()[0]?.state, 'draining');
    await registry.close();
  });

  const ours = fragmentProtocolVersion;
  for (const [name, newest, oldest, state] of [
    ['the same', ours, ours - 1, 'healthy'],
    ['one newer', ours + 1, ours, 'healthy'],
    ['one newer that reads nothing older', ours + 1, ours + 1, 'incompatible'],
    ['two newer', ours + 2, ours, 'incompatible'],
    ['two older', ours - 2, 0, 'incompatible'],
  ] as const)
    it(`${state === 'healthy' ? 'has' : 'leaves out'} one of the protocol version that is ${name}`, async () => {
      const { registry, workerOf, time } = await open(['a:1']);
      workerOf('a:1').facts = { reads: { newest, oldest } };
      await time.pass(100);
      assert.equal(registry.records()[0]?.state, state);
      await registry.close();
    });

  it('notices that one was started again', async () => {
    const { registry, workerOf, time, logged, names } = await open(['a:1']);
    workerOf('a:1').facts = { bootId: 'boot-2' };
    await time.pass(100);
    assert.ok(logged.includes('a worker was started again'));
    assert.deepEqual(names(), ['worker a:1']);
    await registry.close();
  });

  it('lets one finish that is not found any more', async () => {
    const { registry, workerOf, time, found, names } = await open(['a:1', 'b:1']);
    const worker = workerOf('a:1');
    worker.running = 1;
    found.addresses = ['b:1', 'c:1'];
    await time.pass(1000);
    assert.deepEqual(names(), ['worker b:1', 'worker c:1']);
    assert.equal(worker.isClosed, false);
    const { heartbeats } = worker;
    worker.onIdle?.();
    await time.pass(100);
    assert.deepEqual([worker.isClosed, worker.heartbeats], [true, heartbeats]);
    await registry.close();
  });

  it('keeps those that it knows while names are not resolved', async () => {
    const { registry, time, found, names, logged } = await open(['a:1']);
    found.addresses = new Error('SERVFAIL');
    await time.pass(1000);
    assert.deepEqual(names(), ['worker a:1']);
    assert.ok(logged.includes('workers cannot be found'));
    await registry.close();
  });
});

describe('discovery', () => {
  it('has each address once, those of a name with the name that their certificates have', async () => {
    const resolve = async () => ['10.0.0.7', 'fd00::7'];
    const found = await discoverWorkers({
      addresses: ['10.0.0.7:50052', '[::1]:1'],
      discoveryName: 'workers.local:50052',
      resolve,
    });
    assert.deepEqual(
      found.map(({ text, host, port, certificateName }) => [text, host, port, certificateName]),
      [
        ['10.0.0.7:50052', '10.0.0.7', 50052, 'workers.local'],
        ['[::1]:1', '::1', 1, undefined],
        ['[fd00::7]:50052', 'fd00::7', 50052, 'workers.local'],
      ],
    );
  });

  it('finds nobody behind a name without addresses, and throws what else goes wrong', async () => {
    const failing = (code: string) => async () => {
      throw Object.assign(new Error(code), { code });
    };
    const options = { addresses: ['a:1'], discoveryName: 'workers.local:1' };
    const found = await discoverWorkers({ ...options, resolve: failing('ENOTFOUND') });
    assert.deepEqual(
      found.map(({ text }) => text),
      ['a:1'],
    );
    await assert.rejects(discoverWorkers({ ...options, resolve: failing('EAI_AGAIN') }), /EAI_AGAIN/);
  });
});
