import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import type { EngineLease, EnginePool } from '../api.js';
import { isFilledWith, isRunning, readNumbers, until, withFakePool } from './testing/fake-pool.js';

const slotBytes = 4 << 20;

function query(lease: EngineLease, sql: string, signal?: AbortSignal) {
  return lease.query({ sql, arrow: 'client', ...(signal ? { signal } : {}) });
}

function lease(pool: EnginePool, owner = 'ann', signal?: AbortSignal) {
  return pool.lease({ owner, lane: 'query', ...(signal ? { signal } : {}) });
}

function hasCode(code: string) {
  return (error: unknown) => error instanceof QueryError && error.code === code;
}

test('answers statements, text queries and descriptions', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    await held.execute(['mark a', 'mark b']);
    assert.equal(await held.queryText('marks', []), 'a,b');
    assert.equal(await held.queryText('echo', ['x', 'ü']), 'echo|x|ü');
    const { schema, parameterSchema } = await held.describe({ sql: 'd' });
    assert.equal(Buffer.from(schema).toString(), 'schema of d');
    assert.equal(Buffer.from(parameterSchema).toString(), 'none');
  }));

test('streams more messages than there are slots, each one whole', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    const result = await query(held, `messages 40 ${slotBytes}`);
    assert.deepEqual(
      await readNumbers(result),
      Array.from({ length: 40 }, (_, index) => index),
    );
    await result.engineDone;
    assert.equal(result.profile().rowsReturned, 40n);
    assert.equal(result.profile().rowsScanned, 2n ** 60n);
  }));

test('puts a body larger than a slot together', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    const result = await query(held, `messages 3 ${slotBytes * 3 + 123}`);
    const lengths: number[] = [];
    for await (const message of result.messages) {
      assert.ok(isFilledWith(message.body, lengths.length));
      lengths.push(message.body.length);
      message.release();
    }
    assert.deepEqual(lengths, Array(3).fill(slotBytes * 3 + 123));
  }));

test('refuses a body beyond the largest message and stays usable', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    const result = await query(held, `messages 1 ${300 << 20}`);
    await assert.rejects(readNumbers(result), hasCode('RESULT_TOO_LARGE'));
    assert.equal(await held.queryText('echo', []), 'echo');
  }));

test('a reader that keeps every message gets copies instead of blocking itself', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    const kept = [];
    for await (const message of (await query(held, 'messages 20 100000')).messages) kept.push(message);
    assert.deepEqual(
      kept.map((message) => message.body[99_999]),
      Array.from({ length: 20 }, (_, index) => index),
    );
    for (const message of kept) message.release();
  }));

test('reports an error of a statement and goes on', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    const failing = held.execute(['fail BINDING_ERROR no such column']);
    await assert.rejects(failing, (error: unknown) => {
      assert.ok(hasCode('BINDING_ERROR')(error));
      return (error as Error).message === 'no such column';
    });
    await assert.rejects(query(held, 'fail SYNTAX_ERROR near x'), hasCode('SYNTAX_ERROR'));
    assert.equal(await held.queryText('echo', []), 'echo');
  }));

test('refuses a second statement while one runs', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    const abort = new AbortController();
    const sleeping = held.execute(['sleep'], abort.signal);
    await assert.rejects(held.queryText('echo', []), hasCode('INTERNAL_ERROR'));
    abort.abort();
    await assert.rejects(sleeping, hasCode('CANCELLED'));
  }));

test('the same owner finds its instance clean, with its input files', () =>
  withFakePool({}, async (pool) => {
    const first = await lease(pool);
    await first.execute(['mark a']);
    const pid = await first.queryText('pid', []);
    writeFileSync(join(first.inputDirectory, 'staged'), 'x');
    await first.release();
    await using second = await lease(pool);
    assert.equal(await second.queryText('pid', []), pid);
    assert.equal(await second.queryText('marks', []), '');
    assert.deepEqual(readdirSync(second.inputDirectory), ['staged']);
  }));

