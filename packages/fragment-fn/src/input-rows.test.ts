import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { collectRows } from '@svc/engine';
import type { FragmentEnvironment } from './leased-fragment.js';
import type { InputRows } from './request.js';
import { runFragment } from './runtime.js';
import { runSplits } from './splits/run-splits.js';
import { arrowStream } from './test-support/arrow-stream.js';
import { openTestPool, type TestPool } from './test-support/test-pool.js';
import { plainRequest } from './test-support/test-task.js';

/** Of each type values by `i`; every third row is NULL. */
const types: readonly (readonly [type: string, value: string])[] = [
  ['BOOLEAN', 'i % 2 = 0'],
  ['TINYINT', '(i % 256 - 128)::TINYINT'],
  ['SMALLINT', '(i - 300)::SMALLINT'],
  ['INTEGER', '(i - 300)::INTEGER'],
  ['BIGINT', 'i - 300'],
  ['UTINYINT', '(i % 256)::UTINYINT'],
  ['USMALLINT', 'i::USMALLINT'],
  ['UINTEGER', 'i::UINTEGER'],
  ['UBIGINT', "i::UBIGINT + '18446744073709540000'::UBIGINT"],
  ['HUGEINT', "i::HUGEINT - '170141183460469231731687303715884105000'::HUGEINT"],
  ['UHUGEINT', "'340282366920938463463374607431768200000'::UHUGEINT + i::UHUGEINT"],
  ['BIGNUM', "('9' || i || repeat('7', 60))::BIGNUM"],
  ['FLOAT', "CASE i % 4 WHEN 0 THEN 'nan' WHEN 1 THEN '-inf' WHEN 2 THEN '-0' ELSE '1.5' END::FLOAT"],
  ['DOUBLE', "CASE i % 4 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN 'inf' ELSE i / 7 END"],
  ['DECIMAL(4,1)', '((i - 300) / 10)::DECIMAL(4, 1)'],
  ['DECIMAL(18,3)', '((i - 300) / 10)::DECIMAL(18, 3)'],
  ['DECIMAL(38,10)', "i::DECIMAL(38, 10) - '9999999999999999999999999999'::DECIMAL(38, 10)"],
  ['VARCHAR', "CASE WHEN i % 2 = 0 THEN '' ELSE 'é😀' || chr(0) || repeat('x', i % 40) END"],
  ['BLOB', "encode('a' || i) || '\\x00\\xFF'::BLOB"],
  ['BIT', "('1' || repeat('01', i % 9))::BIT"],
  ['UUID', "('00000000-0000-4000-8000-' || lpad(i::VARCHAR, 12, '0'))::UUID"],
  ['DATE', "DATE '0044-03-15 (BC)' + i::INTEGER"],
  ['TIME', "TIME '23:00:00.000001' + INTERVAL (i) SECOND"],
  ['TIME_NS', "'23:59:59.123456789'::TIME_NS"],
  ['TIME WITH TIME ZONE', "('10:00:00+' || lpad((i % 15)::VARCHAR, 2, '0') || ':30')::TIMETZ"],
  ['TIMESTAMP', "TIMESTAMP '1969-12-31 23:59:59.999999' + INTERVAL (i) MICROSECOND"],
  ['TIMESTAMP_S', "(TIMESTAMP '1960-01-01' + INTERVAL (i) SECOND)::TIMESTAMP_S"],
  ['TIMESTAMP_MS', "(TIMESTAMP '1960-01-01' + INTERVAL (i) MILLISECOND)::TIMESTAMP_MS"],
  ['TIMESTAMP_NS', "'1999-01-01 00:00:00.123456789'::TIMESTAMP_NS"],
  ['TIMESTAMP WITH TIME ZONE', "TIMESTAMPTZ '2024-03-31 01:30:00+00' + INTERVAL (i) MINUTE"],
  ['INTERVAL', 'to_months(i::INTEGER) + to_days(-i::INTEGER) + to_microseconds(i)'],
  ["ENUM('x', 'y', 'zz')", "(['x', 'y', 'zz'])[i % 3 + 1]::ENUM('x', 'y', 'zz')"],
  ['JSON', "('{\"a\": ' || i || '}')::JSON"],
  ['INTEGER[]', '([i, NULL, -i]::INTEGER[])[:i % 4]'],
  ['VARCHAR[][]', "[[i::VARCHAR, NULL], [], NULL, ['']]"],
  ['HUGEINT[]', "[i::HUGEINT, '-170141183460469231731687303715884105728'::HUGEINT]"],
  ["ENUM('x', 'y')[]", "['x', NULL, (['x', 'y'])[i % 2 + 1]]::ENUM('x', 'y')[]"],
  ['DOUBLE[3]', "array_value(i::DOUBLE, NULL, 'nan'::DOUBLE)"],
  ['STRUCT(a BIGINT, "B c" STRUCT(d UUID))', "{'a': i, 'B c': {'d': uuid()}}"],
  ['STRUCT(s HUGEINT, n BIGINT)', "{'s': i::HUGEINT * 2, 'n': CASE WHEN i % 5 = 0 THEN NULL ELSE i END}"],
  ['MAP(VARCHAR, DECIMAL(10,2)[])', "MAP {'k' || i: [i::DECIMAL(10, 2)], '': NULL}"],
  [
    'UNION(n BIGINT, t VARCHAR)',
    "CASE WHEN i % 2 = 0 THEN union_value(n := i)::UNION(n BIGINT, t VARCHAR) ELSE 't'::UNION(n BIGINT, t VARCHAR) END",
  ],
];

const never = new AbortController().signal;
let engine: TestPool;
before(async () => {
  engine = await openTestPool();
});
after(async () => {
  await engine[Symbol.asyncDispose]();
});

