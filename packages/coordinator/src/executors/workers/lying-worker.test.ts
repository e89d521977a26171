/** A worker that knows the secret, and lies: its coordinator loses it, whatever it says. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ErrorCode, QueryError, silentLogger } from '@svc/base';
import { createWorkerServer, type FlightServer } from '@svc/flight';
import { splitIpcStream } from '@svc/flight/arrow';
import {
  callKey,
  createWorkerDoor,
  encodeWorkerFrame,
  type FragmentTask,
  fragmentProtocolVersion,
  type SplitEvent,
  type WorkerDoor,
  type WorkerFrame,
} from '@svc/fragment-fn';
import { Int64, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { parseWorkerAddress } from './worker-address.js';
import { createWorkerExecutor, type WorkerExecutor } from './worker-executor.js';

interface Message {
  readonly metadata: Uint8Array;
  readonly header: Uint8Array;
  readonly body: Uint8Array;
  release(): void;
}

const key = callKey('a secret that is long enough for this');
const never = new AbortController().signal;
const nothing = new Uint8Array(0);
const statistics = {
  filesRead: 0,
  bytesStaged: 0,
  bytesFetched: 0,
  rowsScanned: 0n,
  rowsReturned: 0n,
  spilledBytes: 0n,
  peakMemoryBytes: 0n,
  stagingMs: 0,
  engineMs: 0,
};

const [schema, batch] = messagesOf({ id: [1n, 2n, 3n], name: ['a', 'bb', 'ccc'] });
const [, otherBatch] = messagesOf({ id: [1n, 2n, 3n] });

let server: FlightServer;
let executor: WorkerExecutor;
/** What the worker answers to the next task. */
let answer: (signal: AbortSignal) => AsyncIterable<Message>;

before(async () => {
  const door: WorkerDoor = createWorkerDoor({
    key,
    bootId: 'worker-a',
    version: '1',
    slots: 1,
    now: Date.now,
    logger: silentLogger,
    aliveMs: 60_000,
    run: () => assert.fail('it only lies'),
  });
  server = await createWorkerServer({
    backend: { ...door, exchange: (_call, _messages, { signal }) => answer(signal) },
    host: '127.0.0.1',
    port: 0,
    keepalive: { timeMs: 60_000, timeoutMs: 20_000 },
    logger: silentLogger,
  });
  executor = createWorkerExecutor(parseWorkerAddress(`127.0.0.1:${server.port}`), {
    coordinator: 'coordinator-1',
    key,
    now: Date.now,
    stallMs: 500,
    heartbeatTimeoutMs: 10_000,
  });
});
after(() => {
  executor.close();
  server.destroy();
});

const start = frame({ kind: 'schema' }, schema);
const rows = (
  changes: { split?: number; rowCount?: number; messageKind?: 'batch' | 'dictionary' } = {},
  arrow = batch,
) =>
  frame(
    { kind: 'event', event: { kind: 'message', split: 1, messageKind: 'batch', rowCount: 3, ...changes } },
    arrow,
  );
const end = (changes: { split?: number; rowCount?: bigint } = {}, arrow?: Arrow) =>
  frame({ kind: 'event', event: { kind: 'end', split: 1, rowCount: 3n, statistics, ...changes } }, arrow);
const failure = (code: ErrorCode) =>
  frame({
    kind: 'event',
    event: { kind: 'error', error: { code, message: 'It failed.', retryable: false } },
  });