test('a lease that ends with a statement leaves its instance clean, whether the statement succeeds or not', () =>
  withFakePool({ query: { hosts: 1, spareHosts: 0 } }, async (pool) => {
    for (const sql of ['messages 2 10', 'messages 3 10', 'fail BINDING_ERROR no such column']) {
      const first = await lease(pool);
      const pid = await first.queryText('pid', []);
      const last = first.query({ before: ['mark a'], sql, arrow: 'lossless', isLast: true });
      if (sql.startsWith('fail')) await assert.rejects(last, hasCode('BINDING_ERROR'));
      else {
        await readNumbers(await last);
        await assert.rejects(first.queryText('marks', []), hasCode('INTERNAL_ERROR'));
      }
      await first.release();
      await using second = await lease(pool);
      assert.equal(await second.queryText('pid', []), pid);
      assert.equal(await second.queryText('marks', []), '');
    }
  }));

test('input files above the budget do not stay', () =>
  withFakePool({ keptInputBytes: 10 }, async (pool) => {
    const first = await lease(pool);
    writeFileSync(join(first.inputDirectory, 'staged'), 'x'.repeat(11));
    await first.release();
    await using second = await lease(pool);
    assert.deepEqual(readdirSync(second.inputDirectory), []);
  }));

test('another owner finds nothing of the former one', () =>
  withFakePool({}, async (pool) => {
    const first = await lease(pool, 'ann');
    await first.execute(['mark a']);
    writeFileSync(join(first.inputDirectory, 'staged'), 'x');
    await first.release();
    await using second = await lease(pool, 'bob');
    assert.equal(await second.queryText('marks', []), '');
    assert.deepEqual(readdirSync(second.inputDirectory), []);
  }));

test('a tainted instance loses its files even for the same owner', () =>
  withFakePool({}, async (pool) => {
    const first = await lease(pool);
    writeFileSync(join(first.inputDirectory, 'staged'), 'x');
    first.taint();
    await first.release();
    await using second = await lease(pool);
    assert.deepEqual(readdirSync(second.inputDirectory), []);
  }));

test('never leases more hosts than the lane has, and serves in order', () =>
  withFakePool({ query: { hosts: 2, spareHosts: 1 } }, async (pool) => {
    const held = await Promise.all([lease(pool, 'a'), lease(pool, 'b')]);
    const order: string[] = [];
    const waiting = ['c', 'd', 'e'].map(async (owner) => {
      const mine = await lease(pool, owner);
      order.push(owner);
      await mine.release();
    });
    await until(() => pool.stats().waiting === 3);
    assert.equal(pool.stats().leased, 2);
    for (const one of held) await one.release();
    await Promise.all(waiting);
    assert.deepEqual(order, ['c', 'd', 'e']);
  }));

test('an aborted request leaves the queue', () =>
  withFakePool({ small: { hosts: 1 } }, async (pool) => {
    const held = await lease(pool, 'a');
    const abort = new AbortController();
    const waiting = lease(pool, 'b', abort.signal);
    await until(() => pool.stats().waiting === 1);
    abort.abort(new QueryError('QUERY_TIMEOUT', 'too long'));
    await assert.rejects(waiting, hasCode('QUERY_TIMEOUT'));
    assert.equal(pool.stats().waiting, 0);
    await held.release();
    await (await lease(pool, 'c')).release();
  }));

test('the small lane answers while every query host is busy', () =>
  withFakePool({}, async (pool) => {
    const abort = new AbortController();
    const busy = await lease(pool, 'a');
    const sleeping = busy.execute(['sleep'], abort.signal);
    const small = await pool.lease({ owner: 'b', lane: 'small' });
    assert.equal(await small.queryText('echo', []), 'echo');
    await small.release();
    abort.abort();
    await assert.rejects(sleeping, hasCode('CANCELLED'));
    await busy.release();
  }));

test('a small request takes an idle query host when its lane is full', () =>
  withFakePool({ query: { hosts: 1 } }, async (pool) => {
    await (await lease(pool, 'b')).release();
    const first = await pool.lease({ owner: 'a', lane: 'small' });
    const second = await pool.lease({ owner: 'b', lane: 'small' });
    assert.equal(await second.queryText('echo', []), 'echo');
    await first.release();
    await second.release();
  }));

