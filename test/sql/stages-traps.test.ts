import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type PlanNode, PlanNotUnderstood, readPlan, stagePlan } from '@svc/sql';
import { generatedTableStatements, generatedTables } from './query-generator.js';
import { differenceOf, openStageOracle, type StageOracle } from './stage-oracle.js';

const wide = `CREATE TABLE w AS SELECT i::INTEGER id, (i % 5)::SMALLINT si, (i * 1000000007)::BIGINT bi,
  (i / 7)::FLOAT fl,
  CASE WHEN i % 10 = 0 THEN 'nan'::DOUBLE WHEN i % 10 = 1 THEN 'inf'::DOUBLE WHEN i % 10 = 2 THEN -0.0 ELSE i / 3 END db,
  (i * 12345.678)::DECIMAL(38,10) big, (i * 1.11)::DECIMAL(15,2) dc, ('1' || i || '.5')::DECIMAL(4,1) sm,
  CASE WHEN i % 4 = 0 THEN NULL ELSE {'x': i % 3, 'y': {'z': 'z' || (i % 2), 'a b': i}} END st,
  [i, NULL, i + 1] l, MAP {'a': i} m, ('x' || i)::BLOB bl, TIMESTAMP '2024-01-30 12:00:00' + INTERVAL (i) DAY ts,
  TIMESTAMPTZ '2024-01-30 12:00:00+00' + INTERVAL (i) HOUR tz, TIME '10:00:00' + INTERVAL (i) SECOND ti,
  (TIMESTAMP '2024-01-30 12:00:00.123456' + INTERVAL (i) DAY)::TIMESTAMP_NS tn, INTERVAL (i) DAY iv,
  md5(i::VARCHAR)::UUID u, DATE '2024-01-01' + i::INTEGER dt, CASE WHEN i % 3 = 0 THEN 'Ab' WHEN i % 3 = 1 THEN 'aB' END s
  FROM range(40) r(i)`;

const groups = `CREATE TABLE g AS SELECT i % 997 k, ((hash(i) % 10000000)::BIGINT / 100)::DECIMAL(15,2) d,
  ((hash(i * 5) % 1000000000)::BIGINT / 1000)::DECIMAL(18,3) w, (hash(i * 3) % 100000000000)::BIGINT b,
  (hash(i * 7) % 1000)::SMALLINT s FROM range(20000) r(i)`;

