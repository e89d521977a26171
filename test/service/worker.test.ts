/** A worker as a process, and the coordinator's end of its calls to it. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { QueryError } from '@svc/base';
import type { SplitEvent, SplitRun } from '@svc/fragment-fn';
import { createFileStore, type ObjectStore } from '@svc/lake';
import { generate } from 'selfsigned';
import { freePorts } from './support/free-ports.js';
import { tableOf, rowsOf as tableRows } from './support/results.js';
import { startService } from './support/service.js';
import { ordersTask } from './support/split-tasks.js';
import { makeTables, standardTables } from './support/tables.js';
import { until } from './support/until.js';
import { startWorkerProcess, type WorkerProcess, workerSecret } from './support/worker-process.js';

const never = new AbortController().signal;
/** Works for minutes before its first row. */
const endless = 'SELECT count(*) AS n FROM orders a, orders b, orders c WHERE a.id + b.id * c.id = -1';
/** 1.6 M rows of each split: more than the wire holds for a reader who does not read. */
const large = 'SELECT a.id, a.region FROM orders a, range(256)';

let folder: string;
let orders: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-worker-'));
  const { 'sales.orders': sql = '' } = standardTables;
  orders = (await makeTables(join(folder, 'warehouse'), { 'sales.orders': sql })).get('sales.orders') ?? '';
});
after(async () => await rm(folder, { recursive: true, force: true }));

