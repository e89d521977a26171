/** The function's own bundle under the emulator, behind the coordinator's executor. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import type { FragmentTask, SplitRequest } from '@svc/fragment-fn';
import type { ObjectStore } from '@svc/lake';
import { never, rowsOfRun, startLambda, type TestLambda, tableTask, taskOf } from './support/lambda.js';
import { makeTables, standardTables } from './support/tables.js';
import { until } from './support/until.js';

const MB = 2 ** 20;
let lambda: TestLambda;
/** With ten row groups, each a split. */
let orders: string;
before(async () => {
  orders = await mkdtemp(join(tmpdir(), 'svc-lambda-tables-'));
  await makeTables(orders, standardTables);
});
after(async () => await rm(orders, { recursive: true, force: true }));
afterEach(async () => await lambda[Symbol.asyncDispose]());

describe('a fragment on a function', () => {
  it('answers its rows in the stream, and again in the same sandbox', async () => {
    lambda = await startLambda();
    for (const n of [3, 4]) {
      const run = await lambda.executor.start(taskOf(`SELECT i::INTEGER AS i FROM range(${n}) r(i)`), never);
      assert.deepEqual(
        (await rowsOfRun(run)).flat(),
        Array.from({ length: n }, (_, i) => i),
      );
    }
    assert.equal(lambda.emulator.counts.coldStarts, 1);
    assert.match(await lambda.metrics(), /svc_lambda_cold_starts_total 1\b/);
    assert.match(await lambda.metrics(), /svc_lambda_invocations_total\{outcome="ok"\} 2\b/);
    assert.deepEqual(lambda.spool.requests, []);
  });

  it('puts what is more than 4 MB to the spool, which is empty afterwards', async () => {
    lambda = await startLambda({ executor: { partBytes: 3_000_000 } });
    const run = await lambda.executor.start(taskOf('SELECT i AS i FROM range(900000) r(i)'), never);
    const rows = await rowsOfRun(run);
    assert.equal(rows.length, 900_000);
    assert.ok(rows.every(([i], index) => i === BigInt(index)));
    assert.ok(lambda.spool.requests.filter((request) => request.startsWith('PUT')).length >= 1);
    assert.equal(lambda.spool.objects.size, 0);
  });

  it('leaves nothing in the spool when it is given up while its function puts there what it has', async () => {
    lambda = await startLambda({ executor: { inlineBytes: 0, partBytes: 1_000_000 } });
    const { spool } = lambda;
    let isPutting = false;
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    spool.onWrite = async () => {
      isPutting = true;
      await held;
    };
    const stop = new AbortController();
    const cut = lambda.executor.start(taskOf('SELECT i FROM range(400000) r(i)'), stop.signal);
    cut.catch(() => undefined);
    await until('the function puts a part', () => isPutting);
    stop.abort(new QueryError('CANCELLED', 'Enough.'));
    await assert.rejects(cut.then(rowsOfRun), /Enough/);
    // Its sandbox does not know that nobody listens.
    letGo();
    await until('the part is there', () => spool.objects.size > 0);
    await until('it is removed', () => spool.objects.size === 0);
  });

  it('is refused by a function without its key, and taken by one with two', async () => {
    for (const keys of ['none', 'other'] as const) {
      lambda = await startLambda({ keys });
      await assert.rejects(lambda.executor.start(taskOf('SELECT 1'), never), refused);
      await lambda[Symbol.asyncDispose]();
    }
    lambda = await startLambda({ keys: 'both' });
    assert.deepEqual(await rowsOfRun(await lambda.executor.start(taskOf('SELECT 1'), never)), [[1]]);
  });

  it("tells the fragment's own errors", async () => {
    lambda = await startLambda();
    const failing = async () =>
      await rowsOfRun(await lambda.executor.start(taskOf("SELECT 'no number'::INTEGER"), never));
    await assert.rejects(failing, /Could not convert string 'no number' to INT32/);
    assert.match(await lambda.metrics(), /svc_lambda_invocations_total\{outcome="failed"\} 1\b/);
    for (const sandbox of lambda.emulator.sandboxes()) assert.deepEqual(await readdir(sandbox.folder), []);
  });
});

