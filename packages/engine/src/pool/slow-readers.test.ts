import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import type { EngineLease, EnginePool, EngineResult } from '../api.js';
import { isFilledWith, readNumbers, until, withFakePool } from './testing/fake-pool.js';

const slotBytes = 4 << 20;
const count = 30;
const numbers = Array.from({ length: count }, (_, index) => index);
const soon = { spoolAfterMs: 20, slowConsumerMs: 20 };

interface Sleeper {
  readonly result: EngineResult;
  readonly held: EngineLease;
}

/** A statement with 120 MB of result that nobody reads. */
async function startSleeper(pool: EnginePool, owner: string): Promise<Sleeper> {
  const held = await pool.lease({ owner, lane: 'query' });
  return { held, result: await held.query({ sql: `messages ${count} ${slotBytes}`, arrow: 'client' }) };
}

function isSlowConsumer(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'SLOW_CONSUMER';
}

/** Descriptors of this process that are spool files. */
function openSpoolFiles(): number {
  const target = (fd: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  };
  return readdirSync('/proc/self/fd').filter((fd) => target(fd).includes('/spool-')).length;
}

test('a sleeping reader frees the host and finds its whole result later', () =>
  withFakePool({ query: soon }, async (pool) => {
    const { held, result } = await startSleeper(pool, 'a');
    await result.engineDone;
    await held.release();
    assert.equal(result.profile().rowsReturned, BigInt(count));
    assert.deepEqual(await readNumbers(result), numbers);
  }));

test('a reader that sleeps in the middle reads on in order', () =>
  withFakePool({ query: soon }, async (pool) => {
    const { held, result } = await startSleeper(pool, 'a');
    const messages = result.messages[Symbol.asyncIterator]();
    const first = await messages.next();
    await result.engineDone;
    const rest = await readNumbers({ ...result, messages: { [Symbol.asyncIterator]: () => messages } });
    assert.deepEqual([first.done === false && first.value.body[0], ...rest], numbers);
    if (first.done === false) first.value.release();
    await held.release();
  }));

test('more sleepers than hosts: others are answered, on the same lane too', () =>
  withFakePool({ query: { ...soon, hosts: 2 } }, async (pool) => {
    const sleepers: Sleeper[] = [];
    for (const owner of ['a', 'b', 'c', 'd', 'e']) {
      const sleeper = await startSleeper(pool, owner);
      sleepers.push(sleeper);
      void sleeper.result.engineDone.then(() => sleeper.held.release());
    }
    await using other = await pool.lease({ owner: 'x', lane: 'query' });
    assert.equal(await other.queryText('echo', []), 'echo');
    for (const { result } of sleepers) assert.deepEqual(await readNumbers(result), numbers);
  }));

test('a slow reader over its budget keeps the engine waiting, then loses its statement', () =>
  withFakePool({ query: soon, spoolBytesPerResult: 10 * slotBytes }, async (pool) => {
    const { held, result } = await startSleeper(pool, 'a');
    await result.engineDone;
    await assert.rejects(readNumbers(result), isSlowConsumer);
    assert.equal(await held.queryText('echo', []), 'echo');
    await held.release();
  }));

test('a slow reader over its budget that reads on gets everything', () =>
  withFakePool(
    { query: { spoolAfterMs: 20, slowConsumerMs: 60_000 }, spoolBytesPerResult: 10 * slotBytes },
    async (pool) => {
      const { held, result } = await startSleeper(pool, 'a');
      await until(() => openSpoolFiles() === 1);
      assert.deepEqual(await readNumbers(result), numbers);
      await held.release();
    },
  ));

test('the budget of all results is shared', () =>
  withFakePool({ query: { ...soon, hosts: 2 }, spoolBytesTotal: 35 * slotBytes }, async (pool) => {
    const first = await startSleeper(pool, 'a');
    await first.result.engineDone;
    const second = await startSleeper(pool, 'b');
    await second.result.engineDone;
    await assert.rejects(readNumbers(second.result), isSlowConsumer);
    assert.deepEqual(await readNumbers(first.result), numbers);
    for (const { held } of [first, second]) await held.release();
  }));

test('a spooled result that is given up leaves no file open', () =>
  withFakePool({ query: soon }, async (pool) => {
    const { held, result } = await startSleeper(pool, 'a');
    await result.engineDone;
    assert.equal(openSpoolFiles(), 1);
    await result.messages[Symbol.asyncIterator]().return?.();
    assert.equal(openSpoolFiles(), 0);
    await held.release();
  }));

test('an aborted sleeper is told so, and its file is closed', () =>
  withFakePool({ query: soon }, async (pool) => {
    const abort = new AbortController();
    const held = await pool.lease({ owner: 'a', lane: 'query' });
    const sql = `messages ${count} ${slotBytes}`;
    const result = await held.query({ sql, arrow: 'client', signal: abort.signal });
    await result.engineDone;
    abort.abort(new QueryError('SESSION_EXPIRED', 'gone'));
    await assert.rejects(readNumbers(result), (error: unknown) => {
      return error instanceof QueryError && error.code === 'SESSION_EXPIRED';
    });
    await until(() => openSpoolFiles() === 0);
    await held.release();
  }));

test('unread results end with the pool', () =>
  withFakePool({ query: soon }, async (pool) => {
    const { held, result } = await startSleeper(pool, 'a');
    await result.engineDone;
    await held.release();
    await pool.close(10);
    await assert.rejects(readNumbers(result), (error: unknown) => {
      return error instanceof QueryError && error.code === 'SHUTTING_DOWN';
    });
  }));

test('sleepers that keep their messages do not use up the slots of the host', () =>
  withFakePool({ query: soon }, async (pool) => {
    const kept = [];
    for (let round = 0; round < 6; round++) {
      const { held, result } = await startSleeper(pool, 'a');
      const messages = result.messages[Symbol.asyncIterator]();
      for (let index = 0; index < 4; index++) kept.push(await messages.next());
      await result.engineDone;
      await held.release();
      await messages.return?.();
    }
    for (const [index, message] of kept.entries()) {
      assert.ok(message.done === false && isFilledWith(message.value.body, index % 4));
      message.value.release();
    }
  }));