describe('svc worker', () => {
  it('runs the splits of a task, and nothing of it is left', async () => {
    await using worker = await startWorkerProcess(join(folder, 'runs'));
    const executor = worker.executor();
    const run = await executor.start(await ordersTask(orders), never);
    const events = await readAll(run);
    assert.deepEqual(
      events.map((event) => `${event.kind} ${event.split}`),
      ['message 10', 'end 10', 'message 11', 'end 11', 'message 12', 'end 12'],
    );
    assert.deepEqual(rowsOf(run, events), [
      [8192n, 0n, 8191n, 'south'],
      [6144n, 8192n, 14_335n, 'south'],
      [6144n, 14_336n, 20_479n, 'south'],
    ]);
    assert.equal(executor.running, 0);
    await idle(worker);
    await isClean(worker);
    assert.equal(await metric(worker, 'svc_worker_tasks_total{outcome="finished"}'), 1);
  });

  it('answers probes as a worker', async () => {
    await using worker = await startWorkerProcess(join(folder, 'probes'));
    assert.equal((await fetch(`${worker.healthUrl}/healthz`)).status, 200);
    assert.equal((await fetch(`${worker.healthUrl}/readyz`)).status, 200);
    const { status, node, workers } = await statusOf(worker);
    assert.deepEqual([status, node.role, workers], ['ACTIVE', 'worker', null]);
    const refresh = await fetch(`${worker.healthUrl}/api/v1/catalogs/refresh`, {
      method: 'POST',
      headers: { authorization: 'Bearer x' },
    });
    assert.equal(refresh.status, 403);
    const facts = await worker.executor().heartbeat();
    assert.deepEqual([facts.slots, facts.running, facts.isDraining], [2, 0, false]);
  });

  it("passes a fragment's own errors on", async () => {
    await using worker = await startWorkerProcess(join(folder, 'errors'));
    const executor = worker.executor();
    const wrong = await ordersTask(orders, { sql: 'SELECT nothing FROM orders' });
    await assert.rejects(executor.start(wrong, never), { code: 'BINDING_ERROR' });
    const late = await ordersTask(orders, {
      sql: "SELECT (id || CASE WHEN id > 9000 THEN 'x' ELSE '' END)::BIGINT AS n FROM orders",
    });
    const events: SplitEvent[] = [];
    await assert.rejects(
      async () => {
        for await (const event of (await executor.start(late, never)).events) events.push(event);
      },
      { code: 'EVALUATION_ERROR' },
    );
    assert.ok(events.some(({ kind, split }) => kind === 'end' && split === 10));
    assert.equal(executor.running, 0);
  });

  it('that is killed is lost to its coordinator', async () => {
    await using worker = await startWorkerProcess(join(folder, 'killed'));
    const executor = worker.executor();
    const started = executor.start(await ordersTask(orders, { sql: endless }), never);
    const run = await executor.start(await ordersTask(orders, { sql: large }), never);
    const reading = readAll(run);
    worker.svc.process.kill('SIGKILL');
    await assert.rejects(reading, isLost(worker));
    await assert.rejects(started, isLost(worker));
    await assert.rejects(executor.start(await ordersTask(orders), never), isLost(worker));
    await assert.rejects(executor.heartbeat(), isLost(worker));
  });

  it('that is started again under its address takes tasks, and none that were signed before', async () => {
    const env = { SVC_WORKER__PORT: String((await freePorts(1))[0]) };
    const first = await startWorkerProcess(join(folder, 'again'), { env });
    const executor = first.executor();
    const before = await executor.heartbeat();
    first.svc.process.kill('SIGKILL');
    await first.svc.exit;
    await using second = await startWorkerProcess(join(folder, 'again'), { env });
    assert.equal(second.address, first.address);
    assert.equal((await rowsOfRun(await executor.start(await ordersTask(orders), never))).length, 3);
    assert.notEqual(executor.facts?.bootId, before.bootId);
    assert.match(second.svc.stdout(), /before its restart/);
    await first[Symbol.asyncDispose]();
  });

  it('ends a task whose caller goes away', async () => {
    await using worker = await startWorkerProcess(join(folder, 'cancelled'));
    const executor = worker.executor();
    const stop = new AbortController();
    const started = executor.start(await ordersTask(orders, { sql: endless }), stop.signal);
    await until('it runs', async () => (await metric(worker, 'svc_worker_running_tasks')) === 1);
    stop.abort();
    await assert.rejects(started, { code: 'CANCELLED' });
    await idle(worker);
    const unread = await executor.start(await ordersTask(orders, { sql: large }), never);
    await unread.events[Symbol.asyncIterator]().return?.();
    await idle(worker);
    assert.equal(executor.running, 0);
    await isClean(worker);
    assert.equal(await metric(worker, 'svc_worker_tasks_total{outcome="cancelled"}'), 2);
  });

  it('drains: what runs finishes, new tasks go elsewhere', async () => {
    await using worker = await startWorkerProcess(join(folder, 'drains'));
    const executor = worker.executor();
    const run = await executor.start(await ordersTask(orders, { sql: large }), never);
    const iterator = run.events[Symbol.asyncIterator]();
    await iterator.next();
    worker.svc.process.kill('SIGTERM');
    await until('it is not ready', async () => (await fetch(`${worker.healthUrl}/readyz`)).status === 503);
    assert.equal((await executor.heartbeat()).isDraining, true);
    await assert.rejects(executor.start(await ordersTask(orders), never), isLeaving(worker));
    let ends = 0;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
      if (next.value.kind === 'end') ends += 1;
    assert.equal(ends, 3);
    assert.deepEqual(await worker.svc.exit, [0, null]);
  });

  it('stops at once at the second signal', async () => {
    await using worker = await startWorkerProcess(join(folder, 'forced'));
    const started = worker.executor().start(await ordersTask(orders, { sql: endless }), never);
    await until('it runs', async () => (await metric(worker, 'svc_worker_running_tasks')) === 1);
    worker.svc.process.kill('SIGTERM');
    await until('it drains', () => worker.svc.stderr().includes('Draining'));
    worker.svc.process.kill('SIGTERM');
    await assert.rejects(started, isLost(worker));
    assert.deepEqual(await worker.svc.exit, [1, null]);
  });

  it('lets two coordinators take turns', async () => {
    await using worker = await startWorkerProcess(join(folder, 'two'), {
      env: { SVC_QUERY__MAX_CONCURRENT: '1' },
    });
    const [first, second] = [worker.executor(), worker.executor({ coordinator: 'coordinator-2' })];
    const task = await ordersTask(orders);
    const runs = [first, first, first, second, second].map(async (executor) =>
      rowsOfRun(await executor.start(task, never)),
    );
    for (const rows of await Promise.all(runs)) assert.equal(rows.length, 3);
  });

  it('asks for credentials of a longer life in the call of the task, and shows them to nobody', async () => {
    await using worker = await startWorkerProcess(join(folder, 'secrets'), { env: { RUST_LOG: 'trace' } });
    let asked = 0;
    const store: ObjectStore = {
      ...createFileStore(),
      grant: async () => {
        asked += 1;
        return {
          kind: 's3',
          scope: 'PLANTED-scope',
          prefixes: [
            {
              prefix: 's3://planted/',
              endpoint: 'http://127.0.0.1:1',
              region: 'us-east-1',
              pathStyle: true,
              accessKeyId: `PLANTEDKEY${asked}`,
              secretAccessKey: `PLANTED-secret-${asked}`,
              sessionToken: `PLANTED-token-${asked}`,
              expiresAtMs: asked === 1 ? Date.now() - 1000 : Date.now() + 3_600_000,
            },
          ],
        };
      },
    };
    const { request } = await ordersTask(orders, { owner: 'PLANTED-owner' });
    const splits = request.splits.map((split) => ({
      ...split,
      scan: {
        ...split.scan,
        groups: split.scan.groups.map((group) => ({
          ...group,
          files: group.files.map((file) => ({ ...file, location: 's3://planted/orders.parquet' })),
        })),
      },
    }));
    await assert.rejects(
      async () =>
        await readAll(
          await worker.executor().start({ request: { ...request, splits }, stores: [store] }, never),
        ),
      (error: QueryError) => {
        assert.doesNotMatch(error.message, /PLANTED(?!KEY)|PLANTEDKEY/);
        return error.code === 'STORAGE_ERROR';
      },
    );
    assert.equal(asked, 2);
    assert.doesNotMatch(worker.svc.stdout() + worker.svc.stderr(), /PLANTED/);
    assert.ok(!(worker.svc.stdout() + worker.svc.stderr()).includes(workerSecret));
    await isClean(worker);
  });

  it('does nothing for who does not know the secret', async () => {
    await using worker = await startWorkerProcess(join(folder, 'stranger'));
    const stranger = worker.executor({ secret: 'another secret that is long enough too' });
    await assert.rejects(stranger.heartbeat(), isLost(worker));
    await assert.rejects(stranger.start(await ordersTask(orders), never), isLost(worker));
    assert.match(worker.svc.stdout(), /signed with another secret/);
  });

  it('reads no files of its own disk unless it was told to', async () => {
    await using worker = await startWorkerProcess(join(folder, 'files'), {
      env: { SVC_WORKER__ALLOW_LOCAL_FILES: 'false' },
    });
    await assert.rejects(worker.executor().start(await ordersTask(orders), never), {
      code: 'NOT_SUPPORTED',
    });
  });

  it('does not start without a secret', async () => {
    await assert.rejects(
      startWorkerProcess(join(folder, 'bare'), { env: { SVC_WORKER__SECRET: '' } }),
      /worker\.secret/,
    );
    await assert.rejects(
      startWorkerProcess(join(folder, 'short'), { env: { SVC_WORKER__SECRET: 'short' } }),
      /at least 32 bytes/,
    );
  });

  it('speaks TLS, with those alone who show a certificate where it is to know them', async () => {
    const pems = { known: await certificate(), stranger: await certificate() };
    const files = {
      cert: join(folder, 'cert.pem'),
      key: join(folder, 'key.pem'),
      ca: join(folder, 'ca.pem'),
    };
    await writeFile(files.cert, pems.known.cert);
    await writeFile(files.key, pems.known.key);
    await writeFile(files.ca, pems.known.cert);
    await using worker = await startWorkerProcess(join(folder, 'tls'), {
      env: {
        SVC_WORKER__TLS_CERT: files.cert,
        SVC_WORKER__TLS_KEY: files.key,
        SVC_WORKER__TLS_CLIENT_CA: files.ca,
      },
    });
    const trusting = { rootCertsPem: pems.known.cert, serverName: 'workers.test' };
    const shown = ({ cert, key }: typeof pems.known) => ({ certPem: cert, keyPem: key });
    const known = worker.executor({ tls: { ...trusting, ...shown(pems.known) } });
    assert.equal((await rowsOfRun(await known.start(await ordersTask(orders), never))).length, 3);
    for (const tls of [
      trusting,
      { ...trusting, ...shown(pems.stranger) },
      { ...trusting, ...shown(pems.known), rootCertsPem: pems.stranger.cert },
      { ...trusting, ...shown(pems.known), serverName: 'other.test' },
      undefined,
    ])
      await assert.rejects(worker.executor(tls && { tls }).heartbeat(), isLost(worker));
  });

  it('is found, and missed, by a coordinator', async () => {
    await using worker = await startWorkerProcess(join(folder, 'found'));
    await using service = await startService({
      config: {
        'worker.secret': workerSecret,
        'worker.addresses': `${worker.address},127.0.0.1:1`,
        'worker.heartbeat_interval_secs': 0.1,
      },
    });
    await until('it is healthy', async () => (await statusOf(service)).workers?.healthy === 1);
    assert.deepEqual((await statusOf(service)).workers, {
      total: 2,
      healthy: 1,
      healthyUrls: [`grpc://${worker.address}`],
    });
    assert.equal(await service.metric('svc_healthy_workers'), 1);
    worker.svc.process.kill('SIGKILL');
    await until('it is missed', async () => (await service.metric('svc_healthy_workers')) === 0);
  });
});

