/** What is set before a statement that reads through barriers: what they cost is paid only where somebody could tell. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { executionSettings, readPlan, showsGatheredOrder } from '@svc/sql';
import { openStageOracle, type StageOracle } from './stage-oracle.js';

const guarded = '(SELECT id, k, CASE WHEN k > 3 THEN v END AS v FROM a WHERE id % 2 = 0 OFFSET 0)';
const inAnyOrder = 'SET preserve_insertion_order = false';
const withoutJoinFilters = "SET disabled_optimizers = 'join_filter_pushdown'";

let oracle: StageOracle;
before(() => {
  oracle = openStageOracle(
    [
      'CREATE TABLE a AS SELECT i AS id, i % 10 AS k, i % 7 AS v FROM range(5000) r(i)',
      'CREATE TABLE b AS SELECT i AS k, i * 2 AS w FROM range(3) r(i)',
    ],
    ['a', 'b'],
  );
});
after(() => oracle.close());

const settingsOf = (sql: string) => executionSettings(readPlan(oracle.planText(sql)));

describe('a statement that reads through a barrier', () => {
  it('runs in any order where its order is lost', () => {
    for (const sql of [
      `SELECT k, sum(v) FROM ${guarded} GROUP BY k`,
      `SELECT * FROM ${guarded} ORDER BY id`,
      `SELECT * FROM ${guarded} ORDER BY id LIMIT 3`,
      `SELECT count(*) FROM ${guarded} x JOIN b USING (k)`,
    ])
      assert.deepEqual(settingsOf(sql), [inAnyOrder], sql);
  });

  it('keeps the order that is answered, and by which rows are picked', () => {
    for (const sql of [
      `SELECT * FROM ${guarded}`,
      `SELECT k + 1 FROM ${guarded} WHERE sqrt(v) > 1`,
      `SELECT count(*) FROM (SELECT * FROM ${guarded} LIMIT 5)`,
      `SELECT sum(n * id) FROM (SELECT id, row_number() OVER () AS n FROM ${guarded})`,
      `SELECT arg_max(id, k) FROM ${guarded}`,
      `SELECT k, string_agg(v::VARCHAR) FROM ${guarded} GROUP BY k`,
      `SELECT sum(id) FROM (SELECT DISTINCT ON (k) k, id FROM ${guarded})`,
      `SELECT count(*) FROM (SELECT * FROM ${guarded} UNION ALL (SELECT * FROM a LIMIT 1))`,
      `SELECT * FROM ${guarded} UNION ALL SELECT k, count(*), 1 FROM ${guarded} GROUP BY k`,
    ])
      assert.ok(!settingsOf(sql).includes(inAnyOrder), sql);
    assert.deepEqual(settingsOf('SELECT k, count(*) FROM a GROUP BY k'), []);
  });

  it('has the keys of joins below the barrier, but not below a limit', () => {
    assert.deepEqual(settingsOf(`SELECT * FROM ${guarded} x JOIN b USING (k)`), []);
    assert.deepEqual(settingsOf(`SELECT * FROM (SELECT * FROM ${guarded} LIMIT 50) x JOIN b USING (k)`), [
      withoutJoinFilters,
    ]);
  });

  it('shows in what order rows were gathered for a correlated subquery, unless that is lost', () => {
    const isIn = '(SELECT id, k, v FROM a WHERE id % 2 = 0 AND k IN (SELECT k FROM b) OFFSET 0)';
    const exists =
      '(SELECT id, k, v FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND a.id > b.w) OFFSET 0)';
    const shows = (sql: string) => showsGatheredOrder(readPlan(oracle.planText(sql)));
    for (const sql of [
      `SELECT id FROM ${exists}`,
      `SELECT k, count(*) FROM ${exists} GROUP BY k`,
      `SELECT k, count(*) FROM (SELECT DISTINCT k FROM ${exists}) GROUP BY k`,
      `SELECT list(id) FROM ${exists}`,
      `SELECT id FROM ${exists} UNION ALL SELECT 1`,
    ]) {
      assert.equal(shows(sql), true, sql);
      assert.ok(!settingsOf(sql).includes(inAnyOrder), sql);
    }
    for (const sql of [
      `SELECT id FROM ${isIn}`,
      `SELECT k, count(*) FROM ${isIn} GROUP BY k`,
      `SELECT count(*), sum(id) FROM ${exists}`,
      `SELECT id FROM ${exists} ORDER BY id`,
      `SELECT k, count(*) AS n FROM ${exists} GROUP BY k ORDER BY k`,
    ])
      assert.equal(shows(sql), false, sql);
  });

  it('answers the same with them', () => {
    for (const sql of [
      `SELECT count(*), sum(w), sum(v) FROM ${guarded} x JOIN b USING (k)`,
      `SELECT count(*), sum(w) FROM ${guarded} x JOIN b ON x.v = b.k`,
      `SELECT count(*), sum(w) FROM (SELECT * FROM ${guarded} LIMIT 50) x JOIN b USING (k)`,
    ])
      assert.deepEqual(oracle.answer(sql).rows, oracle.answer(sql.replaceAll(' OFFSET 0', '')).rows, sql);
  });
});
