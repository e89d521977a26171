/** What may come to the port of a worker that is not a coordinator's: refused, and the worker goes on. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createWorkerClient, type WorkerClient } from '@svc/flight';
import {
  callKey,
  encodeCoordinatorFrame,
  encodeTask,
  type FragmentTask,
  remoteTask,
  type SigningOptions,
  signHeartbeat,
  signTask,
} from '@svc/fragment-fn';
import { seededRandom } from '../soak/seeded-random.js';
import { ordersTask } from './support/split-tasks.js';
import { makeTables, standardTables } from './support/tables.js';
import { until } from './support/until.js';
import { startWorkerProcess, type WorkerProcess, workerSecret } from './support/worker-process.js';

const never = new AbortController().signal;
const owner = 'ada 1';
const queryId = 'query-1';
const nothing = new Uint8Array(0);

let folder: string;
let worker: WorkerProcess;
let client: WorkerClient;
let task: FragmentTask;
let bytes: Uint8Array;
let bootId: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-port-'));
  const { 'sales.orders': sql = '' } = standardTables;
  const tables = await makeTables(join(folder, 'warehouse'), { 'sales.orders': sql });
  task = await ordersTask(tables.get('sales.orders') ?? '', { owner });
  bytes = encodeTask(await remoteTask(task, never));
  worker = await startWorkerProcess(join(folder, 'worker'));
  const [host = '', port = ''] = worker.address.split(':');
  client = createWorkerClient({ host, port: Number(port), keepalive: { timeMs: 10_000, timeoutMs: 10_000 } });
  ({ bootId } = await worker.executor().heartbeat());
});
after(async () => {
  client?.close();
  await worker?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe('the port of a worker', () => {
  it('takes what is signed as it is sent', async () => {
    assert.equal(await send(await signature(), bytes), undefined);
    await lives();
  });

  it('refuses a task that is changed by a byte, wherever that is', async () => {
    const random = seededRandom(7);
    for (let round = 0; round < 20; round += 1) {
      const changed = Uint8Array.from(bytes);
      const at = random.between(0, changed.length - 1);
      changed[at] = (changed[at] ?? 0) ^ (1 << random.between(0, 7));
      await refused(signature(), changed, /not the one that was signed/);
    }
    await refused(
      signature(),
      Buffer.concat([bytes, Buffer.from('x')]),
      /not the one that was signed|More of/,
    );
    await lives();
  });

  it('refuses a signature that is old, of the future, missing, used, of a heartbeat, or of another secret', async () => {
    const at = (offsetMs: number): SigningOptions => ({
      key: callKey(workerSecret),
      now: () => Date.now() + offsetMs,
    });
    const minutes = 60_000;
    await refused(signature(at(-5 * minutes)), bytes, /expired/);
    await refused(signature(at(5 * minutes)), bytes, /iat/);
    await refused(Promise.resolve(''), bytes, /not signed|malformed/);
    const used = await signature();
    assert.equal(await send(used, bytes), undefined);
    await refused(Promise.resolve(used), bytes, /used before/);
    const heartbeat = await signHeartbeat({ ...at(0), coordinator: 'coordinator-1' });
    await refused(Promise.resolve(heartbeat.token), bytes, /not signed for a task/);
    const other = { ...at(0), key: callKey('another secret that is long enough too') };
    await refused(signature(other), bytes, /another secret/);
    await refused(signature(at(0), { bootId: 'svc-worker-before' }), bytes, /before its restart/);
    // A minute between two clocks is nothing.
    for (const skew of [-minutes, minutes])
      assert.equal(await send(await signature(at(skew)), bytes), undefined);
    await lives();
  });

  it("refuses another user's task, and another query's", async () => {
    await refused(signature(undefined, { owner: 'bob 1' }), bytes, /another user or query/);
    await refused(signature(undefined, { queryId: 'query-2' }), bytes, /another user or query/);
    await lives();
  });

  it('refuses what is signed and no task', async () => {
    for (const garbage of [randomBytes(1000), nothing, bytes.subarray(0, 100)])
      await refused(sign(garbage), garbage, /./);
    const frames = [
      encodeCoordinatorFrame({
        kind: 'no-grant',
        id: 1,
        error: { code: 'STORAGE_ERROR', message: 'x', retryable: false },
      }),
      randomBytes(64),
    ];
    for (const metadata of frames) {
      using call = client.exchange(await signature(), never);
      await call.send({ header: nothing, metadata, body: bytes });
      await assert.rejects(call.read(), { code: 'FRAGMENT_REFUSED' });
    }
    await lives();
  });

  it('refuses frames and tasks that are too large', async () => {
    const huge = Buffer.alloc(48 * 2 ** 20);
    using call = client.exchange(await sign(huge), never);
    const sending = call.send({
      header: nothing,
      metadata: encodeCoordinatorFrame({ kind: 'piece' }),
      body: huge,
    });
    await assert.rejects(async () => {
      await sending;
      while ((await call.read()) !== undefined);
    });
    await lives();
  });

  it('goes on when bytes come that are no call at all', async () => {
    for (const garbage of [randomBytes(100_000), Buffer.from('GET / HTTP/1.1\r\n\r\n'), preface(2 ** 24 - 1)])
      await sendRaw(garbage);
    await lives();
  });

  it('has kept nothing of all this', async () => {
    await until('no file is left', async () => {
      // What is being removed may be gone before it is listed.
      const folder = join(worker.folder, 'data', 'engine');
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => undefined);
      if (entries === undefined) return false;
      return entries.every((entry) => !entry.isFile() || entry.name.endsWith('.lock'));
    });
    const said = worker.svc.stdout() + worker.svc.stderr();
    for (const secret of [workerSecret, owner, 'eyJ']) assert.ok(!said.includes(secret), secret);
  });
});

/** It still runs what it should. */
async function lives(): Promise<void> {
  assert.equal(worker.svc.process.exitCode, null);
  const run = await worker.executor().start(task, never);
  let ends = 0;
  for await (const { kind } of run.events) if (kind === 'end') ends += 1;
  assert.equal(ends, task.request.splits.length);
}