describe('a fragment of splits on a function', () => {
  const sql =
    'SELECT region, sum(amount) AS amount, count(*) AS n FROM orders GROUP BY region ORDER BY region';

  it('answers the rows of every split, inline and by the spool', async () => {
    lambda = await startLambda({ executor: { inlineBytes: 0 } });
    const spooled = await read(await tableTask(orders, 'sales.orders', 'SELECT id, region FROM orders'));
    assert.equal(spooled.length, 20_480);
    assert.deepEqual(
      spooled.map(([id]) => id).sort((a, b) => Number(a) - Number(b)),
      Array.from({ length: 20_480 }, (_, id) => BigInt(id)),
    );
    assert.ok(lambda.spool.requests.some((request) => request.startsWith('PUT')));
    assert.equal(lambda.spool.objects.size, 0);
    await lambda[Symbol.asyncDispose]();
    lambda = await startLambda();
    const partial = await read(await tableTask(orders, 'sales.orders', sql));
    assert.equal(partial.length, 30);
    assert.equal(
      partial.reduce((sum, row) => sum + BigInt(String(row[2])), 0n),
      20_480n,
    );
    assert.deepEqual(lambda.spool.requests, []);
  });

  it('travels by reference when it is too large for an event', async () => {
    lambda = await startLambda();
    const task = taskOf(`SELECT length('${'x'.repeat(6 * MB)}') AS n`);
    assert.deepEqual(await read(task), [[BigInt(6 * MB)]]);
    assert.ok(lambda.emulator.counts.largestEventBytes < 10_000);
    assert.deepEqual(
      lambda.spool.requests.map((request) => request.split(' ')[0]),
      ['PUT', 'GET', 'DELETE'],
    );
    assert.equal(lambda.spool.objects.size, 0);
  });

  it('is refused when its order in the spool is another one, or none', async () => {
    lambda = await startLambda();
    const task = taskOf(`SELECT length('${'x'.repeat(6 * MB)}') AS n`);
    const { spool } = lambda;
    spool.onRead = (path) => spool.objects.set(path, flipped(spool.objects.get(path), 1000));
    await assert.rejects(read(task), refused);
    spool.onRead = (path) => spool.objects.delete(path);
    await assert.rejects(read(task), lost);
    assert.equal(spool.objects.size, 0);
  });

  it('is lost when a part of its answer has changed, or gone, or cannot be put', async () => {
    lambda = await startLambda({ executor: { inlineBytes: 0 } });
    const { spool } = lambda;
    const task = taskOf('SELECT i FROM range(1000) r(i)');
    for (const change of [
      (path: string) => spool.objects.set(path, flipped(spool.objects.get(path), 100)),
      (path: string) => spool.objects.set(path, Buffer.alloc(10)),
      (path: string) => spool.objects.delete(path),
    ]) {
      spool.onRead = change;
      await assert.rejects(read(task), lost);
    }
    spool.onRead = undefined;
    spool.statusOf = (method) => (method === 'PUT' ? 403 : undefined);
    await assert.rejects(read(task), lost);
    assert.equal(spool.objects.size, 0);
  });
});

describe('a sandbox', () => {
  it('has nothing of a fragment once it is over, when the next user comes', async () => {
    lambda = await startLambda();
    const secret = 'planted-value-of-ada';
    const request: Partial<SplitRequest> = { owner: 'planted-owner-ada 1', queryId: 'planted-query-ada' };
    const grant = {
      kind: 's3',
      scope: 'planted-scope-ada',
      prefixes: [
        {
          prefix: 's3://lake/',
          endpoint: undefined,
          region: undefined,
          pathStyle: undefined,
          accessKeyId: 'planted-key-ada',
          secretAccessKey: 'planted-credential-ada',
          sessionToken: 'planted-token-ada',
          expiresAtMs: undefined,
        },
      ],
    } as const;
    const table = await tableTask(orders, 'sales.items', `SELECT '${secret}' AS s, * FROM items LIMIT 5`);
    const task = { ...table, request: { ...table.request, ...request } };
    assert.equal((await read(task)).length, 10);
    // A failing one has its error's text in hand, too.
    await assert.rejects(read(taskOf(`SELECT '${secret}'::INTEGER`, request)), /planted-value-of-ada/);
    // Storage cannot be reached with what was granted: the fragment ends within its reads.
    const store = { grant: async () => grant } as never as ObjectStore;
    await assert.rejects(read({ request: task.request, stores: [store] }), QueryError);
    const [sandbox] = lambda.emulator.sandboxes();
    assert.ok(sandbox !== undefined && lambda.emulator.counts.coldStarts === 1);
    assert.deepEqual(await readdir(sandbox.folder), []);
    assert.deepEqual(await read(taskOf('SELECT 1', { owner: 'bob 1' })), [[1]]);
    const heap = await sandbox.heap();
    assert.deepEqual([...new Set(heap.match(/planted-[a-z-]*ada/g))], []);
    const log = lambda.emulator.log() + lambda.logLines.join('\n');
    assert.doesNotMatch(log, /planted/);
    for (const planted of lambda.secrets) assert.ok(!log.includes(planted));
  });

  it('that is killed loses the fragment; the next one clears what is left', async () => {
    lambda = await startLambda({ emulator: { faults: { seed: 1, kill: 1 } } });
    const slow = taskOf('SELECT count(*) FROM range(3000000) a(i), range(3000) b(j) WHERE i * j % 7 = 3');
    await assert.rejects(read(slow), lost);
    assert.equal(lambda.emulator.counts.killed, 1);
    lambda.emulator.setFaults(undefined);
    assert.deepEqual(await read(taskOf('SELECT 1')), [[1]]);
    const [sandbox] = lambda.emulator.sandboxes();
    assert.deepEqual(await readdir(sandbox?.folder ?? ''), []);
    assert.match(await lambda.metrics(), /svc_lambda_invocations_total\{outcome="lost"\} 1\b/);
  });

  it('that takes too long, or too much memory, loses the fragment, with the reason', async () => {
    lambda = await startLambda({ emulator: { timeoutMs: 2000 } });
    const endless = taskOf(
      'SELECT count(*) FROM range(3000000) a(i), range(3000000) b(j) WHERE i * j % 7 = 3',
    );
    await assert.rejects(read(endless), /took longer than it may/);
    await lambda[Symbol.asyncDispose]();
    lambda = await startLambda({ emulator: { memoryBytes: 60 * MB } });
    await assert.rejects(read(taskOf('SELECT 1')), /took more memory than it has/);
  });

  it('is given up when nobody needs the answer any more', async () => {
    lambda = await startLambda({ emulator: { bytesPerSecond: 1000, burstBytes: 1000 } });
    const run = await lambda.executor.start(taskOf('SELECT i FROM range(100000) r(i)'), never);
    const events = run.events[Symbol.asyncIterator]();
    await events.return?.();
    const stop = new AbortController();
    const reading = lambda.executor
      .start(taskOf('SELECT i FROM range(300000) r(i)'), stop.signal)
      .then(rowsOfRun);
    setTimeout(() => stop.abort(new QueryError('CANCELLED', 'Enough.')), 200);
    await assert.rejects(reading, /Enough/);
    assert.deepEqual(lambda.executor.stats(), { running: 0, waiting: 0, limit: 4, warm: 1 });
  });
});

