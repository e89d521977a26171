import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { createMetrics, delay, QueryError, silentLogger } from '@svc/base';
import { type EngineMessage, SpoolBudget, SpoolFile } from '@svc/engine';
import type {
  FragmentRequest,
  FragmentResult,
  FragmentScan,
  FragmentTask,
  SplitEvent,
} from '@svc/fragment-fn';
import type { TableScan } from '@svc/lake';
import type { Stage, StagedPlan } from '@svc/sql';
import type { FragmentReport } from '../tracker/fragment-record.js';
import type { BroadcastRules } from './broadcast.js';
import { Dispatcher } from './dispatcher.js';
import { ExecutorHealth } from './executor-health.js';
import { type PlannedStages, wholePlan } from './planned-stages.js';
import { runStages } from './run-stages.js';
import type { SchedulerLimits } from './stage-runs.js';
import { type FakeExecutor, fakeExecutor, lost, schema, statistics } from './testing/fake-executor.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stages-'));
// Timers of stages do not keep a process alive.
const keepAlive = setInterval(() => undefined, 1000);
after(() => {
  clearInterval(keepAlive);
  rmSync(folder, { recursive: true, force: true });
});

const divided: Stage = { name: 'stage_1', sql: 'x', columns: [], split: 'scan_1', scans: [], inputs: [] };
const last: Stage = {
  ...{ name: 'answer', sql: 'y', columns: [] },
  split: undefined,
  scans: [],
  inputs: ['stage_1'],
};

function stagesOf(stages: readonly Stage[]): PlannedStages {
  const scan = { tableName: 'a.b.c', columns: [], groups: [], counts: {} } as unknown as TableScan;
  const table: FragmentScan = { catalog: 'a', schema: 'b', table: 'c', kind: 'scan', scan };
  const plan: StagedPlan = { stages, scans: [] };
  return {
    plan,
    scans: new Map([['scan_1', { table, store: undefined }]]),
    kinds: ['workers'],
    isForced: false,
  };
}

/** A statement of two tables, of which one is larger. */
function statement() {
  const tables = [100, 200].map((bytesPlanned): FragmentScan => {
    const counts = { bytesPlanned, rowsPlanned: 5 };
    const scan = { tableName: `t${bytesPlanned}`, columns: [], groups: [], counts } as unknown as TableScan;
    return { catalog: 'a', schema: 'b', table: `t${bytesPlanned}`, kind: 'scan', scan };
  });
  const limits = { memoryBytes: 1, resultBytes: 1e9, timeoutMs: 1e6 };
  const request: FragmentRequest = {
    ...{
      protocolVersion: 2,
      queryId: 'q',
      fragmentId: 0,
      lane: 'query',
      owner: 'o',
      sql: 'the text',
      tables,
      limits,
    },
    ...{ views: [], defaultCatalog: 'a', defaultSchema: 'b', settings: {}, setup: [], arrow: 'client' },
  };
  return { request, stores: tables.map(() => undefined) };
}

interface TestOptions {
  readonly executors: readonly FakeExecutor[];
  readonly splits?: number;
  readonly stages?: readonly Stage[];
  readonly isWhole?: boolean;
  readonly limits?: Partial<SchedulerLimits>;
  readonly broadcast?: Partial<BroadcastRules>;
  readonly signal?: AbortSignal;
  readonly queryId?: string;
  readonly dispatcher?: Dispatcher;
  readonly budget?: SpoolBudget;
  readonly alive?: () => readonly FakeExecutor[];
}

const elapsed = () => performance.now();