async function certificate(): Promise<{ readonly cert: string; readonly key: string }> {
  const altNames = [{ type: 2, value: 'workers.test' }] as const;
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'workers.test' }], {
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [...altNames] }],
  });
  return { cert, key };
}

function isLost(worker: WorkerProcess): (error: QueryError) => boolean {
  return (error) => error.code === 'EXECUTOR_LOST' && error.message.includes(`worker ${worker.address}`);
}

/** No fault of it. */
function isLeaving(worker: WorkerProcess): (error: QueryError) => boolean {
  return (error) => error.code === 'SHUTTING_DOWN' && error.message.includes(`worker ${worker.address}`);
}

async function readAll(run: SplitRun): Promise<readonly SplitEvent[]> {
  const events: SplitEvent[] = [];
  for await (const event of run.events) events.push(event);
  return events;
}

async function rowsOfRun(run: SplitRun): Promise<readonly (readonly unknown[])[]> {
  return rowsOf(run, await readAll(run));
}

function rowsOf(run: SplitRun, events: readonly SplitEvent[]): readonly (readonly unknown[])[] {
  const messages = events.flatMap((event) => (event.kind === 'message' ? [event.message] : []));
  return tableRows(tableOf([{ header: run.schema.subarray(8), body: new Uint8Array(0) }, ...messages]));
}

async function metric(worker: WorkerProcess, sample: string): Promise<number> {
  const text = await (await fetch(worker.metricsUrl)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
  return Number(line?.slice(sample.length + 1));
}

async function idle(worker: WorkerProcess): Promise<void> {
  await until('no task runs', async () => (await metric(worker, 'svc_worker_running_tasks')) === 0);
}

interface Status {
  readonly status: string;
  readonly node: { readonly role: string };
  readonly workers: { readonly healthy: number } | null;
}

async function statusOf({ healthUrl }: { readonly healthUrl: string }): Promise<Status> {
  return (await (await fetch(`${healthUrl}/api/v1/status`)).json()) as Status;
}

/** An engine tidies up when it has been given back. */
async function isClean(worker: WorkerProcess): Promise<void> {
  await until('nothing is left of the task', async () => (await staged(worker)).length === 0);
}

/** What lies in the folders of the engines, but for the lock of their process. */
async function staged(worker: WorkerProcess): Promise<readonly string[]> {
  const entries = await readdir(join(worker.folder, 'data', 'engine'), {
    recursive: true,
    withFileTypes: true,
  });
  return entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.lock')).map(({ name }) => name);
}
