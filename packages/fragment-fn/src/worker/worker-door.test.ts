import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { silentLogger } from '@svc/base';
import type { SplitEvent, SplitRun } from '../splits/split-task.js';
import { plainRequest, s3Grant } from '../test-support/test-task.js';
import { encodeTask, type RemoteTask } from '../wire/task-codec.js';
import { decodeWorkerFrame, encodeCoordinatorFrame, type WorkerFrame } from './frames.js';
import { callKey, signHeartbeat, signTask } from './signature.js';
import {
  createWorkerDoor,
  type RunTaskOptions,
  type TaskOutcome,
  type WorkerDoorOptions,
} from './worker-door.js';

const key = callKey('a secret that is long enough for this');
const bootId = 'worker-a';
const coordinator = 'coordinator-1';
const statistics = {
  filesRead: 0,
  bytesStaged: 0,
  bytesFetched: 0,
  rowsScanned: 0n,
  rowsReturned: 1n,
  spilledBytes: 0n,
  peakMemoryBytes: 0n,
  stagingMs: 0,
  engineMs: 0,
};
const piece = (body: Uint8Array) => ({ metadata: encodeCoordinatorFrame({ kind: 'piece' }), body });

function openDoor(run: WorkerDoorOptions['run'] = async () => oneRow()) {
  const outcomes: TaskOutcome[] = [];
  const door = createWorkerDoor({
    key,
    bootId,
    version: '1',
    slots: 1,
    now: Date.now,
    logger: silentLogger,
    aliveMs: 60_000,
    run,
    onTaskEnd: (outcome) => outcomes.push(outcome),
  });
  const context = { signal: new AbortController().signal, clientAddress: '127.0.0.1' };
  const call = async (
    task: RemoteTask,
    messages: (bytes: Uint8Array) => readonly { metadata: Uint8Array; body: Uint8Array }[] = (bytes) => [
      piece(bytes),
    ],
    subject: { readonly owner?: string; readonly queryId?: string } = {},
  ): Promise<readonly WorkerFrame[]> => {
    const bytes = encodeTask(task);
    const { owner, queryId } = { ...task.request, ...subject };
    const token = await signTask(bytes, { owner, queryId, bootId }, { key, coordinator, now: Date.now });
    const left = [...messages(bytes)];
    const frames: WorkerFrame[] = [];
    const exchange = { read: async () => left.shift() };
    for await (const message of door.exchange(await door.admit(token, context), exchange, context)) {
      frames.push(decodeWorkerFrame(message.metadata));
      message.release();
    }
    return frames;
  };
  return { door, call, context, outcomes };
}

const task: RemoteTask = { request: plainRequest(), grants: [] };

