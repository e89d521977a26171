import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UndoList } from './undo.js';

test('what a lease runs for every query is undone by name', () => {
  const undo = new UndoList();
  undo.note(`ATTACH ':memory:' AS "my ""lake"""`);
  undo.note('CREATE SCHEMA IF NOT EXISTS "my ""lake"""."s"');
  undo.note('CREATE VIEW "my ""lake"""."s"."t" AS SELECT 1');
  undo.note('DROP VIEW "my ""lake"""."s"."t"');
  undo.note('CREATE TABLE "my ""lake"""."s"."t" (a INTEGER)');
  undo.noteRows('my "lake"');
  undo.note('DROP TABLE "my ""lake"""."s"."t"');
  undo.note('USE "my ""lake"""."s"');
  undo.note("SET TimeZone = 'UTC'");
  undo.note('CREATE OR REPLACE TEMPORARY MACRO now() AS 1');
  undo.note('CREATE OR REPLACE TEMPORARY MACRO "user"() AS 1');
  assert.equal(undo.isComplete, true);
  const initial = new Map([
    ['TimeZone', "SET TimeZone = 'UTC'"],
    ['threads', 'SET threads = 1'],
  ]);
  assert.deepEqual(undo.statements(initial), [
    'USE memory.main',
    'DETACH DATABASE IF EXISTS "my ""lake"""',
    'DROP MACRO IF EXISTS temp.now',
    'DROP MACRO IF EXISTS temp."user"',
    "SET TimeZone = 'UTC'",
  ]);
});

test('what was not changed is not set back', () => {
  const undo = new UndoList();
  undo.note("COPY (SELECT 1) TO 'file'");
  assert.deepEqual([undo.isComplete, undo.statements(new Map([['TimeZone', 'x']]))], [true, []]);
});

test('anything else makes the list incomplete', () => {
  for (const sql of [
    'CREATE VIEW "elsewhere"."s"."t" AS SELECT 1',
    'CREATE TABLE t (a INTEGER)',
    'DROP VIEW "elsewhere"."s"."t"',
    'DROP TABLE t',
    'SET VARIABLE x = 1',
    'SET threads = 2',
    'ATTACH \'file.db\' AS "x"',
    'CREATE MACRO f(a) AS a',
  ]) {
    const undo = new UndoList();
    undo.note(sql);
    assert.equal(undo.isComplete, false, sql);
  }
});

test('rows that are appended to a table of elsewhere do so too', () => {
  for (const catalog of [undefined, 'memory']) {
    const undo = new UndoList();
    undo.note(`ATTACH ':memory:' AS "lake"`);
    undo.noteRows(catalog);
    assert.equal(undo.isComplete, false);
  }
});
