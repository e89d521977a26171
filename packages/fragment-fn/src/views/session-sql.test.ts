import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EngineSession, sessionStatements } from './session-sql.js';

const empty: EngineSession = { tables: [], defaultCatalog: 'lake', defaultSchema: undefined, settings: {} };

describe("a statement's environment", () => {
  it('attaches each catalog and creates each schema once', () => {
    const tables = [
      { catalog: 'lake', schema: 'sales' },
      { catalog: 'other', schema: 'sales' },
      { catalog: 'lake', schema: 'sales' },
      { catalog: 'lake', schema: 'hr.people' },
    ];
    assert.deepEqual(sessionStatements({ ...empty, tables, defaultCatalog: 'none' }), [
      `ATTACH ':memory:' AS "lake"`,
      `ATTACH ':memory:' AS "other"`,
      'CREATE SCHEMA IF NOT EXISTS "lake"."sales"',
      'CREATE SCHEMA IF NOT EXISTS "other"."sales"',
      'CREATE SCHEMA IF NOT EXISTS "lake"."hr.people"',
    ]);
  });

  it('quotes hostile names', () => {
    const tables = [{ catalog: 'a"; DROP', schema: 'b\'".c' }];
    assert.deepEqual(sessionStatements({ ...empty, tables }), [
      `ATTACH ':memory:' AS "a""; DROP"`,
      `CREATE SCHEMA IF NOT EXISTS "a""; DROP"."b'"".c"`,
    ]);
  });

  it('uses the default schema when the statement reads a table in it', () => {
    const tables = [
      { catalog: 'lake', schema: 'hr' },
      { catalog: 'lake', schema: 'sales' },
    ];
    assert.equal(lastOf({ ...empty, tables, defaultSchema: 'sales' }), 'USE "lake"."sales"');
    assert.equal(lastOf({ ...empty, tables, defaultSchema: 'elsewhere' }), 'USE "lake"');
    assert.equal(lastOf({ ...empty, tables }), 'USE "lake"');
  });

  it('knows the default schema in the case in which a table was named', () => {
    const tables = [{ catalog: 'lake', schema: 'SALES' }];
    assert.equal(lastOf({ ...empty, tables, defaultSchema: 'sales' }), 'USE "lake"."sales"');
  });

  it('uses nothing when no table is in the default catalog', () => {
    assert.deepEqual(sessionStatements(empty), []);
    const tables = [{ catalog: 'other', schema: 'sales' }];
    assert.doesNotMatch(lastOf({ ...empty, tables, defaultSchema: 'sales' }), /^USE/);
  });

  it('sets the time zone and nothing else', () => {
    const settings = { TimeZone: "Europe/Berlin'; SET threads = 1; --" };
    assert.deepEqual(sessionStatements({ ...empty, settings }), [
      "SET TimeZone = 'Europe/Berlin''; SET threads = 1; --'",
    ]);
    assert.throws(() => sessionStatements({ ...empty, settings: { threads: '1' } }), {
      code: 'INTERNAL_ERROR',
    });
  });
});

function lastOf(session: EngineSession): string {
  return sessionStatements(session).at(-1) ?? '';
}