async function run(options: TestOptions) {
  const {
    executors,
    splits = 10,
    stages = [divided, last],
    limits,
    broadcast,
    budget = new SpoolBudget(1e9, 1e9),
  } = options;
  const health = new ExecutorHealth({ elapsed });
  const reports: FragmentReport[] = [];
  const result = await runStages({
    stages: options.isWhole
      ? { ...stagesOf([]), plan: wholePlan('the text'), isWhole: true }
      : stagesOf(stages),
    schema,
    statement: statement(),
    context: {
      ...{ queryId: options.queryId ?? 'q', lane: 'query', owner: 'o', settings: {}, setup: [] },
      limits: { memoryBytes: 1, resultBytes: 1e9, timeoutMs: 1e6 },
    },
    parts: {
      dispatcher: options.dispatcher ?? new Dispatcher(health),
      ...{ health, elapsed, metrics: createMetrics() },
      openSpool: () => new SpoolFile(folder, budget),
      broadcast: { maxBytes: 1e5, inlineBytes: 1e5, spool: undefined, logger: silentLogger, ...broadcast },
      limits: { gatherBytes: 1e6, slowReaderMs: 1e5, patienceMs: 300, ...limits },
    },
    executors: options.alive ?? (() => executors),
    divide: async (scan) =>
      Array.from({ length: splits }, (_, index) => ({ ...scan, tableName: `split ${index}` })),
    runLocal: answerWhatCame,
    report: (report) => reports.push(report),
    signal: options.signal ?? new AbortController().signal,
  });
  return { result, reports, health };
}

/** Stands for the engine: answers the rows of its inputs, each a message. */
async function answerWhatCame(
  request: FragmentRequest,
  _stores: unknown,
  signal: AbortSignal,
): Promise<FragmentResult> {
  const messages: EngineMessage[] = [];
  for (const table of request.tables) {
    if (table.kind !== 'input') continue;
    const pieces: Uint8Array[] = [];
    if (table.rows.kind === 'bytes') pieces.push(table.rows.stream);
    else if (table.rows.kind === 'stream')
      for await (const piece of table.rows.open(signal)) pieces.push(Uint8Array.from(piece));
    messages.push(...messagesOf(Buffer.concat(pieces)));
  }
  return {
    schema,
    messages: (async function* () {
      yield* messages;
    })(),
    failed: signal,
    engineFree: Promise.resolve(),
    statistics: () => ({ ...statistics, bytesStaged: 0, rowsScanned: 0n }),
  };
}

/** The bodies between schema and end; headers of these tests say nothing of their bodies' length. */
function messagesOf(stream: Buffer): readonly EngineMessage[] {
  assert.deepEqual(stream.subarray(0, schema.length), Buffer.from(schema));
  assert.deepEqual(stream.subarray(-8), Buffer.from([255, 255, 255, 255, 0, 0, 0, 0]));
  const body = stream.subarray(schema.length, -8);
  const size = 16 + 16;
  assert.equal(body.length % size, 0);
  return Array.from({ length: body.length / size }, (_, index) => ({
    ...{ kind: 'batch' as const, header: new Uint8Array(8), rowCount: 1, release: () => undefined },
    body: body.subarray(index * size + 16, (index + 1) * size),
  }));
}

/** Which split and which message of it each row is of. */
async function rowsOf({ messages }: FragmentResult): Promise<readonly string[]> {
  const rows: string[] = [];
  for await (const message of messages) {
    const view = new DataView(message.body.buffer, message.body.byteOffset);
    rows.push(`${view.getUint32(0)}.${view.getUint32(4)}`);
    message.release();
  }
  return rows.sort();
}

function expected(splits: number, perSplit = 2): readonly string[] {
  return Array.from(
    { length: splits * perSplit },
    (_, index) => `${Math.floor(index / perSplit)}.${index % perSplit}`,
  ).sort();
}

function assertNothingLeft(executors: readonly FakeExecutor[]): void {
  for (const { name, open, unreleased } of executors) {
    assert.equal(open, 0, `${name} has ${open} tasks`);
    assert.equal(unreleased, 0, `${name} has ${unreleased} messages`);
  }
}

const isCode = (code: string) => (error: unknown) => error instanceof QueryError && error.code === code;

