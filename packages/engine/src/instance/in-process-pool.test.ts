import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow';
import type { EngineLease, EnginePool } from '../api.js';
import { encapsulate } from '../arrow/ipc-encode.js';
import { createInProcessPool } from './in-process-pool.js';

const limits = { memoryBytes: 256 * 1024 * 1024, threads: 2, tempDirectoryBytes: 64 * 1024 * 1024 };

test('a lease runs statements, describes, streams and ingests', async () => {
  await withPool(1, async (pool) => {
    await using lease = await pool.lease({ owner: 'a', lane: 'query' });
    await lease.execute(['CREATE TABLE t (a INTEGER)']);
    const stream = tableToIPC(tableFromArrays({ a: Int32Array.of(1, 2, 3) }), 'stream');
    assert.equal(await lease.ingest({ table: 't' }, pieces(stream)), 3n);
    assert.equal(await lease.queryText('SELECT sum(a)::VARCHAR FROM t', []), '6');
    const description = await lease.describe({ sql: 'SELECT a FROM t WHERE a > ?' });
    assert.equal(description.parameterCount, 1);
    assert.deepEqual(await readColumn(lease, 'SELECT a FROM t ORDER BY a DESC'), [3, 2, 1]);
  });
});

test('messages stay as they are until they are released, however many are held', async () => {
  await withPool(1, async (pool) => {
    await using lease = await pool.lease({ owner: 'a', lane: 'query' });
    const result = await lease.query({ sql: 'SELECT i FROM range(2000000) t(i)', arrow: 'client' });
    const parts: Uint8Array[] = [result.schema];
    const releases: (() => void)[] = [];
    for await (const message of result.messages) {
      parts.push(encapsulate(message.header), message.body);
      releases.push(() => message.release());
    }
    await result.engineDone;
    assert.ok(releases.length > 2);
    const table = tableFromIPC(Buffer.concat(parts));
    assert.equal(table.numRows, 2_000_000);
    assert.equal(table.getChild('i')?.get(1_999_999), 1_999_999n);
    for (const release of releases) release();
    assert.equal(result.profile().rowsReturned, 2_000_000n);
  });
});

test('an owner gets its instance again, clean; another owner never does', async () => {
  await withPool(1, async (pool) => {
    const first = await pool.lease({ owner: 'a', lane: 'query' });
    const { inputDirectory } = first;
    writeFileSync(join(inputDirectory, 'staged.csv'), 'x\n1\n');
    await first.execute(['CREATE VIEW v AS SELECT 1 AS a']);
    await first.release();
    await first.release();
    await using second = await pool.lease({ owner: 'a', lane: 'query' });
    assert.equal(second.inputDirectory, inputDirectory);
    assert.deepEqual(readdirSync(inputDirectory), []);
    await assert.rejects(second.queryText('SELECT a::VARCHAR FROM v', []), isCode('TABLE_NOT_FOUND'));
    await second.release();
    await using other = await pool.lease({ owner: 'b', lane: 'query' });
    assert.notEqual(other.inputDirectory, inputDirectory);
    assert.ok(!existsSync(inputDirectory));
  });
});

test('leases wait for a free instance in order, and stop waiting when told', async () => {
  await withPool(1, async (pool) => {
    const first = await pool.lease({ owner: 'a', lane: 'query' });
    const abort = new AbortController();
    const given = pool.lease({ owner: 'b', lane: 'query', signal: abort.signal });
    const waiting = pool.lease({ owner: 'c', lane: 'query' });
    assert.equal(pool.stats().leased, 1);
    abort.abort();
    await assert.rejects(given, isCode('CANCELLED'));
    first.taint();
    await first.release();
    const second = await waiting;
    assert.equal(pool.stats().replaced, 1);
    assert.equal(pool.stats().waiting, 0);
    await second.release();
  });
});

test('a reader that stops early frees the engine, and a signal ends a result between messages', async () => {
  await withPool(1, async (pool) => {
    await using lease = await pool.lease({ owner: 'a', lane: 'query' });
    const sql = 'SELECT i FROM range(100000000) t(i)';
    const left = await lease.query({ sql, arrow: 'client' });
    for await (const message of left.messages) {
      message.release();
      break;
    }
    await left.engineDone;
    const abort = new AbortController();
    const cancelled = await lease.query({ sql, arrow: 'client', signal: abort.signal });
    await assert.rejects(async () => {
      for await (const message of cancelled.messages) {
        message.release();
        abort.abort();
      }
    }, isCode('CANCELLED'));
    await cancelled.engineDone;
    assert.equal(await lease.queryText("SELECT 'next'", []), 'next');
  });
});

test('a closed pool gives no lease and leaves no folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-engine-'));
  const pool = createInProcessPool({ folder, limits });
  const lease = await pool.lease({ owner: 'a', lane: 'query' });
  const closing = pool.close(0);
  await closing;
  await assert.rejects(lease.queryText("SELECT 'x'", []), QueryError);
  await assert.rejects(pool.lease({ owner: 'a', lane: 'query' }), isCode('SHUTTING_DOWN'));
  assert.deepEqual(readdirSync(folder), []);
  await pool.close(0);
  rmSync(folder, { recursive: true });
});

async function withPool(maxInstances: number, use: (pool: EnginePool) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-engine-'));
  const pool = createInProcessPool({ folder, limits, maxInstances });
  try {
    await use(pool);
  } finally {
    await pool.destroy();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readColumn(lease: EngineLease, sql: string): Promise<unknown[]> {
  const result = await lease.query({ sql, arrow: 'client' });
  const parts: Uint8Array[] = [result.schema];
  for await (const message of result.messages) {
    parts.push(encapsulate(message.header), message.body.slice());
    message.release();
  }
  return [...(tableFromIPC(Buffer.concat(parts)).getChildAt(0) ?? [])];
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += 100) yield bytes.subarray(at, at + 100);
}

function isCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof QueryError && error.code === code;
}