for (const [stage, sql] of [
  ['while the statement starts', 'sleep'],
  ['in mid-stream', 'endless 4000000'],
] as const) {
  test(`cancels ${stage} and keeps the host`, () =>
    withFakePool({}, async (pool) => {
      await using held = await lease(pool);
      const pid = await held.queryText('pid', []);
      const abort = new AbortController();
      const reading = query(held, sql, abort.signal).then(async (result) => {
        for await (const message of result.messages) {
          message.release();
          abort.abort();
        }
      });
      if (sql === 'sleep') abort.abort();
      await assert.rejects(reading, hasCode('CANCELLED'));
      assert.equal(await held.queryText('pid', []), pid);
    }));
}

test('cancels a description and a text query', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    await assert.rejects(held.describe({ sql: 'sleep' }, AbortSignal.timeout(20)), hasCode('QUERY_TIMEOUT'));
    await assert.rejects(held.queryText('sleep', [], AbortSignal.timeout(20)), hasCode('QUERY_TIMEOUT'));
    assert.equal(await held.queryText('echo', []), 'echo');
  }));

test('a reader that ends early frees the host', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    const result = await query(held, 'endless 4000000');
    for await (const message of result.messages) {
      message.release();
      break;
    }
    await result.engineDone;
    assert.equal(await held.queryText('echo', []), 'echo');
  }));

test('ending a result early works while a pull is waiting', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    const result = await query(held, 'stuck');
    const messages = result.messages[Symbol.asyncIterator]();
    const pull = messages.next();
    await messages.return?.();
    assert.equal((await pull).done, true);
    await result.engineDone;
    assert.equal(await held.queryText('echo', []), 'echo');
  }));

test('kills a host that does not stop, and only its statement fails', () =>
  withFakePool({ query: { hosts: 2 }, cancelGraceMs: 50 }, async (pool) => {
    const stuck = await lease(pool, 'a');
    const other = await lease(pool, 'b');
    const pid = await stuck.queryText('pid', []);
    const abort = new AbortController();
    const result = await query(stuck, 'stubborn', abort.signal);
    await until(() => existsSync(join(stuck.inputDirectory, 'blocking')));
    abort.abort();
    await assert.rejects(readNumbers(result), hasCode('CANCELLED'));
    await until(() => !isRunning(Number(pid)));
    assert.equal(await other.queryText('echo', []), 'echo');
    await stuck.release();
    await other.release();
    await using again = await lease(pool, 'a');
    assert.notEqual(await again.queryText('pid', []), pid);
  }));

for (const verb of ['crash', 'abort']) {
  test(`a host that ends by ${verb} costs one statement and is replaced`, () =>
    withFakePool({}, async (pool) => {
      const held = await lease(pool);
      await assert.rejects(held.execute([verb]), hasCode('ENGINE_CRASHED'));
      await assert.rejects(held.queryText('echo', []), hasCode('ENGINE_CRASHED'));
      await held.release();
      await using again = await lease(pool);
      assert.equal(await again.queryText('echo', []), 'echo');
      assert.ok(pool.stats().replaced >= 1);
    }));
}

test('the signals of a terminal or a service manager do not end a host', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    const pid = Number(await held.queryText('pid', []));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(pid, signal);
    assert.equal(await held.queryText('pid', []), String(pid));
  }));

test('messages in hand stay readable after their host was killed', () =>
  withFakePool({}, async (pool) => {
    const held = await lease(pool);
    const pid = Number(await held.queryText('pid', []));
    const result = await query(held, 'endless 4000000');
    const messages = result.messages[Symbol.asyncIterator]();
    const first = await messages.next();
    const second = await messages.next();
    process.kill(pid, 'SIGKILL');
    await result.engineDone;
    await assert.rejects(async () => void (await messages.next()), hasCode('ENGINE_CRASHED'));
    await held.release();
    await pool.destroy();
    assert.ok(first.done === false && isFilledWith(first.value.body, 0));
    assert.ok(second.done === false && isFilledWith(second.value.body, 1));
    first.value.release();
    second.value.release();
  }));

