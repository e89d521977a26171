import assert from 'node:assert/strict';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { openTemporaryInstance } from '../testing/temporary-instance.js';

test('nothing outside the two folders, no extension and no setting can be reached', () => {
  using temporary = openTemporaryInstance();
  const { instance, folder, inputDirectory } = temporary;
  const secret = join(folder, 'secret.csv');
  writeFileSync(secret, 'a\n1\n');
  symlinkSync(secret, join(inputDirectory, 'link.csv'));
  const attacks = [
    `SELECT * FROM '${secret}'`,
    `SELECT * FROM '${inputDirectory}/../secret.csv'`,
    `SELECT * FROM read_text('${secret}')`,
    "SELECT * FROM read_text('/etc/hostname')",
    "SELECT * FROM read_csv('/proc/self/environ')",
    "SELECT * FROM sniff_csv('/etc/hostname')",
    `SELECT * FROM glob('${folder}/*')`,
    `COPY (SELECT 1) TO '${folder}/out.csv'`,
    `ATTACH '${folder}/x.db' AS x`,
    `EXPORT DATABASE '${folder}/dump'`,
    "SELECT * FROM read_parquet('https://example.com/x.parquet')",
    "SELECT * FROM 's3://bucket/x.parquet'",
    'INSTALL httpfs',
    'LOAD httpfs',
    "LOAD '/tmp/x.duckdb_extension'",
    'SET enable_external_access = true',
    "SET allowed_directories = ['/']",
    'SET lock_configuration = false',
    "SET streaming_buffer_size = '1GB'",
    "SET temp_directory = '/tmp'",
    'SET autoload_known_extensions = true',
    "PRAGMA enable_profiling = 'json'",
    "CREATE PERSISTENT SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')",
  ];
  for (const sql of attacks)
    assert.throws(
      () => instance.execute([sql]),
      (error) => {
        assert.ok(error instanceof QueryError, sql);
        assert.notEqual(error.code, 'INTERNAL_ERROR', `${sql}: ${error.message}`);
        return true;
      },
      sql,
    );
  assert.ok(!existsSync(join(folder, 'out.csv')) && !existsSync(join(folder, 'x.db')));
  assert.ok(!instance.isUnusable);
});

test('the settings of a session can be changed, and go back with reset', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  instance.execute([
    "SET TimeZone = 'Asia/Tokyo'",
    'SET threads = 1',
    "SET memory_limit = '100MB'",
    "SET disabled_optimizers = 'column_lifetime'",
    'SET preserve_insertion_order = false',
  ]);
  const settings = () =>
    instance.queryText(
      "SELECT concat_ws(' ', current_setting('TimeZone'), current_setting('threads'), current_setting('preserve_insertion_order'), current_setting('disabled_optimizers'))",
      [],
    );
  assert.equal(settings(), 'Asia/Tokyo 1 false column_lifetime');
  instance.reset();
  assert.equal(settings(), 'UTC 2 true ');
});

test('a setting that is set to what it is stays so, whatever was tried in between', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  const zone = () => instance.queryText("SELECT current_setting('TimeZone')", []);
  const [toUtc, toTokyo] = ["SET TimeZone = 'UTC'", "SET TimeZone = 'Asia/Tokyo'"];
  const attempts: readonly (() => void)[] = [
    () => instance.execute([toTokyo]),
    () => instance.execute([toUtc, toTokyo, toTokyo]),
    () => instance.query({ sql: toTokyo, arrow: 'client' }).close(),
    () => instance.execute([toTokyo, 'SET threads = 1']),
    () => instance.execute(['CREATE OR REPLACE TABLE t (a INTEGER)', toTokyo]),
    () => assert.throws(() => instance.execute([toTokyo, "SET TimeZone = 'Nowhere/At_All'"])),
  ];
  for (const attempt of attempts) {
    for (const back of [() => instance.execute([toUtc]), () => instance.reset()]) {
      attempt();
      assert.equal(zone(), 'Asia/Tokyo', String(attempt));
      back();
      assert.equal(zone(), 'UTC', String(attempt));
    }
    instance.execute([toUtc]);
    assert.equal(zone(), 'UTC', String(attempt));
    assert.equal(instance.queryText("SELECT current_setting('threads')::VARCHAR", []), '2');
  }
});

test('reset leaves no name behind', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  const names = () =>
    instance.queryText(
      `SELECT concat_ws(' ', (SELECT count(*) FROM duckdb_tables()), (SELECT count(*) FROM duckdb_views() WHERE NOT internal),
        (SELECT string_agg(database_name, ',' ORDER BY 1) FROM duckdb_databases()),
        (SELECT count(*) FROM duckdb_schemas() WHERE NOT internal AND database_name = 'memory' AND schema_name <> 'main'),
        (SELECT count(*) FROM duckdb_types() WHERE NOT internal), (SELECT count(*) FROM duckdb_sequences()))`,
      [],
    );
  const fresh = names();
  instance.execute([
    `ATTACH ':memory:' AS "my ""catalog"`,
    'CREATE SCHEMA "my ""catalog"."s 1"',
    'CREATE TABLE "my ""catalog"."s 1".t (a INTEGER)',
    'USE "my ""catalog"."s 1"',
    'CREATE VIEW memory.main."a ""view" AS SELECT 1 AS a',
    'CREATE TABLE memory.main.t (a INTEGER)',
    'CREATE TEMP TABLE u AS SELECT 1 AS a',
    "CREATE TYPE memory.main.mood AS ENUM ('a')",
    'CREATE SEQUENCE memory.main.s',
    'CREATE SCHEMA memory.other',
    'CREATE TABLE memory.other.t (a INTEGER)',
  ]);
  assert.notEqual(names(), fresh);
  instance.reset();
  assert.equal(names(), fresh);
  assert.equal(instance.queryText('SELECT current_schema()', []), 'main');
});

test('after a statement whose traces cannot be found, reset says that the instance must go', () => {
  using temporary = openTemporaryInstance();
  temporary.instance.execute(['CREATE MACRO plus_one(x) AS x + 1']);
  temporary.instance.reset();
  assert.ok(temporary.instance.isUnusable);
});

test('reset undoes what every query of a lease leaves, and the statement macros, without a search', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  for (let round = 0; round < 2; round += 1) {
    instance.execute([
      `ATTACH ':memory:' AS "lake"`,
      'CREATE SCHEMA IF NOT EXISTS "lake"."s"',
      'CREATE VIEW "lake"."s"."t" AS SELECT 7 AS a',
      'USE "lake"."s"',
      'CREATE OR REPLACE TEMPORARY MACRO current_user() AS 7',
    ]);
    assert.equal(instance.queryText('SELECT (a + current_user())::VARCHAR FROM t', []), '14');
    const { queryText } = instance;
    instance.queryText = () => assert.fail('The catalog was searched.');
    instance.reset();
    instance.queryText = queryText;
    assert.equal(instance.isUnusable, false);
    assert.equal(instance.queryText("SELECT (current_user = '7')::VARCHAR", []), 'false');
    assert.throws(() => instance.queryText('SELECT a::VARCHAR FROM lake.s.t', []));
  }
});
