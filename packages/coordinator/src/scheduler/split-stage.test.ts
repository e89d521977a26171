/** What a stage makes of executors that fail: by a clock that goes on by what its tests say, whenever a task has ended. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { createMetrics, delay, type ErrorCode, QueryError } from '@svc/base';
import { SpoolBudget, SpoolFile } from '@svc/engine';
import type { FragmentSplit, FragmentTask } from '@svc/fragment-fn';
import { Dispatcher } from './dispatcher.js';
import { ExecutorHealth } from './executor-health.js';
import { GatheredRows } from './gathered-rows.js';
import { SplitStage } from './split-stage.js';
import { type FakeExecutor, fakeExecutor, type Moment } from './testing/fake-executor.js';

const folder = mkdtempSync(path.join(tmpdir(), 'split-stage-'));
// Timers of stages do not keep a process alive.
const keepAlive = setInterval(() => undefined, 1000);
after(() => {
  clearInterval(keepAlive);
  rmSync(folder, { recursive: true, force: true });
});

interface TestScheduler {
  readonly health: ExecutorHealth;
  readonly dispatcher: Dispatcher;
  readonly clock: { nowMs: number };
}

function scheduler(): TestScheduler {
  const clock = { nowMs: 0 };
  const health = new ExecutorHealth({ elapsed: () => clock.nowMs });
  return { health, dispatcher: new Dispatcher(health), clock };
}

interface StageOptions {
  readonly executors: readonly FakeExecutor[];
  readonly splits?: number;
  readonly queryId?: string;
  readonly memoryBytes?: number;
  readonly spoolBytes?: number;
  readonly afterTask?: () => void;
}

/** Answers how many splits ended. */
async function runStage(on: TestScheduler, options: StageOptions): Promise<number> {
  const { executors, queryId = 'q', splits = 1, memoryBytes = 1e6, spoolBytes = 1e9, afterTask } = options;
  const budget = new SpoolBudget(spoolBytes, spoolBytes);
  const rows = new GatheredRows({
    ...{ memoryBytes, slowReaderMs: 1e5 },
    openSpool: () => new SpoolFile(folder, budget),
    onRoom: () => on.dispatcher.pump(),
  });
  let [ended, fragments] = [0, 0];
  const stage = new SplitStage({
    ...{ queryId, stage: 'stage_1', rows, dispatcher: on.dispatcher, health: on.health, patienceMs: 5000 },
    splits: Array.from({ length: splits }, (_, id) => ({
      ...{ id, scan: { tableName: `split ${id}`, groups: [] } },
    })) as unknown as readonly FragmentSplit[],
    executors: () => executors,
    elapsed: () => on.clock.nowMs,
    metrics: createMetrics(),
    taskOf: async (_id, of) => ({ request: { splits: of }, stores: [] }) as unknown as FragmentTask,
    nextFragmentId: () => ++fragments,
    report: () => afterTask?.(),
    count: () => {
      ended += 1;
    },
  });
  // One that waits for ever fails its test.
  const signal = AbortSignal.timeout(30_000);
  const reading = (async () => {
    for await (const message of rows.messages(signal)) message.release();
  })().catch(() => undefined);
  try {
    await stage.run(signal);
    await reading;
    return ended;
  } finally {
    await rows.close();
  }
}

/** Its tasks answer a message each in turn, and not all they have. */
function inTurn(executor: FakeExecutor): FakeExecutor {
  return {
    ...executor,
    async start(task, signal) {
      const { schema, events } = await executor.start(task, signal);
      const iterator = events[Symbol.asyncIterator]();
      const next = async () => {
        await delay(1);
        return await iterator.next();
      };
      return { schema, events: { [Symbol.asyncIterator]: () => ({ ...iterator, next }) } };
    },
  };
}

const error = (code: ErrorCode) => new QueryError(code, 'not now');
const isIn = (moment: Moment) => typeof moment === 'object' && 'in' in moment;