describe('what a worker answers', () => {
  it('is believed where all is as it says', async () => {
    const alive = frame({ kind: 'alive' });
    const events = await ask([
      alive,
      start,
      rows(),
      alive,
      rows(),
      end({ rowCount: 6n }),
      end({ split: 2, rowCount: 0n }),
    ]);
    assert.deepEqual(
      events.map((event) => `${event.kind} ${event.split}`),
      ['message 1', 'message 1', 'end 1', 'end 2'],
    );
  });

  const lies: readonly (readonly [string, readonly (Message | Error)[], RegExp])[] = [
    ['nothing', [], /schema/],
    ['rows before their schema', [rows()], /schema/],
    ['a schema that is none', [frame({ kind: 'schema' }, batch)], /schema/],
    [
      'a schema of garbage',
      [frame({ kind: 'schema' }, { header: Buffer.alloc(64, 0xff), body: nothing })],
      /malformed/,
    ],
    ['two schemas', [start, start], /second schema/],
    ['no frames', [{ ...start, metadata: Buffer.from('garbage') }], /frame/],
    ['an empty frame', [{ ...start, metadata: nothing }], /frame/],
    ['a split that was not asked for', [start, rows({ split: 7 })], /split 7/],
    ['a later split first', [start, rows({ split: 2 })], /split 2/],
    ['the end of a later split first', [start, end({ split: 2 })], /split 2/],
    ['too few rows', [start, rows(), end({ rowCount: 4n })], /ends with 4 rows, but 3 came/],
    ['too many rows', [start, rows(), rows(), end({ rowCount: 3n })], /ends with 3 rows, but 6 came/],
    ['another number of rows than the batch has', [start, rows({ rowCount: 4 })], /3 rows, not 4/],
    ['an end twice', [start, rows(), end(), end()], /split 1/],
    ['rows behind the end', [start, rows(), end(), rows()], /split 1/],
    [
      'more when all have ended',
      [start, rows(), end(), end({ split: 2, rowCount: 0n }), rows({ split: 2 })],
      /all have ended/,
    ],
    ['an end with rows', [start, end({ rowCount: 0n }, batch)], /has rows/],
    ['a cut stream', [start, rows(), end()], /too soon/],
    ['a cut split', [start, rows()], /too soon/],
    ['a batch of another schema', [start, rows({}, otherBatch)], /malformed/],
    ['a schema for a batch', [start, rows({}, schema)], /no batch/],
    ['a dictionary that is a batch', [start, rows({ messageKind: 'dictionary' })], /no dictionary/],
    [
      'a header of garbage',
      [start, rows({}, { header: Buffer.alloc(batch.header.length, 0x5a), body: batch.body })],
      /malformed/,
    ],
    ['no header', [start, rows({}, { header: nothing, body: batch.body })], /malformed/],
    [
      'a cut body',
      [start, rows({}, { header: batch.header, body: batch.body.subarray(0, -8) })],
      /malformed/,
    ],
    ['no body', [start, rows({}, { header: batch.header, body: nothing })], /malformed/],
    [
      'a body of garbage',
      [start, rows({}, { header: batch.header, body: Buffer.alloc(batch.body.length, 0xa5) })],
      /malformed/,
    ],
    ['credentials that it has no use for', [frame({ kind: 'renew', id: 1, table: 7 })], /credentials/],
    ['that it was cancelled', [start, failure('CANCELLED')], /It failed/],
    ['that its time is over', [start, failure('EXECUTOR_TIME_OVER')], /It failed/],
    ['a defect', [start, new Error('PLANTED')], /internal error/],
  ];
  for (const [name, messages, reason] of lies)
    it(`is not believed when it is ${name}`, async () => {
      await assert.rejects(ask(messages), (error: QueryError) => {
        assert.equal(error.code, 'EXECUTOR_LOST');
        assert.match(error.message, /worker 127\.0\.0\.1:/);
        assert.match(error.message, reason);
        assert.doesNotMatch(error.message, /PLANTED/);
        return true;
      });
      assert.equal(executor.running, 0);
    });

  for (const code of ['SHUTTING_DOWN', 'QUEUE_FULL', 'QUEUE_TIMEOUT'] as const)
    it(`may be that it has no place: ${code}`, async () => {
      const says = { code, message: /^No place on worker 127\.0\.0\.1:\d+: It failed/ };
      await assert.rejects(ask([failure(code)]), says);
      await assert.rejects(ask([start, rows(), failure(code)]), says);
      await assert.rejects(ask([new QueryError(code, 'It failed.')]), says);
      assert.equal(executor.running, 0);
    });

  it('may be an error of the fragment', async () => {
    await assert.rejects(ask([failure('EVALUATION_ERROR')]), {
      code: 'EVALUATION_ERROR',
      message: 'It failed.',
    });
    await assert.rejects(ask([start, rows(), failure('EVALUATION_ERROR')]), { code: 'EVALUATION_ERROR' });
  });

  for (const [name, messages] of [
    ['at once', []],
    ['in the middle', [start, rows()]],
  ] as const)
    it(`is not waited for for ever when it stops ${name}`, async () => {
      let isEnded = false;
      answer = async function* (signal) {
        yield* messages;
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        isEnded = true;
      };
      await assert.rejects(read(), { code: 'EXECUTOR_LOST', message: /said nothing for 0\.5 s/ });
      while (!isEnded) await new Promise((resolve) => setTimeout(resolve, 10));
    });

  it('is missed when it was asked how it is', async () => {
    const away = createWorkerExecutor(parseWorkerAddress('127.0.0.1:1'), {
      ...{ coordinator: 'coordinator-1', key, now: Date.now, stallMs: 500, heartbeatTimeoutMs: 500 },
    });
    try {
      assert.equal(away.isSilent, false);
      await assert.rejects(away.heartbeat(), { code: 'EXECUTOR_LOST' });
      assert.equal(away.isSilent, true);
    } finally {
      away.close();
    }
    await executor.heartbeat();
    assert.equal(executor.isSilent, false);
  });

  it('is not missed by who does not read', async () => {
    answer = async function* () {
      yield* [start, rows(), end(), end({ split: 2, rowCount: 0n })];
    };
    const run = await executor.start(task, never);
    await new Promise((resolve) => setTimeout(resolve, 700));
    const events: SplitEvent[] = [];
    for await (const event of run.events) events.push(event);
    assert.equal(events.length, 3);
  });
});