describe('stages on executors', () => {
  it('each split counts once, with what it took', async () => {
    const executors = ['a', 'b', 'c'].map((name) => fakeExecutor({ name }));
    const { result, reports } = await run({ executors, splits: 40 });
    assert.deepEqual(await rowsOf(result), expected(40));
    assertNothingLeft(executors);
    assert.equal(result.statistics().rowsScanned, 200n);
    assert.equal(
      reports.reduce((sum, { ended }) => sum + ended, 0),
      40,
    );
    assert.ok(executors.every(({ tasks }) => tasks.length > 0));
    assert.ok(reports.every(({ errorCode }) => errorCode === undefined));
  });

  for (const [what, moment] of [
    ['before its schema', 'start'],
    ['in the middle of its second split', { in: 1 }],
    ['behind the end of its first split', { after: 0 }],
  ] as const)
    it(`an executor that is lost ${what} costs what had not ended`, async () => {
      let left = 3;
      const bad = fakeExecutor({
        name: 'bad',
        fail: (now) => (JSON.stringify(now) === JSON.stringify(moment) && left-- > 0 ? lost() : undefined),
      });
      const executors = [bad, fakeExecutor({ name: 'good' })];
      const { result, reports, health } = await run({ executors, splits: 30 });
      assert.deepEqual(await rowsOf(result), expected(30));
      assertNothingLeft(executors);
      assert.ok(reports.some(({ errorCode }) => errorCode === 'EXECUTOR_LOST'));
      assert.ok(health.quarantineMs('bad') >= 0);
    });

  it('a statement that is not divided is one fragment of its own text, and goes to another when one is lost', async () => {
    const bad = fakeExecutor({ name: 'bad', fail: () => lost() });
    const sent: FragmentTask[] = [];
    const good = fakeExecutor({
      name: 'good',
      fail(_now, task) {
        sent.push(task);
        return undefined;
      },
    });
    const executors = [bad, good];
    const { result, reports } = await run({ executors, isWhole: true });
    assert.deepEqual(await rowsOf(result), expected(1));
    assertNothingLeft(executors);
    const [task] = sent;
    assert.equal(task?.request.sql, 'the text');
    assert.equal(task?.request.arrow, 'client');
    assert.equal(task?.request.splitTable, undefined);
    assert.deepEqual(
      task?.request.splits.map(({ id, scan }) => `${id} ${scan.tableName}`),
      ['0 t200'],
    );
    assert.equal(reports.at(-1)?.worker, 'good');
  });

  it('one that lives is enough', async () => {
    const dead = ['a', 'b', 'c'].map((name) => fakeExecutor({ name, fail: () => lost() }));
    const executors = [...dead, fakeExecutor({ name: 'd', slots: 1 })];
    const { result } = await run({ executors, splits: 30 });
    assert.deepEqual(await rowsOf(result), expected(30));
    assertNothingLeft(executors);
  });

  it('none that lives is an error after a while, and nothing is left', async () => {
    const executors = [fakeExecutor({ name: 'a', fail: () => lost() })];
    await assert.rejects(run({ executors }), isCode('NO_EXECUTOR'));
    await assert.rejects(run({ executors, alive: () => [] }), isCode('NO_EXECUTOR'));
    assertNothingLeft(executors);
  });

  it('a split that no executor survives is the query’s error', async () => {
    const fail = (
      _moment: unknown,
      { request }: { readonly request: { readonly splits: readonly { readonly id: number }[] } },
    ) => (request.splits.some(({ id }) => id === 3) ? lost() : undefined);
    const executors = Array.from({ length: 12 }, (_, index) =>
      fakeExecutor({ name: `w${index}`, slots: 1, fail }),
    );
    await assert.rejects(run({ executors, splits: 8 }), isCode('EXECUTOR_LOST'));
    assertNothingLeft(executors);
  });

  it('what one executor cannot do another one may', async () => {
    const full = new QueryError('DISK_FULL', 'no room');
    const executors = [
      fakeExecutor({ name: 'full', slots: 1, fail: () => full }),
      ...['b', 'c', 'd', 'e'].map((name) => fakeExecutor({ name, slots: 1 })),
    ];
    const { result, health } = await run({ executors, splits: 6 });
    assert.deepEqual(await rowsOf(result), expected(6));
    assert.equal(health.quarantineMs('full'), 0);
    assertNothingLeft(executors);
  });

  it('an error of the statement ends all tasks', async () => {
    const evaluation = new QueryError('EVALUATION_ERROR', 'bad value');
    const executors = ['a', 'b'].map((name) =>
      fakeExecutor({
        name,
        fail: (moment) => (typeof moment === 'object' && 'in' in moment ? evaluation : undefined),
      }),
    );
    await assert.rejects(run({ executors }), evaluation);
    assertNothingLeft(executors);
  });

  for (const [what, events] of [
    [
      'says other numbers of rows',
      (all) => all.map((event) => (event.kind === 'end' ? { ...event, rowCount: 7n } : event)),
    ],
    ['answers rows behind the end', (all) => [...all, ...all.filter((event) => event.kind === 'end')]],
    ['answers another split', (all) => all.map((event) => ({ ...event, split: event.split + 1000 }))],
    ['stops without an end', (all) => all.filter((event) => event.kind !== 'end')],
  ] satisfies readonly (readonly [string, NonNullable<Parameters<typeof fakeExecutor>[0]['events']>])[])
    it(`what an executor answers that ${what} does not count`, async () => {
      const executors = [fakeExecutor({ name: 'liar', events }), fakeExecutor({ name: 'honest' })];
      const { result, health } = await run({ executors, splits: 20 });
      assert.deepEqual(await rowsOf(result), expected(20));
      assert.ok(health.quarantineMs('liar') > 0);
      assert.equal(executors[1]?.open, 0);
    });

  it('a late split is run a second time, and counts once', async () => {
    const slow = fakeExecutor({ name: 'slow', slots: 1, delayMs: () => 60_000 });
    const executors = [slow, fakeExecutor({ name: 'quick' })];
    const { result } = await run({ executors, splits: 12 });
    assert.deepEqual(await rowsOf(result), expected(12));
    assertNothingLeft(executors);
  });
});