/** Statements that are answered in stages, and equally. `-- ordered` where the order leaves nothing open. */
const equal: Readonly<Record<string, readonly string[]>> = {
  'fields of structs in filters and answers': [
    'SELECT id, st.y.z FROM w WHERE st.x > 0',
    'SELECT st.y, st FROM w WHERE st.y.z = \'z1\' AND st.y."a b" > 5',
    'SELECT st.x, count(*), max(st.y.z) FROM w WHERE st IS NOT NULL GROUP BY st.x',
    "SELECT {'p': id, 'q r': s} FROM w",
  ],
  'types of every kind': [
    'SELECT * FROM w',
    'SELECT DISTINCT * EXCLUDE (m, iv) FROM w',
    'SELECT min(COLUMNS(* EXCLUDE (m))) FROM w',
    'SELECT si, sum(si), sum(bi), sum(bi::HUGEINT * 10000000000), sum(big), sum(dc), sum(sm), avg(si), avg(dc), avg(bi), avg(big) FROM w GROUP BY si',
    'SELECT sum(fl), avg(fl), max(iv) FROM w',
    'SELECT max(db), min(db), count(DISTINCT db) FROM w',
  ],
  'constants with their types': [
    `SELECT id, 1::UTINYINT, -5::HUGEINT, 1.50::DECIMAL(7,3), 'NaN'::DOUBLE, '-inf'::FLOAT, 0.1::FLOAT, -0.0::DOUBLE, 1e300::DOUBLE,
       'a''b'::VARCHAR, '\\xAB\\x00'::BLOB, TIME '01:02:03.000004', TIMESTAMP '1969-12-31 23:59:59.999999',
       TIMESTAMPTZ '2020-01-01 00:00:00+02', '2020-01-01 00:00:00.123456789'::TIMESTAMP_NS, DATE '0001-01-01',
       '00000000-0000-0000-0000-0000000000ff'::UUID, INTERVAL '-3 months 2 days -1 second', [1, NULL]::BIGINT[],
       {'a': 1, 'b': 'x'}, NULL::DATE FROM w`,
    "SELECT id FROM w WHERE ts > TIMESTAMP '2024-02-10 00:00:00' AND tz < TIMESTAMPTZ '2024-01-31 20:00:00+00'",
    "SELECT id FROM w WHERE u = md5('7')::UUID OR bl = 'x9'::BLOB OR bi::HUGEINT = 3000000021::HUGEINT",
    "SELECT id FROM w WHERE fl = (1 / 7)::FLOAT OR db = (4 / 3)::DOUBLE OR db = 'nan'::DOUBLE",
  ],
  'arithmetic of exact types': [
    'SELECT id // 3, id % 3, -id // 3, bi // 7, si + si, id / 7, dc / 3, dc * dc, dc + 1, 1 - sm, dc * sm * sm, big + 1, big - dc FROM w',
    'SELECT sum(dc * (1 - sm)), sum(dc * (1 - sm) * (1 + sm)) FROM w',
    'SELECT round(dc, 1), ceil(dc), floor(sm), abs(-dc), dc % 3, round(db, 2) FROM w WHERE id > 2 AND NOT isnan(db)',
  ],
  times: [
    "SELECT date_trunc('month', ts), ts + INTERVAL 1 MONTH, dt - 3, dt - DATE '2024-01-05', year(dt), strftime(ts, '%Y/%m'), date_part('dow', dt), ts::DATE, epoch(ts) FROM w",
    "SELECT date_trunc('day', tz), count(*) FROM w GROUP BY 1",
  ],
  'comparisons with NULL': [
    'SELECT a.id, a.k IN (SELECT k FROM b) FROM a',
    'SELECT a.id FROM a WHERE a.k NOT IN (SELECT k FROM b)',
    'SELECT a.id FROM a WHERE a.k NOT IN (SELECT k FROM b WHERE k IS NOT NULL AND k < 3)',
    'SELECT a.id FROM a WHERE a.k NOT IN (SELECT k FROM e)',
    'SELECT a.id, (a.k, a.s) IN (SELECT k, s FROM b) FROM a',
    'SELECT a.id, a.k IN (SELECT k FROM b WHERE b.s = a.s) FROM a',
    'SELECT a.id, a.v > ALL (SELECT v FROM b), a.v < ANY (SELECT v FROM b WHERE b.k = a.k) FROM a',
    'SELECT a.id, EXISTS (SELECT 1 FROM b WHERE b.k = a.k), NOT EXISTS (SELECT 1 FROM b WHERE b.s <> a.s) FROM a',
    'SELECT a.id, b.id FROM a JOIN b ON a.k IS NOT DISTINCT FROM b.k AND a.s IS DISTINCT FROM b.s',
    'SELECT k FROM a WHERE k IN (1, NULL, 3) OR k NOT IN (1, 2)',
  ],
  'scalar subqueries': [
    'SELECT id, (SELECT max(v) FROM b), (SELECT max(v) FROM b WHERE b.k = a.k) FROM a',
    'SELECT id, (SELECT v FROM b WHERE b.id = a.id) FROM a',
    'SELECT id, (SELECT count(*) FROM b WHERE b.v < a.v) FROM a WHERE v > (SELECT avg(v) FROM a)',
    'SELECT id, (SELECT s FROM b WHERE b.id < a.id ORDER BY b.id DESC LIMIT 1) FROM a',
    'SELECT id, (SELECT v FROM e) FROM a',
    'SELECT id, (WITH x AS MATERIALIZED (SELECT * FROM b) SELECT max(x.v) + count(y.v) FROM x JOIN x y ON x.id = y.id WHERE x.k = a.k AND y.v > a.v) FROM a',
    'SELECT a.id, x.* FROM a, LATERAL (SELECT b.v, b.id FROM b WHERE b.k = a.k AND b.v > a.v) x',
  ],
  'joins of every type': [
    ...['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'].flatMap((join) => [
      `SELECT a.id, b.id FROM a ${join} b ON a.k = b.k AND a.v > b.v`,
      `SELECT a.id, b.id FROM a ${join} b ON a.k = b.k OR a.s = b.s`,
      `SELECT count(*), sum(a.v), sum(b.v) FROM a ${join} e AS b ON a.k = b.k`,
    ]),
    'SELECT id FROM a SEMI JOIN b ON a.k = b.k',
    'SELECT id FROM a ANTI JOIN b ON a.k = b.k AND a.v < b.v',
    'SELECT a.id, b.v FROM a ASOF JOIN b ON a.k = b.k AND a.t >= b.t WHERE b.id % 2 = 0 OR true',
    'SELECT count(*) FROM a, b, c',
  ],
  'aggregates that need all rows': [
    "SELECT k, string_agg(s, '-' ORDER BY id), list(v ORDER BY id DESC), quantile_cont(v, 0.3), quantile_disc(v, 0.9), median(d), mad(v) FROM a GROUP BY k",
    'SELECT k, count(DISTINCT s), sum(DISTINCT v), count(*), avg(d), count(DISTINCT v) FILTER (WHERE b) FROM a GROUP BY k',
    'SELECT stddev(v), var_pop(d), corr(v, id), arg_min(s, id), arg_max(s, id), bit_xor(v), approx_count_distinct(v) FROM a',
    'SELECT k, s, count(*), grouping(k, s), sum(d) FROM a GROUP BY GROUPING SETS ((k, s), (k), ())',
    'SELECT count(*), sum(v), avg(v), min(s), count(DISTINCT v) FROM e',
    'SELECT k, count(*) FROM a GROUP BY k HAVING count(*) > 3',
    'SELECT count(*) FROM a',
    'SELECT k FROM a GROUP BY ALL',
  ],
  'first rows': [
    'SELECT * FROM a ORDER BY v DESC NULLS LAST, id LIMIT 5 OFFSET 3 -- ordered',
    'SELECT id FROM a ORDER BY s NULLS FIRST, id DESC -- ordered',
    'SELECT id FROM a ORDER BY id LIMIT 10 % -- ordered',
    'SELECT id FROM a ORDER BY v, id OFFSET 7 -- ordered',
    'SELECT DISTINCT ON (k) k, id, v FROM a ORDER BY k, v, id -- ordered',
    'SELECT DISTINCT k, s FROM a',
    'SELECT count(*) FROM (SELECT * FROM a LIMIT 7 OFFSET 2)',
    'SELECT count(*) FROM (SELECT * FROM a WHERE id > 30 LIMIT 50)',
    'SELECT count(*), sum(v) FROM (SELECT * FROM a WHERE id % 2 = 0 OFFSET 0) WHERE v > 3',
    'SELECT * FROM b JOIN (SELECT * FROM a ORDER BY id LIMIT 10) x ON b.k = x.k',
    'SELECT id FROM a ORDER BY id LIMIT 9223372036854775807 OFFSET 3 -- ordered',
    'SELECT id FROM a WHERE id > 10 LIMIT 9223372036854775807 OFFSET 0',
    'SELECT k + 1, id FROM a ORDER BY v * 2, id LIMIT 6 -- ordered',
  ],
  windows: [
    'SELECT id, row_number() OVER (PARTITION BY k ORDER BY id), lag(v, 2, 0) OVER (ORDER BY id), rank() OVER (ORDER BY v) FROM a',
    'SELECT id, sum(v) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE TIES), sum(v) OVER (PARTITION BY s) FROM a',
    'SELECT id, first_value(v IGNORE NULLS) OVER (ORDER BY id GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW), avg(v) OVER () FROM a',
    'SELECT id FROM a QUALIFY row_number() OVER (PARTITION BY k ORDER BY v, id) = 1',
  ],
  'sets and names': [
    'SELECT k FROM a UNION SELECT k FROM b',
    'SELECT k, s FROM a UNION ALL SELECT k, s FROM b UNION ALL SELECT 1, NULL',
    'SELECT count(*), sum(k) FROM (SELECT k FROM a UNION ALL SELECT k FROM b)',
    'SELECT k FROM a EXCEPT SELECT k FROM b WHERE k > 3',
    'SELECT k FROM a INTERSECT ALL SELECT k FROM b',
    'SELECT k AS "a ""b", k AS "a ""b", v AS "select" FROM a',
    'WITH x AS MATERIALIZED (SELECT k, sum(v) s FROM a GROUP BY k) SELECT * FROM x WHERE s > (SELECT avg(s) FROM x)',
    'WITH x AS MATERIALIZED (SELECT * FROM a WHERE v > 0) SELECT p.id, q.id FROM x p JOIN x q ON p.k = q.k',
    'SELECT id, unnest(l) FROM w',
    'SELECT x, count(*) FROM (SELECT unnest(l) x FROM w) GROUP BY x',
    "SELECT * FROM a JOIN (VALUES (1, 'one'), (2, 'two')) v(k, n) ON a.k = v.k",
    "SELECT s || '%', s LIKE 'a\\_%' ESCAPE '\\', upper(s), s ILIKE '%A%', regexp_matches(s, '^c') FROM a",
  ],
};

