import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { Dictionary, Int8, Table, tableFromArrays, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { collectResult, openTemporaryInstance } from '../testing/temporary-instance.js';
import { IpcStreamReader } from './ipc-stream.js';

const maxBodyBytes = 16 * 1024 * 1024;

test('a stream is read in pieces of any size', () => {
  const stream = tableToIPC(tableFromArrays({ a: Int32Array.from({ length: 1000 }, (_, i) => i) }), 'stream');
  for (const pieceBytes of [1, 7, 8, 100, stream.byteLength]) {
    const reader = new IpcStreamReader(maxBodyBytes);
    let rows = 0;
    for (let at = 0; at < stream.byteLength; at += pieceBytes)
      for (const batch of reader.read(stream.subarray(at, at + pieceBytes))) rows += batch.rowCount;
    assert.equal(reader.finish().fields[0]?.name, 'a');
    assert.equal(rows, 1000);
  }
});

test('a stream that stops early, or has no schema, is refused', () => {
  const stream = tableToIPC(tableFromArrays({ a: Int32Array.of(1, 2, 3) }), 'stream');
  const reader = new IpcStreamReader(maxBodyBytes);
  for (const _batch of reader.read(stream.subarray(0, stream.byteLength - 20)));
  assert.throws(() => reader.finish(), /ends within a message/);
  assert.throws(() => new IpcStreamReader(maxBodyBytes).finish(), /no schema/);
  assert.throws(
    () => [...new IpcStreamReader(maxBodyBytes).read(Buffer.from('GET / HTTP/1.1\r\n'))],
    /FFFFFFFF/,
  );
});

test('a body larger than the limit is refused before it is read', () => {
  const stream = tableToIPC(tableFromArrays({ a: new Float64Array(10_000) }), 'stream');
  assert.throws(() => [...new IpcStreamReader(1000).read(stream)], /at most 1000/);
});

test('a failed ingest leaves the table as it was', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  instance.execute(['CREATE TABLE t (a INTEGER)', 'INSERT INTO t VALUES (1)']);
  const stream = tableToIPC(
    tableFromArrays({ a: Int32Array.from({ length: 100_000 }, (_, i) => i) }),
    'stream',
  );
  const ingest = instance.ingest({ table: 't' });
  ingest.write(stream.subarray(0, stream.byteLength - 8));
  ingest.close();
  const cut = instance.ingest({ schema: 'main', table: 't' });
  cut.write(stream.subarray(0, stream.byteLength - 100));
  assert.throws(() => cut.finish(), QueryError);
  assert.throws(
    () => instance.ingest({ table: 'missing' }),
    (error) => error instanceof QueryError && error.code === 'TABLE_NOT_FOUND',
  );
  assert.equal(instance.queryText('SELECT count(*)::VARCHAR FROM t', []), '1');
  const whole = instance.ingest({ catalog: 'memory', schema: 'main', table: 't' });
  whole.write(stream);
  assert.equal(whole.finish(), 100_000n);
});

test('dictionaries of clients are read, nulls included', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  instance.execute(['CREATE TABLE t (a VARCHAR)']);
  const values = ['x', null, 'yy', 'x', null, ''];
  const table = new Table({ a: vectorFromArray(values, new Dictionary(new Utf8(), new Int8())) });
  const ingest = instance.ingest({ table: 't' });
  ingest.write(tableToIPC(table, 'stream'));
  assert.equal(ingest.finish(), 6n);
  assert.equal(instance.queryText('SELECT list(a)::VARCHAR FROM t', []), "[x, NULL, yy, x, NULL, '']");
});

test('damaged streams are refused or read, and never crash the engine', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  const sql = `SELECT i, 'text ' || i AS s, [i, NULL] AS l, {'a': i, 'b': [i::VARCHAR]} AS st, i % 2 = 0 AS b,
    (CASE WHEN i % 3 = 0 THEN NULL ELSE 'x' END)::ENUM('x', 'y') AS e, union_value(k := i) AS u, MAP {i: 'v'} AS m
    FROM range(50) t(i)`;
  instance.execute([`CREATE TABLE t AS ${sql} LIMIT 0`]);
  const { stream } = collectResult(instance, { sql });
  const random = seeded(20241121);
  let refused = 0;
  for (let round = 0; round < 1500; round++) {
    const damaged = Buffer.from(stream);
    const changes = 1 + (random() % 4);
    for (let change = 0; change < changes; change++) {
      const at = random() % damaged.byteLength;
      if (random() % 2 === 0) damaged[at] = random() & 0xff;
      else damaged.writeUInt32LE(random(), Math.min(at, damaged.byteLength - 4));
    }
    const ingest = instance.ingest({ table: 't' });
    try {
      ingest.write(damaged);
      ingest.finish();
    } catch (error) {
      assert.ok(error instanceof QueryError, `round ${round}: ${error}`);
      assert.notEqual(error.code, 'INTERNAL_ERROR', `round ${round}: ${error.message}`);
      refused += 1;
    } finally {
      ingest.close();
    }
  }
  assert.ok(refused > 500, `${refused} refused`);
  assert.ok(!instance.isUnusable);
});

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