const task: FragmentTask = {
  request: {
    protocolVersion: fragmentProtocolVersion,
    queryId: 'query-1',
    fragmentId: 0,
    lane: 'query',
    owner: 'ada 1',
    sql: 'SELECT 1',
    tables: [],
    views: [],
    defaultCatalog: 'lake',
    defaultSchema: undefined,
    settings: {},
    setup: [],
    arrow: 'lossless',
    limits: { memoryBytes: 2 ** 28, resultBytes: 2 ** 28, timeoutMs: 60_000 },
    splits: [1, 2].map((id) => ({ id, scan: emptyScan() })),
  },
  stores: [],
};

async function ask(messages: readonly (Message | Error)[]): Promise<readonly SplitEvent[]> {
  answer = async function* () {
    for (const message of messages) {
      if (message instanceof Error) throw message;
      yield message;
    }
  };
  return await read();
}

async function read(): Promise<readonly SplitEvent[]> {
  const events: SplitEvent[] = [];
  const run = await executor.start(task, never);
  for await (const event of run.events) events.push(event);
  return events;
}

interface Arrow {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

function frame(content: WorkerFrame, arrow: Arrow = { header: nothing, body: nothing }): Message {
  return { metadata: encodeWorkerFrame(content), ...arrow, release: () => undefined };
}

function messagesOf(columns: Readonly<Record<string, readonly unknown[]>>): readonly [Arrow, Arrow] {
  const vectors = Object.fromEntries(
    Object.entries(columns).map(([name, values]) => [
      name,
      vectorFromArray(values, name === 'id' ? new Int64() : new Utf8()),
    ]),
  );
  const [first, second] = splitIpcStream(tableToIPC(new Table(vectors)));
  assert.ok(first !== undefined && second !== undefined);
  return [first, second];
}

function emptyScan() {
  const counts = {
    manifestsTotal: 0,
    manifestsRead: 0,
    filesTotal: 0,
    filesPlanned: 0,
    filesPruned: 0,
    rowGroupsTotal: 0,
    rowGroupsPlanned: 0,
    rowGroupsPrunedByStatistics: 0,
    rowGroupsPrunedByBloom: 0,
    bytesTotal: 0,
    bytesPlanned: 0,
    rowsPlanned: 0,
  };
  return { tableName: 'lake.s.t', tableUuid: 'u', snapshotId: undefined, columns: [], groups: [], counts };
}