/** Statements that are left to one node, with the reason. */
const whole: readonly (readonly [sql: string, reason: RegExp])[] = [
  ['SELECT random() FROM a', /random/],
  ['SELECT uuid() FROM a', /uuid/],
  ['SELECT list_transform(l, x -> x + 1) FROM w', /list_transform/],
  ['SELECT approx_quantile(v, 0.5) FROM a', /approx_quantile/],
  [
    'SELECT sum(v) OVER (ORDER BY t RANGE BETWEEN INTERVAL 3 DAYS PRECEDING AND CURRENT ROW) FROM a',
    /window frame/,
  ],
  ['SELECT row_number() OVER () FROM a', /no order/],
  ['SELECT sum(v) OVER (ROWS 1 PRECEDING) FROM a', /no order/],
  ['SELECT id FROM a USING SAMPLE 10 ROWS', /sample/],
  ['SELECT a.id, b.id FROM a POSITIONAL JOIN b', /positional/],
  [
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r JOIN a ON a.id = n) SELECT * FROM r',
    /recursive/,
  ],
  ['SELECT count(*) FROM a, range(3)', /range/],
  ["SELECT s::ENUM('Ab', 'aB') FROM w", /ENUM/],
  ["SELECT 'infinity'::DATE, id FROM a", /constant/],
  ['SELECT file_row_number FROM a', /./],
  ['SELECT 1', /dividing/],
];

