/**
 * What it takes that rows behind a policy with a correlated subquery come in their table's order: such a view as the planner
 * writes it where a statement shows the order, and where none does, in turns. `node bench/policy/gathered-order.mjs`, after
 * `npm run build`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInProcessPool } from '@svc/engine';
import { policySql } from '../../packages/coordinator/dist/policy/policy-view.js';

const rowCount = 5_000_000;
const rounds = 5;
const GiB = 2 ** 30;

const folder = await mkdtemp(join(tmpdir(), 'svc-gathered-order-'));
const pool = createInProcessPool({
  folder,
  limits: { memoryBytes: 4 * GiB, threads: 2, tempDirectoryBytes: 4 * GiB },
});
try {
  const lease = await pool.lease({ owner: 'bench', lane: 'query' });
  const file = join(lease.inputDirectory, 't.parquet');
  const view = (isOrdered) =>
    policySql({
      hidden: { catalog: 'svc', schema: 'main', table: 't' },
      alias: 't',
      columns: ['id', 'k', 'v', 's'].map((name) => ({ name, type: 'BIGINT' })),
      filters: ['EXISTS (SELECT 1 FROM svc.main.m WHERE m.k = t.k AND m.v < t.v)'],
      masks: new Map(),
      ...{ isBarrier: true, isOrdered },
    });
  await lease.execute([
    `COPY (SELECT i AS id, i % 1000 AS k, hash(i) % 100 AS v, 'text ' || i AS s FROM range(${rowCount}) r(i)) TO '${file}'`,
    "ATTACH ':memory:' AS svc",
    `CREATE VIEW svc.main.t AS FROM '${file}'`,
    'CREATE TABLE svc.main.m AS SELECT i * 2 AS k, i % 3 AS v FROM range(400) r(i)',
    'USE svc',
  ]);
  for (const [what, sql] of [
    ['groups and counts', 'SELECT k, count(*) FROM v GROUP BY k'],
    ['all rows', 'SELECT id, s FROM v'],
    ['five rows', 'SELECT id, s FROM v LIMIT 5'],
  ]) {
    const seconds = new Map([false, true].map((isOrdered) => [isOrdered, []]));
    for (let round = 0; round < rounds; round++)
      for (const [isOrdered, measured] of seconds) {
        const text = `CREATE OR REPLACE TEMP TABLE answer AS WITH v AS (${view(isOrdered)} OFFSET 0) ${sql}`;
        const began = performance.now();
        await lease.execute([text]);
        measured.push((performance.now() - began) / 1000);
      }
    const [any, ordered] = [...seconds.values()].map((measured) => Math.min(...measured));
    console.log(
      `${what}: ${any.toFixed(3)} s, in the table's order ${ordered.toFixed(3)} s, ${(ordered / any).toFixed(2)} x`,
    );
  }
  await lease.release();
} finally {
  await pool.destroy();
  await rm(folder, { recursive: true, force: true });
}