describe('the answer', () => {
  it('of a divided last stage comes as splits end', async () => {
    const executors = [fakeExecutor({ name: 'a' })];
    const { result } = await run({ executors, stages: [divided], splits: 9 });
    assert.deepEqual(await rowsOf(result), expected(9));
    assertNothingLeft(executors);
  });

  it('that nobody reads on ends its tasks', async () => {
    const executors = ['a', 'b'].map((name) =>
      fakeExecutor({ name, delayMs: (split) => (split < 3 ? 0 : 60_000) }),
    );
    const { result } = await run({ executors, stages: [divided], splits: 50 });
    const messages = result.messages[Symbol.asyncIterator]();
    (await messages.next()).value?.release();
    await messages.return?.();
    assertNothingLeft(executors);
  });

  it('that is read slowly is held within its bounds', async () => {
    const bodyBytes = 16 * 1024;
    const gatherBytes = 4 * bodyBytes;
    const budget = new SpoolBudget(1e9, 1e9);
    const executors = [fakeExecutor({ name: 'a', slots: 2, bodyBytes })];
    const { result } = await run({
      executors,
      stages: [divided],
      splits: 60,
      limits: { gatherBytes },
      budget,
    });
    const messages = result.messages[Symbol.asyncIterator]();
    let [count, mostStarted] = [0, 0];
    for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
      count += 1;
      next.value.release();
      await delay(1);
      const started = executors.flatMap(({ tasks }) => tasks.flat()).length;
      mostStarted = Math.max(mostStarted, started - count / 2);
    }
    assert.equal(count, 120);
    // Those that are kept, and those of the tasks that were running.
    assert.ok(mostStarted <= 2 + 2 * 4 + 2, `${mostStarted} splits ahead of the reader`);
    assert.equal(budget.usedBytes, 0);
    assertNothingLeft(executors);
  });

  it('waits on disk where memory does not hold it', async () => {
    const executors = ['a', 'b'].map((name) => fakeExecutor({ name, messagesPerSplit: 30 }));
    const budget = new SpoolBudget(1e9, 1e9);
    const { result } = await run({ executors, splits: 10, limits: { gatherBytes: 2000 }, budget });
    assert.deepEqual(await rowsOf(result), expected(10, 30));
    assert.equal(budget.usedBytes, 0);
    assertNothingLeft(executors);
  });

  it('ends with its caller, whatever executors do', async () => {
    const executors = [fakeExecutor({ name: 'a', delayMs: () => 60_000 })];
    const controller = new AbortController();
    const running = run({ executors, signal: controller.signal });
    await delay(20);
    controller.abort(new QueryError('CANCELLED', 'enough'));
    await assert.rejects(running, isCode('CANCELLED'));
    assertNothingLeft(executors);
  });

  it('ends with its caller, although an executor neither answers nor lets go', async () => {
    const never = new Promise<never>(() => undefined);
    const deaf = {
      ...fakeExecutor({ name: 'deaf', slots: 1 }),
      start: async () => ({
        schema,
        events: {
          [Symbol.asyncIterator]: (): AsyncIterator<SplitEvent> => ({
            next: () => never,
            return: () => never,
          }),
        },
      }),
    };
    const mute = { ...fakeExecutor({ name: 'mute', slots: 1 }), start: () => never };
    const controller = new AbortController();
    const running = run({ executors: [deaf, mute], signal: controller.signal });
    await delay(20);
    controller.abort(new QueryError('QUERY_TIMEOUT', 'too long'));
    await assert.rejects(running, isCode('QUERY_TIMEOUT'));
  });

  it('of a thousand small splits is one of many', async () => {
    const executors = Array.from({ length: 4 }, (_, index) => fakeExecutor({ name: `w${index}`, slots: 4 }));
    const { result, reports } = await run({ executors, splits: 1000 });
    assert.deepEqual(await rowsOf(result), expected(1000));
    assert.ok(reports.length > 200);
    assertNothingLeft(executors);
  });

  it('with other columns is none', async () => {
    const other = fakeExecutor({ name: 'a', schema: new TextEncoder().encode('other000') });
    await assert.rejects(run({ executors: [other], stages: [divided] }), isCode('INTERNAL_ERROR'));
    assertNothingLeft([other]);
  });
});

