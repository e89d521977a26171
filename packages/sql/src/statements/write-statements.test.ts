import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { classify } from './classify.js';
import type { CreateSchema, CreateTable } from './ddl-statements.js';

const plain = {
  ifNotExists: false,
  orReplace: false,
  partitioning: [],
  properties: [],
  comment: undefined,
  query: undefined,
};

function createTable(sql: string): CreateTable {
  const statement = classify(sql);
  assert.equal(statement.kind, 'create-table');
  return statement as CreateTable;
}

describe('CREATE TABLE', () => {
  test('takes names, columns, comments and NOT NULL apart', () => {
    const sql = `create table if not exists lake."a.b".t (id bigint not null comment 'the ''id''', "x y" varchar null,
      z text comment 'z' not null)`;
    assert.deepEqual(createTable(sql), {
      kind: 'create-table',
      statementType: 'ctas',
      ...plain,
      name: ['lake', 'a.b', 't'],
      ifNotExists: true,
      columns: [
        { name: 'id', type: { kind: 'long' }, isRequired: true, comment: "the 'id'" },
        { name: 'x y', type: { kind: 'string' }, isRequired: false, comment: undefined },
        { name: 'z', type: { kind: 'string' }, isRequired: true, comment: 'z' },
      ],
    });
  });

  test('knows every type, in the spellings of DuckDB, Spark and Trino', () => {
    const types: Readonly<Record<string, unknown>> = {
      boolean: { kind: 'boolean' },
      int: { kind: 'int' },
      integer: { kind: 'int' },
      bigint: { kind: 'long' },
      real: { kind: 'float' },
      float: { kind: 'float' },
      'double precision': { kind: 'double' },
      decimal: { kind: 'decimal', precision: 18, scale: 3 },
      'numeric(38)': { kind: 'decimal', precision: 38, scale: 0 },
      'decimal(12, 2)': { kind: 'decimal', precision: 12, scale: 2 },
      date: { kind: 'date' },
      'time(6)': { kind: 'time' },
      timestamp: { kind: 'timestamp' },
      'timestamp(6) without time zone': { kind: 'timestamp' },
      'timestamp with time zone': { kind: 'timestamptz' },
      timestamptz: { kind: 'timestamptz' },
      'timestamp(9)': { kind: 'timestamp_ns' },
      'timestamp(9) with time zone': { kind: 'timestamptz_ns' },
      'varchar(10)': { kind: 'string' },
      uuid: { kind: 'uuid' },
      blob: { kind: 'binary' },
      'fixed(16)': { kind: 'fixed', length: 16 },
      'int[]': { kind: 'list', element: { kind: 'int' } },
      'array<string>': { kind: 'list', element: { kind: 'string' } },
      'map(varchar, double)': { kind: 'map', key: { kind: 'string' }, value: { kind: 'double' } },
      'struct(a int, "b c" date[])': {
        kind: 'struct',
        fields: [
          { name: 'a', type: { kind: 'int' } },
          { name: 'b c', type: { kind: 'list', element: { kind: 'date' } } },
        ],
      },
      'row(a struct(b int)[])': {
        kind: 'struct',
        fields: [
          {
            name: 'a',
            type: {
              kind: 'list',
              element: { kind: 'struct', fields: [{ name: 'b', type: { kind: 'int' } }] },
            },
          },
        ],
      },
    };
    for (const [text, type] of Object.entries(types))
      assert.deepEqual(createTable(`create table t (c ${text}, d int)`).columns[0]?.type, type, text);
  });

  test('takes every transform, and clauses in any order', () => {
    const { partitioning, properties, comment } = createTable(
      `create table t (a int) comment 'c' tblproperties ('write.x' = 'y', format-version = 2, write.z = true)
        partitioned by (a, year(b), months(c), day(d), hours(e), bucket(16, f), bucket(g, 4), truncate(10, h), identity(i), void(j))`,
    );
    assert.deepEqual(partitioning, [
      { kind: 'identity', column: 'a' },
      { kind: 'year', column: 'b' },
      { kind: 'month', column: 'c' },
      { kind: 'day', column: 'd' },
      { kind: 'hour', column: 'e' },
      { kind: 'bucket', count: 16, column: 'f' },
      { kind: 'bucket', count: 4, column: 'g' },
      { kind: 'truncate', width: 10, column: 'h' },
      { kind: 'identity', column: 'i' },
      { kind: 'void', column: 'j' },
    ]);
    assert.deepEqual(properties, [
      ['write.x', 'y'],
      ['format-version', '2'],
      ['write.z', 'true'],
    ]);
    assert.equal(comment, 'c');
  });

  test('what looks like a clause may be a name', () => {
    const { columns } = createTable('create table t ("primary" int, "like" text) using iceberg');
    assert.deepEqual(
      columns.map(({ name }) => name),
      ['primary', 'like'],
    );
    const insert = classify('insert into t select conflict from a join b on conflict = 1 where (returning)');
    assert.equal(insert.kind, 'insert');
  });

  test('OR REPLACE is part of the statement', () => {
    assert.equal(createTable('create or replace table t (a int)').orReplace, true);
    assert.equal(createTable('create or replace table t as select 1 a').query, 'select 1 a');
  });

  test('a column may have the name of a transform', () => {
    const { partitioning } = createTable(
      'create table t (year int, day date) partitioned by (year, day(day))',
    );
    assert.deepEqual(partitioning, [
      { kind: 'identity', column: 'year' },
      { kind: 'day', column: 'day' },
    ]);
  });

  test('AS takes its query as it is written', () => {
    const statement = createTable(
      'create table t partitioned by (a) as -- why\n with x as (select 1 a) from x;',
    );
    assert.equal(statement.query, 'with x as (select 1 a) from x');
    assert.deepEqual(statement.columns, []);
    assert.equal(
      createTable('create table t as (select 1) union all select 2').query,
      '(select 1) union all select 2',
    );
  });
});