test('ingests a stream and reports a source that fails', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    async function* chunks(count: number, failure?: Error) {
      for (let index = 0; index < count; index++) yield Buffer.alloc(5_000_000, index);
      if (failure) throw failure;
    }
    assert.equal(await held.ingest({ table: 't' }, chunks(10)), 50_000_000n);
    await assert.rejects(held.ingest({ table: 't' }, chunks(3, new Error('lost'))), /lost/);
    assert.equal(await held.queryText('echo', []), 'echo');
  }));

test('an aborted ingest does not wait for its source', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    async function* silent(): AsyncGenerator<Uint8Array> {
      await new Promise(() => undefined);
    }
    const ingest = held.ingest({ table: 't' }, silent(), AbortSignal.timeout(20));
    await assert.rejects(ingest, hasCode('QUERY_TIMEOUT'));
    assert.equal(await held.queryText('echo', []), 'echo');
  }));

test('reports progress while a statement runs', () =>
  withFakePool({}, async (pool) => {
    await using held = await lease(pool);
    const abort = new AbortController();
    const running = held.query({
      sql: 'sleep',
      arrow: 'client',
      signal: abort.signal,
      onProgress: ({ fraction, rowsProcessed, rowsTotal }) => {
        assert.deepEqual([fraction, rowsProcessed, rowsTotal], [0.5, 50n, 100n]);
        abort.abort();
      },
    });
    await assert.rejects(running, hasCode('CANCELLED'));
  }));

test('a host is replaced after its number of leases', () =>
  withFakePool({ maxLeasesPerHost: 2 }, async (pool) => {
    const pids = new Set<string>();
    for (let index = 0; index < 4; index++) {
      await using held = await lease(pool);
      pids.add(await held.queryText('pid', []));
    }
    assert.equal(pids.size, 2);
  }));

test('an idle instance is taken from its owner', () =>
  withFakePool({ idleMs: 20 }, async (pool) => {
    const held = await lease(pool);
    writeFileSync(join(held.inputDirectory, 'staged'), 'x');
    await held.release();
    // The folder itself is made anew, so that for a moment there may be none.
    await until(() => !existsSync(join(held.inputDirectory, 'staged')));
  }));

test('draining refuses new leases and lets the running one end', () =>
  withFakePool({}, async (pool, folder) => {
    const held = await lease(pool);
    const pid = await held.queryText('pid', []);
    const closing = pool.close(60_000);
    await assert.rejects(lease(pool), hasCode('SHUTTING_DOWN'));
    assert.equal(await held.queryText('echo', []), 'echo');
    await held.release();
    await closing;
    await pool.close(0);
    assert.equal(isRunning(Number(pid)), false);
    assert.deepEqual(readdirSync(folder), []);
  }));

test('a drain past its deadline ends what still runs', () =>
  withFakePool({}, async (pool) => {
    const held = await lease(pool);
    const running = held.execute(['sleep']);
    const closing = pool.close(10);
    await assert.rejects(running, hasCode('SHUTTING_DOWN'));
    await closing;
    await held.release();
  }));

test('removes what a dead pool left, and nothing else', async () => {
  await withFakePool({}, async (pool, folder) => {
    await (await lease(pool)).release();
    const leftover = join(folder, 'engine-dead');
    const foreign = join(folder, 'engine-without-lock');
    for (const path of [leftover, foreign]) mkdirSync(path);
    writeFileSync(`${leftover}.lock`, '');
    const live = readdirSync(folder).filter((name) => name.startsWith('engine-') && !name.includes('dead'));
    await withSecondPool(folder, async () => {
      await until(() => !existsSync(leftover));
      for (const name of live) assert.ok(existsSync(join(folder, name)));
      assert.ok(existsSync(foreign));
    });
  });
});

async function withSecondPool(folder: string, body: () => Promise<void>): Promise<void> {
  await withFakePool({ folder }, body);
}

test('a host that outgrows its memory where the system sets no limit is ended by its watchdog', () =>
  withFakePool({ memoryGuard: 'watchdog' }, async (pool) => {
    const held = await lease(pool);
    await held.execute([`hog ${1 << 20}`]);
    await assert.rejects(held.execute([`hog ${700 << 20}`, 'sleep']), hasCode('OUT_OF_MEMORY'));
    await held.release();
    await using again = await lease(pool);
    assert.equal(await again.queryText('echo', []), 'echo');
  }));