describe('stages', () => {
  let oracle: StageOracle;
  before(() => {
    oracle = openStageOracle([...generatedTableStatements, wide, groups], [...generatedTables, 'w', 'g']);
  });
  after(() => oracle.close());

  for (const [name, statements] of Object.entries(equal))
    test(`answer ${name}`, () => {
      for (const sql of statements) {
        const expected = oracle.answer(sql.replace(' -- ordered', ''));
        const staged = oracle.stage(sql.replace(' -- ordered', ''));
        if (staged.kind === 'whole') assert.fail(`${sql}: ${staged.reason}`);
        for (const splits of [1, 4]) {
          const found = oracle.run(staged.plan, { splits });
          const difference = differenceOf(expected, found, {
            isOrdered: sql.endsWith('ordered'),
            tolerance: 1e-9,
          });
          assert.equal(difference, undefined, sql);
        }
      }
    });

  for (const [sql, reason] of whole)
    test(`are not made of ${sql}`, () => {
      let staged: ReturnType<typeof oracle.stage>;
      try {
        staged = oracle.stage(sql);
      } catch (error) {
        assert.match(String(error), /Binder Error/);
        return;
      }
      if (staged.kind === 'staged') assert.fail('it is in stages');
      assert.match(staged.reason, reason);
    });

  test('fail as the statement does where a scalar subquery has two rows', () => {
    for (const sql of [
      'SELECT id, (SELECT v FROM b WHERE b.k = a.k) FROM a',
      'SELECT id FROM a WHERE v = (SELECT v FROM b WHERE id < 2)',
    ]) {
      assert.throws(() => oracle.answer(sql), /More than one row/);
      const staged = oracle.stage(sql);
      if (staged.kind === 'whole') assert.fail(staged.reason);
      assert.throws(() => oracle.run(staged.plan, { splits: 3 }), /More than one row/);
    }
  });

  test('are not made of a plan that refers to columns which are not there', () => {
    const plan = readPlan(oracle.planText('SELECT id, count(*) FROM a GROUP BY id'));
    const broken = JSON.parse(
      JSON.stringify(plan, (key, value: unknown) => (key === 'index' && value === 0 ? 9 : value)),
    ) as PlanNode;
    const options = { names: ['id', 'n'], bytesOf: () => 10, mayBroadcastBytes: 10, readWholeBytes: 0 };
    assert.equal(stagePlan(plan, options).stages.length, 2);
    assert.throws(() => stagePlan(broken, options), PlanNotUnderstood);
  });

  test('divide averages as the engine does, to the last digit', () => {
    const sql = 'SELECT k, avg(d), avg(w), avg(b), avg(s) FROM g GROUP BY k ORDER BY k';
    const staged = oracle.stage(sql);
    if (staged.kind === 'whole') assert.fail(staged.reason);
    assert.deepEqual(oracle.run(staged.plan, { splits: 3 }), oracle.answer(sql));
  });

  test('divide below a barrier, and keep it', () => {
    const staged = oracle.stage('SELECT id FROM (SELECT * FROM a WHERE k > 2 OFFSET 0) WHERE v > 3');
    if (staged.kind === 'whole') assert.fail(staged.reason);
    const [first] = staged.plan.stages;
    assert.equal(first?.split, 'scan_1');
    assert.match(first?.sql ?? '', / OFFSET 0\b.* WHERE .*"?v"?|OFFSET 0/);
    assert.equal(first?.columns.length, 1);
  });

  test('read small scans whole, and never hand on more than they may', () => {
    const sql = 'SELECT a.id, b.id FROM a JOIN b ON a.k = b.k JOIN c ON c.k = b.k';
    const sizes: Readonly<Record<string, number>> = { a: 10_000, b: 5000, c: 10 };
    const planned = (mayBroadcastBytes: number) => {
      const staged = oracle.stage(sql, {
        mayBroadcastBytes,
        readWholeBytes: 100,
        bytesOf: ({ stubFile }) => sizes[oracle.tableOf(stubFile)] ?? 0,
      });
      if (staged.kind === 'whole') assert.fail(staged.reason);
      const tableOfScan = (name: string) =>
        oracle.tableOf(staged.plan.scans.find((scan) => scan.name === name)?.stubFile ?? '');
      return staged.plan.stages.map(({ split, scans, inputs }) => ({
        split: split && tableOfScan(split),
        scans: scans.map(tableOfScan),
        inputs: inputs.length,
      }));
    };
    const broadcast = planned(6000);
    assert.deepEqual(
      broadcast.map(({ split }) => split),
      ['b', 'a', undefined],
    );
    assert.deepEqual(
      planned(100).map(({ split, inputs }) => [split, inputs]),
      [
        ['a', 0],
        ['b', 0],
        [undefined, 2],
      ],
    );
  });
});
