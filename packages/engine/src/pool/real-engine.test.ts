import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { QueryError, silentLogger } from '@svc/base';
import type { EngineLease, EnginePool, EngineProgress, EngineResult } from '../api.js';
import { encapsulate } from '../arrow/ipc-encode.js';
import { createHostPool } from './host-pool.js';
import { isRunning, until } from './testing/fake-pool.js';

const limits = { memoryBytes: 512 << 20, threads: 2, tempDirectoryBytes: 64 << 20 };
/** Takes minutes unless somebody stops it. */
const endlessJoin =
  'SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE hash(a.range) % 7 = hash(b.range) % 11';

async function withPool(body: (pool: EnginePool) => Promise<void>, spoolAfterMs = 2_000): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-real-'));
  const lane = { hosts: 1, limits, spareHosts: 0, spoolAfterMs };
  const pool = createHostPool({ folder, log: silentLogger, query: lane, small: lane });
  try {
    await body(pool);
  } finally {
    await pool.destroy();
    rmSync(folder, { recursive: true, force: true });
  }
}

function lease(pool: EnginePool, lane: 'query' | 'small' = 'query'): Promise<EngineLease> {
  return pool.lease({ owner: 'ann', lane });
}

function hasCode(code: string) {
  return (error: unknown) => error instanceof QueryError && error.code === code;
}

async function countRows(result: EngineResult): Promise<number> {
  let rowCount = 0;
  for await (const message of result.messages) {
    rowCount += message.rowCount;
    message.release();
  }
  return rowCount;
}

/** A result as the IPC stream that it would be on the wire. */
async function* streamOf(result: EngineResult): AsyncIterable<Uint8Array> {
  yield result.schema;
  for await (const { header, body, release } of result.messages) {
    yield encapsulate(header);
    yield Buffer.from(body);
    release();
  }
  yield Buffer.from('ffffffff00000000', 'hex');
}

/** The process whose arguments name the folder. */
function hostWith(inputDirectory: string): number {
  const isHost = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(inputDirectory);
    } catch {
      return false;
    }
  };
  return Number(readdirSync('/proc').find((name) => /^\d+$/.test(name) && isHost(name)));
}

test('a large result of one host becomes the same table in another', () =>
  withPool(async (pool) => {
    await using source = await lease(pool, 'query');
    await using target = await lease(pool, 'small');
    const columns = "i, 'row ' || i AS s, CASE WHEN i % 3 = 0 THEN NULL ELSE i * 0.5 END AS d";
    const sql = `SELECT ${columns} FROM range(1500000) t(i)`;
    const digest = "count(*) || ' ' || sum(hash(i, s, d))";
    await target.execute(['CREATE TABLE copy (i BIGINT, s VARCHAR, d DECIMAL(22, 1))']);
    const result = await source.query({ sql, arrow: 'lossless' });
    assert.equal(await target.ingest({ table: 'copy' }, streamOf(result)), 1_500_000n);
    assert.equal(
      await target.queryText(`SELECT ${digest} FROM copy`, []),
      await source.queryText(`SELECT ${digest} FROM (${sql})`, []),
    );
    assert.equal(result.profile().rowsReturned, 1_500_000n);
  }));

test('an allocation that the engine does not count is stopped, and the host lives', () =>
  withPool(async (pool) => {
    await using held = await lease(pool);
    const hog = 'SELECT len(range(200000000))';
    await assert.rejects(held.query({ sql: hog, arrow: 'client' }).then(countRows), hasCode('OUT_OF_MEMORY'));
    // Planning folds constants and tries the same allocation; the engine then leaves the expression as it is.
    await held.queryText(`SELECT json_serialize_plan('${hog}', optimize := true)`, []);
    assert.equal(await held.queryText("SELECT 'alive'", []), 'alive');
    assert.equal(pool.stats().replaced, 0);
  }));

test('a running statement is cancelled and the next one runs', () =>
  withPool(async (pool) => {
    await using held = await lease(pool);
    for (let round = 0; round < 5; round++) {
      const signal = AbortSignal.timeout(20 * round);
      await assert.rejects(
        async () => void (await countRows(await held.query({ sql: endlessJoin, arrow: 'client', signal }))),
        hasCode('QUERY_TIMEOUT'),
      );
      assert.equal(await held.queryText("SELECT 'next'", []), 'next');
    }
    assert.equal(pool.stats().replaced, 0);
  }));

test('names, data and settings of a lease are gone for the next one', () =>
  withPool(async (pool) => {
    const first = await lease(pool);
    await first.execute([
      "ATTACH ':memory:' AS lake",
      'CREATE VIEW lake.main.v AS SELECT 1',
      'CREATE TABLE t AS SELECT 1',
      "SET TimeZone = 'Asia/Tokyo'",
    ]);
    await first.release();
    const second = await lease(pool);
    const names = "SELECT string_agg(database_name, ',') FROM duckdb_databases() WHERE NOT internal";
    assert.equal(await second.queryText(names, []), 'memory');
    await assert.rejects(second.describe({ sql: 'FROM t' }), hasCode('TABLE_NOT_FOUND'));
    assert.equal(await second.queryText("SELECT current_setting('TimeZone')", []), 'UTC');
    await second.execute(["SET TimeZone = 'Asia/Tokyo'"]);
    await second.release();
    await using third = await lease(pool);
    assert.equal(await third.queryText("SELECT current_setting('TimeZone')", []), 'UTC');
  }));

test('a sleeping reader of a real result frees the host and misses nothing', () =>
  withPool(async (pool) => {
    const held = await lease(pool);
    const sql = 'SELECT i, i * 2 AS j, i * 3 AS k FROM range(4000000) t(i)';
    const result = await held.query({ sql, arrow: 'client' });
    await result.engineDone;
    await held.release();
    await using other = await lease(pool);
    assert.equal(await other.queryText("SELECT 'free'", []), 'free');
    assert.equal(await countRows(result), 4_000_000);
  }, 20));

test('reports how far a statement is', () =>
  withPool(async (pool) => {
    await using held = await lease(pool);
    const abort = new AbortController();
    const seen: EngineProgress[] = [];
    const running = held.query({
      sql: endlessJoin,
      arrow: 'client',
      signal: abort.signal,
      onProgress: (progress) => {
        seen.push(progress);
        abort.abort();
      },
    });
    await assert.rejects(async () => void (await countRows(await running)), hasCode('CANCELLED'));
    assert.equal(seen.length, 1);
  }));

test(
  'destroying the pool ends a host in the middle of its work',
  { skip: process.platform !== 'linux' },
  () =>
    withPool(async (pool) => {
      const held = await lease(pool);
      const running = held.query({ sql: endlessJoin, arrow: 'client' }).then(countRows);
      const isTold = assert.rejects(running, hasCode('SHUTTING_DOWN'));
      const pid = hostWith(held.inputDirectory);
      await pool.destroy();
      await isTold;
      await until(() => !isRunning(pid));
    }),
);
