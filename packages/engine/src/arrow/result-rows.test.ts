import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { EngineLease, EnginePool } from '../api.js';
import { createInProcessPool } from '../instance/in-process-pool.js';
import { collectRows, type ResultRow } from './result-rows.js';

let folder: string;
let pool: EnginePool;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-rows-'));
  const limits = { memoryBytes: 256 * 2 ** 20, threads: 1, tempDirectoryBytes: 2 ** 28 };
  pool = createInProcessPool({ folder, limits });
});
after(async () => {
  await pool.destroy();
  await rm(folder, { recursive: true, force: true });
});

test('values of every type that statements of ours answer', async () => {
  const rows = await collect(
    "SELECT NULL::INTEGER AS n, true AS b, -7::TINYINT AS i, 18446744073709551615::UBIGINT AS u, 'zürich 💥' AS s, ['a', NULL] AS l, {'x': 1, 'y': NULL} AS r, MAP {'k': MAP {'a': 'b'}} AS m",
  );
  assert.deepEqual(rows, [
    new Map<string, unknown>([
      ['n', null],
      ['b', 1n],
      ['i', -7n],
      ['u', 18446744073709551615n],
      ['s', 'zürich 💥'],
      ['l', ['a', null]],
      [
        'r',
        new Map([
          ['x', 1n],
          ['y', null],
        ] as const),
      ],
      ['m', new Map([['k', new Map([['a', 'b']])]])],
    ]),
  ]);
});

test('rows of many batches, in order', async () => {
  const rows = await collect("SELECT i, repeat('x', 5000) AS s FROM range(10000) AS t(i)");
  assert.deepEqual([rows.length, rows[9_999]?.get('i')], [10_000, 9_999n]);
});

test('a result that is too large is given up', async () => {
  await assert.rejects(collect("SELECT repeat('x', 5000) FROM range(10000)", 1_000_000), {
    code: 'RESULT_TOO_LARGE',
  });
});

test('a column of another type is a defect, and named', async () => {
  await assert.rejects(collect('SELECT 1.5 AS price'), { code: 'INTERNAL_ERROR', message: /"price"/ });
});

test('what COPY says of its files, and the next lease finds none of them', async () => {
  const output = await withLease(async (lease) => {
    const sql = `COPY (SELECT 1 AS a, 'nan'::DOUBLE AS b) TO '${lease.outputDirectory}/x.parquet' (FORMAT parquet, RETURN_STATS)`;
    const [row] = await collectRows(await lease.query({ sql, arrow: 'lossless' }), 2 ** 20);
    assert.equal(row?.get('count'), 1n);
    const statistics = row.get('column_statistics');
    assert.ok(statistics instanceof Map);
    assert.equal(statistics.get('"b"')?.get('has_nan'), 'true');
    return lease.outputDirectory;
  });
  await withLease(async (lease) => assert.equal(lease.outputDirectory, output));
  assert.deepEqual(await readdir(output), []);
});

async function collect(sql: string, maxBytes = 2 ** 28): Promise<readonly ResultRow[]> {
  return await withLease(
    async (lease) => await collectRows(await lease.query({ sql, arrow: 'lossless' }), maxBytes),
  );
}

async function withLease<T>(use: (lease: EngineLease) => Promise<T>): Promise<T> {
  const lease = await pool.lease({ owner: 'ada', lane: 'query' });
  try {
    return await use(lease);
  } finally {
    await lease.release();
  }
}