describe('other statements that write', () => {
  test('INSERT tells columns and a query in brackets apart', () => {
    const insert = { kind: 'insert', statementType: 'insert', name: ['s', 't'], byName: false };
    const cases: Readonly<Record<string, object>> = {
      'insert into s.t values (1, 2)': { columns: undefined, query: 'values (1, 2)' },
      'insert into table s.t select 1': { columns: undefined, query: 'select 1' },
      'insert into s.t (a, "b c") from x': { columns: ['a', 'b c'], query: 'from x' },
      'insert into s.t (a) (select 1)': { columns: ['a'], query: '(select 1)' },
      'insert into s.t (select 1)': { columns: undefined, query: '(select 1)' },
      'insert into s.t by position select 1': { columns: undefined, query: 'select 1' },
      'insert into s.t by name (select 1 a)': { columns: undefined, byName: true, query: '(select 1 a)' },
      'insert into s.t (name) select 1': { columns: ['name'], query: 'select 1' },
    };
    for (const [sql, rest] of Object.entries(cases))
      assert.deepEqual(classify(sql), { ...insert, ...rest }, sql);
  });

  test('schemas, views and drops', () => {
    assert.deepEqual(classify("create schema if not exists lake.s comment 'x' with properties (a = 'b')"), {
      kind: 'create-schema',
      statementType: 'create_schema',
      name: ['lake', 's'],
      ifNotExists: true,
      properties: [
        ['a', 'b'],
        ['comment', 'x'],
      ],
    });
    for (const clause of ['with', 'with properties', 'with dbproperties'])
      assert.deepEqual((classify(`create schema s ${clause} (location = 'x')`) as CreateSchema).properties, [
        ['location', 'x'],
      ]);
    assert.deepEqual(classify("create or replace view s.v (a, b comment 'bee') comment 'v' as select 1, 2"), {
      kind: 'create-view',
      statementType: 'create_view',
      name: ['s', 'v'],
      ifNotExists: false,
      orReplace: true,
      columns: [
        { name: 'a', comment: undefined },
        { name: 'b', comment: 'bee' },
      ],
      properties: [],
      comment: 'v',
      query: 'select 1, 2',
    });
    assert.deepEqual(classify('drop table if exists a.b.c purge'), {
      kind: 'drop-table',
      statementType: 'drop',
      name: ['a', 'b', 'c'],
      ifExists: true,
      purge: true,
    });
    assert.deepEqual(classify('drop schema s restrict'), {
      kind: 'drop-schema',
      statementType: 'drop',
      name: ['s'],
      ifExists: false,
      purge: false,
    });
  });
});