type Subject = Parameters<typeof signTask>[1];

async function signature(
  options: SigningOptions = { key: callKey(workerSecret), now: Date.now },
  subject: Partial<Subject> = {},
): Promise<string> {
  return await signTask(
    bytes,
    { owner, queryId, bootId, ...subject },
    { coordinator: 'coordinator-1', ...options },
  );
}

async function sign(signed: Uint8Array): Promise<string> {
  const options = { coordinator: 'coordinator-1', key: callKey(workerSecret), now: Date.now };
  return await signTask(signed, { owner, queryId, bootId }, options);
}

/** Reads the answer to its end; the error it ends with, if it does. */
async function send(token: string, sent: Uint8Array): Promise<unknown> {
  using call = client.exchange(token, never);
  try {
    const metadata = encodeCoordinatorFrame({ kind: 'piece' });
    await call.send({ header: nothing, metadata, body: sent });
    while ((await call.read()) !== undefined);
    return undefined;
  } catch (error) {
    return error;
  }
}

async function refused(token: Promise<string>, sent: Uint8Array, message: RegExp): Promise<void> {
  const error = await send(await token, sent);
  assert.ok(error instanceof Error, 'it was taken');
  assert.equal((error as { readonly code?: string }).code, 'FRAGMENT_REFUSED', error.message);
  assert.match(error.message, message);
}

/** HTTP/2 as it begins, and a frame that says it is as long as none may be. */
function preface(length: number): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  return Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), head, randomBytes(70_000)]);
}

async function sendRaw(garbage: Buffer): Promise<void> {
  const [host = '', port = ''] = worker.address.split(':');
  const socket = connect(Number(port), host).on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(garbage);
  const closed = once(socket, 'close').catch(() => undefined);
  socket.setTimeout(1000, () => socket.destroy());
  await closed;
}