describe('Lambda', () => {
  it('refuses what is too much; it is sent again, and all of it is run', async () => {
    lambda = await startLambda({
      emulator: { maxConcurrency: 2, faults: { seed: 7, throttle: 0.3 } },
      executor: { maxConcurrency: 8 },
    });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => read(taskOf(`SELECT ${n}`))));
    assert.deepEqual(
      answers.flat(2),
      Array.from({ length: 12 }, (_, n) => n),
    );
    const { throttled, peakConcurrency, invocations } = lambda.emulator.counts;
    assert.ok(throttled > 0 && peakConcurrency <= 2 && invocations === 12);
    assert.match(await lambda.metrics(), new RegExp(`svc_lambda_throttles_total ${throttled}\\b`));
  });

  it('kills, throttles and slows by a seed: what is sent again is whole', async () => {
    const seed = Number(process.env['SVC_TEST_SEED'] ?? 20_260_101);
    lambda = await startLambda({ emulator: { faults: { seed, kill: 0.05, throttle: 0.2, slow: 0.02 } } });
    const again = async (task: FragmentTask): Promise<unknown> => {
      for (let attempt = 1; ; attempt += 1)
        try {
          return await read(task);
        } catch (error) {
          if (!lost(error) || attempt === 5) throw error;
        }
    };
    const numbers = Array.from({ length: 24 }, (_, n) => n);
    const sql = (n: number) => `SELECT sum(i % ${n + 2})::BIGINT FROM range(100000) r(i)`;
    const answers = await Promise.all(numbers.map((n) => again(taskOf(sql(n)))));
    lambda.emulator.setFaults(undefined);
    for (const n of numbers)
      assert.deepEqual(answers[n], await read(taskOf(sql(n))), `seed ${seed}, ${sql(n)}`);
    assert.ok(lambda.emulator.counts.throttled > 0);
    assert.equal(lambda.spool.objects.size, 0);
  });

  it('gives a small /tmp, which is enough for many splits', { skip: smallDisks() }, async () => {
    lambda = await startLambda({ emulator: { temporaryBytes: 24 * MB, mountsDisk: true } });
    const rows = await read(await tableTask(orders, 'sales.orders', 'SELECT max(id) FROM orders'));
    assert.equal(rows.flat().sort((a, b) => Number(b) - Number(a))[0], 20_479n);
    assert.deepEqual(await read(taskOf('SELECT 1')), [[1]]);
    assert.equal(lambda.emulator.counts.coldStarts, 1);
  });

  it('without the function is no executor', async () => {
    lambda = await startLambda({ executor: { functionName: 'another' } });
    await assert.rejects(
      read(taskOf('SELECT 1')),
      (error) => error instanceof QueryError && error.code === 'NO_EXECUTOR',
    );
  });
});

async function read(task: FragmentTask) {
  return await rowsOfRun(await lambda.executor.start(task, never));
}

function flipped(object: Buffer | undefined, at: number): Buffer {
  const changed = Buffer.from(object ?? []);
  // The order's letters are base64url: another one of them, so that it is the digest that tells.
  changed[at] = changed[at] === 65 ? 66 : 65;
  return changed;
}

function lost(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'EXECUTOR_LOST';
}

function refused(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'FRAGMENT_REFUSED';
}

/** Only root can mount one. */
function smallDisks(): string | false {
  return process.platform === 'linux' && process.getuid?.() === 0
    ? false
    : 'only root can mount a small disk';
}