describe('a statement that writes is refused', () => {
  const cases: readonly (readonly [sql: string, code: string, message: RegExp])[] = [
    ['create table t', 'SYNTAX_ERROR', /expected columns in brackets, or AS/],
    ['create table t ()', 'SYNTAX_ERROR', /name of a column/],
    ['create table t (a)', 'SYNTAX_ERROR', /expected a type/],
    ['create table t (a int, A bigint)', 'SYNTAX_ERROR', /"A" is there twice/],
    ['create table t (a int nonsense)', 'SYNTAX_ERROR', /expected NOT NULL, COMMENT/],
    ['create table t (a int primary key)', 'NOT_SUPPORTED', /PRIMARY KEY of column "a"/],
    ['create table t (a int not null default 3)', 'NOT_SUPPORTED', /DEFAULT of column "a"/],
    ['create table t (a int, primary key (a))', 'NOT_SUPPORTED', /PRIMARY KEY of a table/],
    ['create table t (a int, constraint c unique (a))', 'NOT_SUPPORTED', /CONSTRAINT of a table/],
    ['create table t (like u)', 'NOT_SUPPORTED', /CREATE TABLE … LIKE.*LIMIT 0/],
    ['create table t like u', 'NOT_SUPPORTED', /CREATE TABLE … LIKE/],
    ["create table t (a int) with (format = 'x')", 'NOT_SUPPORTED', /TBLPROPERTIES/],
    ["create table t (a int) location '/x'", 'NOT_SUPPORTED', /LOCATION/],
    ['create table t using delta as select 1 a', 'NOT_SUPPORTED', /USING delta/],
    ["create schema s location 'x'", 'NOT_SUPPORTED', /CREATE SCHEMA … LOCATION/],
    ['create table t (a int) as select 1', 'SYNTAX_ERROR', /leave the list of columns out/],
    ['create table t as', 'SYNTAX_ERROR', /expected a query/],
    ['create table t as insert into x select 1', 'SYNTAX_ERROR', /expected a query/],
    ['create table t (a tinyint)', 'NOT_SUPPORTED', /TINYINT is not a type of Iceberg: use INTEGER/],
    ['create table t (a hugeint)', 'NOT_SUPPORTED', /use DECIMAL\(38, 0\)/],
    ['create table t (a int[3])', 'NOT_SUPPORTED', /fixed length/],
    ['create table t (a timestamp(3))', 'NOT_SUPPORTED', /3 digits/],
    ['create table t (a timetz)', 'NOT_SUPPORTED', /use TIME/],
    ['create table t (a decimal(39, 1))', 'SYNTAX_ERROR', /at most 38 digits/],
    ['create table t (a decimal(3, 4))', 'SYNTAX_ERROR', /DECIMAL\(3, 4\)/],
    [`create table t (a ${'struct(a '.repeat(100)}int${')'.repeat(100)})`, 'SYNTAX_ERROR', /nested deeper/],
    ['create table t (a int) partitioned by (week(a))', 'SYNTAX_ERROR', /year, month, day, hour, bucket/],
    ['create table t (a int) partitioned by (bucket(0, a))', 'SYNTAX_ERROR', /1 to 2147483647/],
    ['create table t (a int) partitioned by (bucket(a))', 'SYNTAX_ERROR', /,/],
    ["create table t (a int) tblproperties ('x' = 'y', 'x' = 'z')", 'SYNTAX_ERROR', /"x" is there twice/],
    ["create table t (a int) comment 'a' comment 'b'", 'SYNTAX_ERROR', /COMMENT is there twice/],
    ['create table a.b.c.d (a int)', 'SYNTAX_ERROR', /more than 3 parts/],
    ['insert into t', 'SYNTAX_ERROR', /expected a query/],
    ['insert t values (1)', 'SYNTAX_ERROR', /INTO/],
    ['insert into t (a) by name select 1 a', 'SYNTAX_ERROR', /leave the list of columns out/],
    ['insert into t by name values (1)', 'SYNTAX_ERROR', /VALUES have none/],
    ['create or replace table if not exists t (a int)', 'SYNTAX_ERROR', /exclude each other/],
    ['insert into t (a, a) values (1, 2)', 'SYNTAX_ERROR', /"a" is there twice/],
    ['create view v', 'SYNTAX_ERROR', /AS/],
    ['create or replace view if not exists v as select 1', 'SYNTAX_ERROR', /exclude each other/],
    ['drop table', 'SYNTAX_ERROR', /name of a table/],
    ['drop table a b', 'SYNTAX_ERROR', /end of the statement/],
  ];
  for (const [sql, code, message] of cases)
    test(sql.slice(0, 80), () => assert.throws(() => classify(sql), { code, message }));

  test('what is known and does not run yet is named', () => {
    for (const [sql, feature] of [
      ['create temp table t (a int)', 'CREATE TEMPORARY TABLE'],
      ['create local temporary table t (a int) on commit preserve rows', 'CREATE TEMPORARY TABLE'],
      ['insert overwrite t select 1', 'INSERT OVERWRITE'],
      ['insert or ignore into t select 1', 'INSERT OR REPLACE or IGNORE'],
      ['insert into t values (1) returning a', 'INSERT … RETURNING'],
      ['insert into t select 1 on conflict (a) do nothing', 'INSERT … ON CONFLICT'],
      ['replace into t values (1)', 'REPLACE INTO'],
      ['update t set a = 1', 'UPDATE'],
      ['delete from t', 'DELETE'],
      ['merge into t using s on true when matched then delete', 'MERGE'],
      ['alter table t add column a int', 'ALTER TABLE'],
      ['truncate table t', 'TRUNCATE'],
      ["comment on table t is 'x'", 'COMMENT ON'],
      ['optimize t', 'OPTIMIZE'],
      ['savepoint s', 'SAVEPOINT (transactions)'],
      ['insert into t default values', 'INSERT … DEFAULT VALUES'],
      ['drop schema s cascade', 'DROP SCHEMA … CASCADE'],
    ] as const)
      assert.deepEqual(
        { ...classify(sql), statementType: '' },
        { kind: 'unsupported', statementType: '', feature },
      );
  });
});
