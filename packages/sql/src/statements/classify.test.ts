import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { classify } from './classify.js';
import { refusalOf } from './refusals.js';
import type { Statement } from './statement.js';

/** testdata/statements.txt has several hundred more, with the gate's verdict. */
const cases: readonly (readonly [sql: string, statement: Statement])[] = [
  ['/* x */ select 1 ;', { kind: 'query', statementType: 'query', sql: 'select 1' }],
  ['from t', { kind: 'query', statementType: 'query', sql: 'from t' }],
  [
    'from t for version as of 3 x',
    { kind: 'query', statementType: 'query', sql: 'from t x AT (VERSION => 3)' },
  ],
  ['SHOW CATALOGS', { kind: 'show-catalogs', statementType: 'show_catalogs', word: 'catalog' }],
  [
    "show tables from lake.s like 'a%' escape '!'",
    {
      kind: 'show-tables',
      statementType: 'show_tables',
      catalog: 'lake',
      schema: 's',
      like: { pattern: 'a%', escape: '!' },
    },
  ],
  ['desc lake."a.b".t', { kind: 'describe-table', statementType: 'utility', name: ['lake', 'a.b', 't'] }],
  ['describe select 1', { kind: 'describe-query', statementType: 'utility', sql: 'select 1' }],
  [
    'explain analyze (select 1)',
    { kind: 'explain', statementType: 'utility', analyze: true, sql: '(select 1)' },
  ],
  ['use lake.s', { kind: 'use', statementType: 'utility', name: ['lake', 's'] }],
  ["set time zone 'UTC'", { kind: 'set', statementType: 'utility', name: 'timezone', value: 'UTC' }],
  ['set svc.limit = -5', { kind: 'set', statementType: 'utility', name: 'svc.limit', value: '-5' }],
  ['reset timezone', { kind: 'reset', statementType: 'utility', name: 'timezone' }],
  [
    'call system.refresh_catalog_cache()',
    { kind: 'call', statementType: 'utility', procedure: 'refresh_catalog_cache' },
  ],
  ['update t set a = 1', { kind: 'unsupported', statementType: 'merge', feature: 'UPDATE' }],
  [
    'alter table t add column a int',
    { kind: 'unsupported', statementType: 'utility', feature: 'ALTER TABLE' },
  ],
  ['copy t to $$x$$', { kind: 'not-allowed', statementType: 'utility', feature: 'COPY' }],
];

describe('classification', () => {
  for (const [sql, statement] of cases)
    test(`takes ${sql} apart`, () => assert.deepEqual(classify(sql), statement));

  test('answers refused statements with a code that says why', () => {
    const codes = ['update t set a = 1', 'attach $$x$$'].map((sql) => {
      const statement = classify(sql);
      assert.ok(statement.kind === 'unsupported' || statement.kind === 'not-allowed');
      return refusalOf(statement).code;
    });
    assert.deepEqual(codes, ['NOT_SUPPORTED', 'STATEMENT_NOT_ALLOWED']);
  });

  test('refuses what starts no statement', () => {
    for (const sql of ['selec 1', '42', "'select 1'", '"select" 1', ') select'])
      assert.throws(() => classify(sql), { code: 'SYNTAX_ERROR' });
  });
});