const name = { catalog: 'svc_stages', schema: 'main', table: 's0' };

function environment(changes: Partial<FragmentEnvironment> = {}): FragmentEnvironment {
  return { pool: engine.pool, stage: () => assert.fail('Nothing is to be staged.'), ...changes };
}

async function streamOf(sql: string): Promise<Uint8Array> {
  return await arrowStream(await runSplits(plainRequest({ sql }), environment(), { signal: never }));
}

async function rowsOf(
  sql: string,
  rows: InputRows,
  type: string,
  changes: Partial<FragmentEnvironment> = {},
) {
  const columns = [
    { name: 'i', type: 'BIGINT' },
    { name: 'v', type },
  ];
  const request = plainRequest({ sql, tables: [{ kind: 'input', ...name, columns, rows }], arrow: 'client' });
  const result = await runFragment(request, environment(changes), { signal: never });
  const profile = () => assert.fail('Nobody asks.');
  const answer = await collectRows({ ...result, engineDone: result.engineFree, profile }, 2 ** 24);
  await result.engineFree;
  return answer;
}

describe('rows of an earlier stage', () => {
  for (const [type, value] of types)
    it(`are the same values of ${type}`, async () => {
      const isRandom = value.includes('uuid()');
      const stream = await streamOf(
        `SELECT range AS i, v FROM range(600) LEFT JOIN (SELECT i, ${value} AS v FROM range(600) t(i) WHERE i % 3 <> 2) ON i = range`,
      );
      const wanted = isRandom ? 'v' : value;
      const [row] = await rowsOf(
        `SELECT count(*) AS n, count(v) AS known, any_value(typeof(v)) AS type,
           count(*) FILTER (WHERE i % 3 <> 2 AND (v IS DISTINCT FROM (${wanted}) OR v::VARCHAR IS DISTINCT FROM (${wanted})::VARCHAR)) AS different
         FROM s0`,
        { kind: 'bytes', stream },
        type,
      );
      assert.deepEqual(row && Object.fromEntries(row), { n: 600n, known: 400n, type, different: 0n });
    });

  it('may be none: without batches, and in empty ones', async () => {
    const none = await streamOf("SELECT 1::BIGINT AS i, 'x'::ENUM('x') AS v WHERE false");
    const [row] = await rowsOf('SELECT count(*) AS n FROM s0', { kind: 'bytes', stream: none }, "ENUM('x')");
    assert.deepEqual(row && Object.fromEntries(row), { n: 0n });
  });

  it('come as they are made', async () => {
    const stream = await streamOf('SELECT i, i AS v FROM range(100_000) t(i)');
    let opened = 0;
    const rows: InputRows = {
      kind: 'stream',
      async *open(signal) {
        opened += 1;
        assert.ok(!signal.aborted);
        for (let start = 0; start < stream.length; start += 1000) yield stream.subarray(start, start + 1000);
      },
    };
    const [row] = await rowsOf('SELECT count(*) FILTER (WHERE v = i) AS n FROM s0', rows, 'BIGINT');
    assert.deepEqual([opened, row && Object.fromEntries(row)], [1, { n: 100_000n }]);
  });

  it('whose source fails end the fragment with its error', async () => {
    const rows: InputRows = {
      kind: 'stream',
      // biome-ignore lint/correctness/useYield: it fails before its first piece.
      async *open() {
        throw Object.assign(new Error('gone'), { code: 'ENOSPC' });
      },
    };
    await assert.rejects(rowsOf('SELECT 1', rows, 'BIGINT'));
    const [row] = await rowsOf('SELECT count(*) AS n FROM s0', { kind: 'parts', parts: [] }, 'BIGINT');
    assert.deepEqual(row && Object.fromEntries(row), { n: 0n });
  });
});

describe('parts of an earlier stage', () => {
  const partOf = (stream: Uint8Array) => ({
    url: 'https://spool/q/0?signature=secret',
    bytes: stream.byteLength,
    sha256: createHash('sha256').update(stream).digest('hex'),
  });
  const reading = (stream: Uint8Array): Partial<FragmentEnvironment> => ({
    async *readPart() {
      for (let start = 0; start < stream.length; start += 5000) yield stream.subarray(start, start + 5000);
    },
  });
  const count = 'SELECT count(*) AS n FROM s0';

  it('are one behind the other', async () => {
    const stream = await streamOf('SELECT i, i AS v FROM range(10_000) t(i)');
    const parts = [partOf(stream), partOf(stream)];
    const [row] = await rowsOf(count, { kind: 'parts', parts }, 'BIGINT', reading(stream));
    assert.deepEqual(row && Object.fromEntries(row), { n: 20_000n });
  });

  it('that are not what was written are found out, wherever they differ', async () => {
    const stream = await streamOf('SELECT i, i AS v FROM range(10_000) t(i)');
    const parts = [partOf(stream)];
    const corrupt = { code: 'STORAGE_ERROR', retryable: true };
    for (const place of [0, 6, 200, stream.length >> 1, stream.length - 1]) {
      const changed = Uint8Array.from(stream);
      changed[place] = (changed[place] ?? 0) ^ 1;
      await assert.rejects(
        rowsOf(count, { kind: 'parts', parts }, 'BIGINT', reading(changed)),
        corrupt,
        `${place}`,
      );
    }
    for (const length of [0, 100, stream.length - 8])
      await assert.rejects(
        rowsOf(count, { kind: 'parts', parts }, 'BIGINT', reading(stream.subarray(0, length))),
        corrupt,
        `${length}`,
      );
    const longer = Buffer.concat([stream, stream]);
    await assert.rejects(rowsOf(count, { kind: 'parts', parts }, 'BIGINT', reading(longer)), corrupt);
  });
});
