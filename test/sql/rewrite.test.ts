import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import {
  classify,
  gate,
  readSerializedSql,
  rewriteTables,
  statementValueMacros,
  type TableReference,
  type TableTarget,
  writeSerializedSql,
} from '@svc/sql';
import { openDuckDbParser, quoteText } from './duckdb-parser.js';

const parser = openDuckDbParser();
after(() => parser.close());

describe('table rewriting', () => {
  test('gives two snapshots of a table two names and keeps the old one as alias', () => {
    assert.equal(
      rewritten(
        'select t.a from s.t for version as of 1, s.t for version as of 2 u where t.a = u.a',
        versionName,
      ),
      'SELECT t.a FROM s.t_1 AS t , s.t_2 AS u WHERE (t.a = u.a)',
    );
  });

  test('drops AT and leaves the name when nothing else changes', () => {
    assert.equal(
      rewritten('select s.t.a from s.t at (version => 1)', () => undefined),
      'SELECT s.t.a FROM s.t',
    );
  });

  test('reaches subqueries and WITH, and leaves common table expressions alone', () => {
    const sql =
      'with t as (select * from t) select * from t where a in (select b from u) order by (select max(c) from t)';
    assert.equal(
      rewritten(sql, ({ table }) => ({ catalog: 'lake', schema: 's', table: `${table}_new` })),
      'WITH t AS (SELECT * FROM lake.s.t_new AS t)SELECT * FROM t WHERE (a = ANY(SELECT b FROM lake.s.u_new AS u)) ' +
        'ORDER BY (SELECT max(c) FROM t)',
    );
  });

  test('answers the very same tree when nothing changes', () => {
    const parsed = parse('with a as (select 1.50, 10.0 from t) select * from a join u using (id)');
    assert.equal(
      rewriteTables(parsed, () => undefined),
      parsed.query,
    );
  });

  test('keeps numbers that JavaScript would change', () => {
    const sql = 'select 10.0, 1e300, 99999999999999999999999, 18446744073709551615 from t';
    assert.equal(
      rewritten(sql, () => ({ table: 'x' })),
      'SELECT 10.0, 1e+300, 99999999999999999999999, 18446744073709551615 FROM x AS t',
    );
  });
});

describe('deep statements', () => {
  for (const [name, sql] of [
    ['a sum of 950 terms', `select ${'1+'.repeat(950)}1 from t`],
    ['450 nested subqueries', `${'select * from ('.repeat(450)}select * from t${')'.repeat(450)}`],
    ['900 joins', `select * from t${' join t using (a)'.repeat(900)}`],
    ['900 nested lists', `select ${'['.repeat(900)}1${']'.repeat(900)} from t`],
    ['1,000 set operations', `select 1 from t${' union all select 1 from t'.repeat(1000)}`],
  ] as const)
    test(`passes ${name}`, () => {
      assert.equal(gate(parse(sql), 'server').tables.length, 1);
    });

  test('is refused by a code where the engine gives up', () => {
    for (const sql of [`select ${'1+'.repeat(5000)}1`, `select * from t${' join t using (a)'.repeat(5000)}`])
      assert.throws(() => gate(parse(sql), 'server'), { code: 'STATEMENT_TOO_LARGE' });
  });
});

describe('statement values', () => {
  test('are one constant per statement, under the names that the statement gave', () => {
    for (const macro of statementValueMacros(values)) parser.execute(macro);
    parser.execute("SET TimeZone = 'Asia/Tokyo'");
    const sql =
      'select now(), current_timestamp, transaction_timestamp(), current_date, today(), current_time, localtime, ' +
      'localtimestamp, ago(interval 1 day), user, session_user, current_user, current_role, current_schema, current_catalog';
    const row = JSON.parse(parser.query(`SELECT to_json(t)::VARCHAR FROM (${sql}) t`)) as object;
    assert.deepEqual(Object.values(row), [
      ...Array(3).fill('2025-01-02 08:30:00.000001+09'),
      ...Array(2).fill('2025-01-02'),
      '08:30:00.000001+09',
      '08:30:00.000001',
      '2025-01-02 08:30:00.000001',
      '2025-01-01 08:30:00.000001+09',
      ...Array(4).fill("o'brien"),
      's',
      'lake',
    ]);
    assert.match(
      parser.query(`SELECT to_json(list(column_name))::VARCHAR FROM (DESCRIBE ${sql})`),
      /"now\(\)","current_timestamp",.*"user","session_user"/,
    );
  });

  test('give way to columns of their name', () => {
    for (const macro of statementValueMacros(values)) parser.execute(macro);
    assert.equal(parser.query(`SELECT user::VARCHAR FROM (SELECT 'column' AS "user")`), 'column');
  });

  test('are asked for by every statement that has one', () => {
    const using = [
      'select now()',
      'select current_date',
      'select a from t where "user" = b',
      'select ago(interval 1 day)',
    ];
    for (const sql of using) assert.equal(gate(parse(sql), 'server').usesStatementValues, true);
    for (const sql of ['select 1', 'select t.user from t'])
      assert.equal(gate(parse(sql), 'server').usesStatementValues, false);
  });
});

const values = { nowMicros: 1_735_774_200_000_001n, user: "o'brien", catalog: 'lake', schema: 's' };

function parse(text: string) {
  const statement = classify(text);
  assert.ok(statement.kind === 'query');
  const { sql } = statement;
  return readSerializedSql(sql, parser.query(`SELECT json_serialize_sql(${quoteText(sql)}::VARCHAR)`));
}

function rewritten(sql: string, targetOf: (reference: TableReference) => TableTarget | undefined): string {
  const parsed = parse(sql);
  const json = writeSerializedSql(parsed, rewriteTables(parsed, targetOf));
  return parser.query(`SELECT json_deserialize_sql(${quoteText(json)}::JSON)`);
}

function versionName({ timeTravel, ...name }: TableReference): TableTarget | undefined {
  return timeTravel?.kind === 'snapshot'
    ? { ...name, table: `${name.table}_${timeTravel.snapshotId}` }
    : undefined;
}