describe('the door of a worker', () => {
  it('runs the task that was signed, for its coordinator and user alone', async () => {
    const owners: string[] = [];
    const { call, outcomes, door } = openDoor(async ({ request }) => {
      owners.push(request.owner);
      return oneRow();
    });
    const frames = await call(task, (bytes) => [piece(bytes.subarray(0, 10)), piece(bytes.subarray(10))]);
    assert.deepEqual(frames.map(nameOf), ['schema', 'message', 'end']);
    assert.deepEqual(owners, [`${coordinator} ${task.request.owner}`]);
    assert.deepEqual(outcomes, ['finished']);
    assert.equal(door.slots.running, 0);
  });

  const changes: readonly (readonly [string, Parameters<ReturnType<typeof openDoor>['call']>[1]])[] = [
    ['changed by a byte', (bytes) => [piece(flipped(bytes, 20))]],
    ['cut', (bytes) => [piece(bytes.subarray(0, -1))]],
    ['longer', (bytes) => [piece(bytes), piece(Buffer.of(1))].reverse()],
    ['another one', (bytes) => [piece(randomBytes(bytes.byteLength))]],
    ['in empty pieces', () => [piece(new Uint8Array(0))]],
    [
      'no piece',
      (bytes) => [
        { metadata: encodeCoordinatorFrame({ kind: 'grant', id: 1, grant: s3Grant }), body: bytes },
      ],
    ],
    ['of no frames', (bytes) => [{ metadata: Buffer.of(99), body: bytes }]],
    ['missing', () => []],
  ];
  for (const [name, messages] of changes)
    it(`refuses a task that is ${name}`, async () => {
      const { call, door } = openDoor(() => assert.fail('it ran'));
      await assert.rejects(call(task, messages), { code: 'FRAGMENT_REFUSED' });
      assert.equal(door.slots.running, 0);
    });

  it("refuses another user's task, and one of another query", async () => {
    const { call } = openDoor(() => assert.fail('it ran'));
    await assert.rejects(call(task, undefined, { owner: 'eve 1' }), { code: 'FRAGMENT_REFUSED' });
    await assert.rejects(call(task, undefined, { queryId: 'other' }), { code: 'FRAGMENT_REFUSED' });
  });

  it('takes a heartbeat for no task', async () => {
    const { door, context } = openDoor();
    const { token } = await signHeartbeat({ key, coordinator, now: Date.now });
    const call = await door.admit(token, context);
    const frames = door.exchange(call, { read: async () => undefined }, context)[Symbol.asyncIterator]();
    await assert.rejects(frames.next(), { code: 'FRAGMENT_REFUSED' });
    await assert.rejects(door.action(call, 'shutdown'), { code: 'NOT_SUPPORTED' });
  });

  it('answers what goes wrong as the last event', async () => {
    const { call, outcomes } = openDoor(async () => {
      throw new Error('PLANTED');
    });
    const [last, ...more] = await call(task);
    assert.deepEqual(more, []);
    assert.ok(last?.kind === 'event' && last.event.kind === 'error');
    assert.equal(last.event.error.code, 'INTERNAL_ERROR');
    assert.doesNotMatch(last.event.error.message, /PLANTED/);
    assert.deepEqual(outcomes, ['failed']);
  });

  it('asks for credentials before there is a schema, and gives the task what comes back', async () => {
    const granted: unknown[] = [];
    const { call } = openDoor(async (_task, { renew, signal }) => {
      granted.push(...(await Promise.all([renew(3, signal), renew(4, signal)])));
      await assert.rejects(renew(5, signal), { code: 'STORAGE_ACCESS_DENIED' });
      await assert.rejects(renew(6, signal), { code: 'STORAGE_ACCESS_DENIED' });
      return oneRow();
    });
    const second = { ...s3Grant, scope: 'second' };
    const refusal = { code: 'STORAGE_ACCESS_DENIED', message: 'No more.', retryable: false } as const;
    const frames = await call(task, (bytes) => [
      piece(bytes),
      { metadata: encodeCoordinatorFrame({ kind: 'grant', id: 2, grant: second }), body: Buffer.alloc(0) },
      { metadata: encodeCoordinatorFrame({ kind: 'grant', id: 1, grant: s3Grant }), body: Buffer.alloc(0) },
      {
        metadata: encodeCoordinatorFrame({ kind: 'no-grant', id: 3, error: refusal }),
        body: Buffer.alloc(0),
      },
    ]);
    assert.deepEqual(granted, [s3Grant, second]);
    assert.deepEqual(frames.map(nameOf), [
      'renew 3',
      'renew 4',
      'renew 5',
      'renew 6',
      'schema',
      'message',
      'end',
    ]);
  });

  it('ends the run of who does not read on', async () => {
    let ended = 0;
    const { door, context, outcomes } = openDoor(async (_task, options) => oneRow(options, () => ended++));
    const bytes = encodeTask(task);
    const { owner, queryId } = task.request;
    const token = await signTask(bytes, { owner, queryId, bootId }, { key, coordinator, now: Date.now });
    const call = await door.admit(token, context);
    for await (const _frame of door.exchange(call, { read: async () => piece(bytes) }, context)) break;
    assert.equal(ended, 1);
    assert.equal(door.slots.running, 0);
    assert.deepEqual(outcomes, ['cancelled']);
  });
});

function oneRow(_options?: RunTaskOptions, onEnd: () => void = () => undefined): SplitRun {
  const message = {
    kind: 'batch' as const,
    header: Buffer.alloc(8),
    body: Buffer.alloc(8),
    rowCount: 1,
    release: () => undefined,
  };
  const events = (async function* (): AsyncGenerator<SplitEvent, void, undefined> {
    yield { kind: 'message', split: 0, message };
    yield { kind: 'end', split: 0, rowCount: 1n, statistics };
  })();
  return {
    schema: Buffer.alloc(16),
    events: {
      [Symbol.asyncIterator]: () => ({
        next: () => events.next(),
        async return() {
          onEnd();
          return await events.return();
        },
      }),
    },
  };
}

function nameOf(frame: WorkerFrame): string {
  if (frame.kind === 'renew') return `renew ${frame.table}`;
  return frame.kind === 'event' ? frame.event.kind : frame.kind;
}

function flipped(bytes: Uint8Array, place: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[place] = (copy[place] ?? 0) ^ 1;
  return copy;
}