describe('rows that every fragment needs', () => {
  const small: Stage = { ...divided, name: 'small' };
  const wide: Stage = { ...divided, name: 'stage_1', inputs: ['small'] };

  it('travel with it', async () => {
    const executors = [fakeExecutor({ name: 'a' })];
    const { result } = await run({ executors, stages: [small, wide, last], splits: 5 });
    assert.deepEqual(await rowsOf(result), expected(5));
    assertNothingLeft(executors);
  });

  it('are refused where they are too many', async () => {
    const executors = [fakeExecutor({ name: 'a' })];
    const broadcast = { maxBytes: 100 };
    await assert.rejects(
      run({ executors, stages: [small, wide, last], splits: 5, broadcast }),
      isCode('NOT_SUPPORTED'),
    );
    assertNothingLeft(executors);
  });
});

describe('several queries', () => {
  it('take turns: a small one does not wait for a large one', async () => {
    const executors = [fakeExecutor({ name: 'a', slots: 2, delayMs: () => 5 })];
    const dispatcher = new Dispatcher(new ExecutorHealth({ elapsed }));
    const large = run({ executors, dispatcher, queryId: 'large', splits: 200 });
    await delay(20);
    const { result } = await run({ executors, dispatcher, queryId: 'small', splits: 2 });
    const started = executors[0]?.tasks.flat().length ?? 0;
    assert.deepEqual(await rowsOf(result), expected(2));
    assert.ok(started < 150, `${started} splits of the large query came before`);
    assert.deepEqual(await rowsOf((await large).result), expected(200));
    assertNothingLeft(executors);
    assert.equal(dispatcher.running, 0);
  });
});