describe('a function, whose name stands for many sandboxes', () => {
  it('is there for other queries, whatever one of them does to its own', async () => {
    const on = scheduler();
    const lambda = fakeExecutor({
      ...{ name: 'lambda f', kind: 'lambda', slots: 4 },
      fail: (moment, { request }) =>
        isIn(moment) && request.splits.some(({ id }) => id === 0) ? error('EXECUTOR_LOST') : undefined,
    });
    const quarantines: number[] = [];
    const afterTask = () => {
      quarantines.push(on.health.quarantineMs(lambda.name));
      on.clock.nowMs += 2000;
    };
    for (let query = 0; query < 4; query += 1)
      await assert.rejects(runStage(on, { executors: [lambda], queryId: 'bad', afterTask }), {
        code: 'EXECUTOR_LOST',
      });
    assert.deepEqual(quarantines, Array(20).fill(0));
    assert.equal(lambda.open, 0);
  });

  it('is left alone by a query that has lost its invocations, for a moment', async () => {
    const on = scheduler();
    const lambda = fakeExecutor({ name: 'lambda f', kind: 'lambda', fail: () => error('FRAGMENT_REFUSED') });
    const left = runStage(on, { executors: [lambda] });
    const other = fakeExecutor({ name: 'lambda f', kind: 'lambda' });
    assert.equal(await runStage(on, { executors: [other], queryId: 'other', splits: 3 }), 3);
    assert.equal(lambda.tasks.length, 1);
    const clock = setInterval(() => {
      on.clock.nowMs += 2000;
    }, 5);
    await assert.rejects(left, { code: 'FRAGMENT_REFUSED' });
    clearInterval(clock);
    assert.equal(lambda.tasks.length, 5);
  });

  it('whose time is over has the rest of its task sent again, as often as some of it is done', async () => {
    const on = scheduler();
    const lambda = fakeExecutor({
      ...{ name: 'lambda f', kind: 'lambda', slots: 1 },
      fail: (moment) =>
        typeof moment === 'object' && 'after' in moment ? error('EXECUTOR_TIME_OVER') : undefined,
    });
    assert.equal(await runStage(on, { executors: [lambda], splits: 20 }), 20);
    assert.equal(lambda.tasks.length, 20);
    assert.equal(on.health.quarantineMs(lambda.name), 0);
  });

  it('whose time is not enough for a split is not asked for ever', async () => {
    const on = scheduler();
    const lambda = fakeExecutor({
      ...{ name: 'lambda f', kind: 'lambda' },
      fail: (moment) => (isIn(moment) ? error('EXECUTOR_TIME_OVER') : undefined),
    });
    const afterTask = () => {
      on.clock.nowMs += 2000;
    };
    await assert.rejects(runStage(on, { executors: [lambda], afterTask }), { code: 'EXECUTOR_TIME_OVER' });
    assert.equal(lambda.tasks.length, 3);
    assert.equal(on.health.quarantineMs(lambda.name), 0);
  });
});

describe('a worker', () => {
  for (const code of ['QUEUE_TIMEOUT', 'QUEUE_FULL', 'SHUTTING_DOWN'] as const)
    it(`that answers ${code} gets the split later, and has no fault`, async () => {
      const on = scheduler();
      let left = 12;
      const worker = fakeExecutor({
        name: 'worker a',
        fail: (moment) => (moment === 'start' && left-- > 0 ? error(code) : undefined),
      });
      const rests: number[] = [];
      const afterTask = () => {
        rests.push(on.health.quarantineMs(worker.name));
        on.clock.nowMs += 2000;
      };
      assert.equal(await runStage(on, { executors: [worker], afterTask }), 1);
      assert.equal(worker.tasks.length, 13);
      // It is left alone for a moment each time, for no more than a moment.
      assert.ok(rests.slice(0, 12).every((ms) => ms > 0 && ms <= 2000));
      assert.equal(on.health.quarantined, 0);
    });

  it('that has never a place ends the query at last', async () => {
    const on = scheduler();
    const worker = fakeExecutor({ name: 'worker a', fail: () => error('QUEUE_FULL') });
    const afterTask = () => {
      on.clock.nowMs += 2000;
    };
    await assert.rejects(runStage(on, { executors: [worker], afterTask }), { code: 'QUEUE_FULL' });
    assert.equal(worker.tasks.length, 100);
  });

  it('that is busy is waited for by who has nothing else', async () => {
    const on = scheduler();
    const worker = fakeExecutor({ name: 'worker a' });
    on.health.blame(worker.name, 'busy');
    const clock = setInterval(() => {
      // Another query is sent away again and again, just when it may be used.
      on.clock.nowMs += 2000;
      if (on.clock.nowMs < 40_000) on.health.blame(worker.name, 'busy');
    }, 20);
    assert.equal(await runStage(on, { executors: [worker] }), 1);
    clearInterval(clock);
  });
});

describe('workers of which one stops answering', () => {
  it('run its splits again where there is a place, and do not wait for it', async () => {
    const on = scheduler();
    const frozen = fakeExecutor({ name: 'worker a', slots: 1, delayMs: () => 60_000 });
    const silent = Object.defineProperty({ ...frozen }, 'isSilent', { get: () => frozen.tasks.length > 0 });
    const other = fakeExecutor({ name: 'worker b', slots: 1 });
    const afterTask = () => {
      on.clock.nowMs += 100;
    };
    assert.equal(await runStage(on, { executors: [silent, other], splits: 8, afterTask }), 8);
    assert.equal(frozen.tasks.length, 1);
    assert.equal(frozen.open, 0);
    const again = frozen.tasks.flat();
    assert.ok(again.length > 0);
    for (const id of again) assert.ok(other.tasks.flat().includes(id));
  });
});

describe('rows that find no room', () => {
  const bodyBytes = 1000;

  it('of one split alone are not computed again', async () => {
    const worker = fakeExecutor({ name: 'worker a', bodyBytes, messagesPerSplit: 10 });
    await assert.rejects(runStage(scheduler(), { executors: [worker], memoryBytes: 5000, spoolBytes: 0 }), {
      code: 'DISK_FULL',
    });
    assert.equal(worker.tasks.length, 1);
  });

  it('of one split beside another one are computed again when there is some', async () => {
    const worker = fakeExecutor({ name: 'worker a', slots: 2, bodyBytes, messagesPerSplit: 10 });
    const room = { memoryBytes: 16_000, spoolBytes: 0 };
    assert.equal(await runStage(scheduler(), { executors: [inTurn(worker)], splits: 2, ...room }), 2);
    assert.equal(worker.tasks.length, 3);
  });
});
