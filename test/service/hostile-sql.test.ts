/** SQL that nobody should send: refused by name before anything is bound, or stopped by a limit. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { statementCommand } from './support/messages.js';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { standardTables } from './support/tables.js';

let service: TestService;
let client: FlightClient;
before(async () => {
  service = await startService({ tables: standardTables });
  client = await service.client();
});
after(async () => await service[Symbol.asyncDispose]());

const notTable = 'TABLE_REFERENCE_NOT_ALLOWED';
const notFunction = 'FUNCTION_NOT_ALLOWED';
const notStatement = 'STATEMENT_NOT_ALLOWED';

/** What each text is refused for, and what the message must name. */
const refusals: Readonly<Record<string, readonly (readonly [sql: string, code: string, named: RegExp])[]>> = {
  "'/etc/passwd' as a table": [
    ["SELECT * FROM '/etc/passwd'", notTable, /'\/etc\/passwd'/],
    ["FROM '/etc/passwd'", notTable, /'\/etc\/passwd'/],
    ["SELECT * FROM (FROM '/etc/passwd')", notTable, /'\/etc\/passwd'/],
    ["WITH x AS (TABLE '/etc/passwd') SELECT 1 FROM x", notTable, /'\/etc\/passwd'/],
    ["SELECT 1 WHERE EXISTS (SELECT * FROM 's3://bucket/key.parquet')", notTable, /s3:/],
    ["DESCRIBE SELECT * FROM '/etc/passwd'", notTable, /'\/etc\/passwd'/],
    ["EXPLAIN SELECT * FROM '/etc/passwd'", notTable, /'\/etc\/passwd'/],
    ['SELECT * FROM sales."/etc/passwd"', 'TABLE_NOT_FOUND', /\/etc\/passwd/],
    ['SELECT * FROM sales."../../data/local-password"', 'TABLE_NOT_FOUND', /local-password/],
    ['SELECT * FROM "..".data', 'SCHEMA_NOT_FOUND', /"\.\."/],
  ],
  'read_text, glob and their like': [
    ["SELECT * FROM read_text('/etc/passwd')", notFunction, /read_text/],
    ["SELECT * FROM read_blob('/etc/passwd')", notFunction, /read_blob/],
    ["SELECT * FROM read_csv_auto('/etc/passwd')", notFunction, /read_csv_auto/],
    ["SELECT * FROM read_parquet(['/etc/passwd'])", notFunction, /read_parquet/],
    ["SELECT * FROM parquet_scan('/etc/passwd')", notFunction, /parquet_scan/],
    ["SELECT * FROM glob('/etc/*')", notFunction, /glob/],
    ["SELECT * FROM system.main.read_text('/etc/passwd')", notFunction, /read_text/],
    ["SELECT (SELECT content FROM read_text('/etc/passwd'))", notFunction, /read_text/],
    ["SELECT * FROM query('SELECT 1')", notFunction, /query/],
    ["SELECT * FROM query_table('duckdb_settings')", notFunction, /query_table/],
    ["SELECT getenv('HOME')", notFunction, /getenv/],
    ["SELECT current_setting('temp_directory')", notFunction, /current_setting/],
    ['SELECT * FROM duckdb_settings()', notFunction, /duckdb_settings/],
    ['SELECT * FROM pg_catalog.pg_tables', notTable, /pg_tables/],
  ],
  'COPY, ATTACH, INSTALL, PRAGMA': [
    ["COPY (SELECT 1) TO '/tmp/svc-must-not-exist.csv'", notStatement, /COPY/],
    ["COPY sales.orders FROM '/etc/passwd'", notStatement, /COPY/],
    ["ATTACH '/tmp/svc-must-not-exist.db' AS d", notStatement, /ATTACH/],
    ["ATTACH ':memory:' AS m", notStatement, /ATTACH/],
    ['DETACH lake', notStatement, /DETACH/],
    ['INSTALL httpfs', notStatement, /INSTALL/],
    ['LOAD httpfs', notStatement, /LOAD/],
    ['PRAGMA database_list', notStatement, /PRAGMA/],
    ["PRAGMA enable_profiling = 'json'", notStatement, /PRAGMA/],
    ["EXPORT DATABASE '/tmp/svc-must-not-exist'", notStatement, /EXPORT/],
    ["CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')", notStatement, /SECRET/],
    ['CHECKPOINT', notStatement, /CHECKPOINT/],
    ["/* ; */ -- '\n COPY (SELECT 1) TO '/tmp/svc-must-not-exist.csv'", notStatement, /COPY/],
  ],
  'SET of anything but the time zone and svc.* options': [
    ['SET threads = 1', notStatement, /threads/],
    ["SET memory_limit = '100GB'", notStatement, /memory_limit/],
    ['SET GLOBAL enable_external_access = true', notStatement, /SET of/],
    ["SET SESSION temp_directory = '/'", notStatement, /temp_directory/],
    ['SET VARIABLE x = 1', notStatement, /variable/i],
    ['RESET threads', notStatement, /threads/],
    ['RESET ALL', notStatement, /all/i],
  ],
  'range(200000000)': [
    ['SELECT range(200000000)', notFunction, /range .*200000000 elements/],
    ['SELECT len(range(200000000))', notFunction, /range .*200000000 elements/],
    ['EXPLAIN SELECT len(range(200000000))', notFunction, /range .*200000000 elements/],
    ['DESCRIBE SELECT len(range(200000000))', notFunction, /range .*200000000 elements/],
    ['SELECT len(generate_series(1, 1000000000000))', notFunction, /generate_series/],
    ["SELECT length(repeat('x', 1000000000000))", notFunction, /repeat/],
  ],
  'quoted tricks': [
    [`SELECT "read_text"('/etc/passwd')`, notFunction, /read_text/],
    [`SELECT * FROM "READ_TEXT"('/etc/passwd')`, notFunction, /read_text/i],
    [`SELECT * FROM "main"."read_text"('/etc/passwd')`, notFunction, /read_text/],
    [`SELECT * FROM U&"read\\005ftext"('/etc/passwd')`, 'SYNTAX_ERROR', /./],
    ['SELECT * FROM $$/etc/passwd$$', notTable, /passwd/],
    ["SELECT * FROM E'/etc/passwd'", notTable, /passwd/],
    ["SELECT 1; ATTACH ':memory:' AS m", 'NOT_SUPPORTED', /2 statements/],
    ["SELECT 1 /* ' */; COPY (SELECT 1) TO '/tmp/x' -- '", 'NOT_SUPPORTED', /2 statements/],
    ["SELECT 'a' 'b' ; ; ", 'SYNTAX_ERROR', /./],
    ["SELECT 'unterminated", 'SYNTAX_ERROR', /./],
    ['SELECT "unterminated', 'SYNTAX_ERROR', /./],
    ['SELECT /* unterminated', 'SYNTAX_ERROR', /./],
  ],
};

for (const [title, cases] of Object.entries(refusals)) {
  describe(title, () => {
    for (const [sql, code, named] of cases) {
      it(`is refused: ${sql.replaceAll('\n', ' ')}`, async () => {
        await assert.rejects(rows(client, sql), { code, message: named });
        await assert.rejects(client.prepare(sql), { code, message: named });
      });
    }
  });
}

describe('SET with a value that is not right', () => {
  it('says what is wrong with it and changes nothing', async () => {
    for (const [sql, message] of [
      ["SET TimeZone = 'Nowhere/Land'", /no time zone "Nowhere\/Land"/],
      ["SET TimeZone = '../../../etc/passwd'", /no time zone/],
      ['SET svc.nothing = 1', /no session option svc\.nothing/],
      ['SET svc.query_timeout_secs = 1e12', /at most 3600/],
      ["SET svc.max_result_bytes = 'all'", /at least 1/],
    ] as const) {
      await assert.rejects(rows(client, sql), { code: 'INVALID_ARGUMENT', message });
    }
    assert.equal(
      await value(client, "SELECT TIMESTAMPTZ '2024-01-01 00:00:00+00'::VARCHAR"),
      '2024-01-01 00:00:00+00',
    );
  });
});

describe('what is refused', () => {
  it('has had no effect', async () => {
    assert.deepEqual(
      (await readdir('/tmp')).filter((name) => name.startsWith('svc-must-not-exist')),
      [],
    );
    assert.deepEqual(await rows(client, 'SHOW CATALOGS'), [['lake']]);
    assert.equal(await value(client, 'SELECT count(*) FROM sales.orders'), 20_480n);
  });
});

describe('range(200000000)', () => {
  it('as a table is only read', async () => {
    assert.equal(await value(client, 'SELECT count(*) FROM range(200000000)'), 200_000_000n);
  });

  it('in any disguise ends by the memory limit, and the next query works', async () => {
    const sql =
      'SELECT max(len(l)) FROM (SELECT list(a.i || b.i) AS l FROM range(20000) a(i), range(20000) b(i))';
    await assert.rejects(rows(client, sql), { code: 'OUT_OF_MEMORY' });
    assert.equal(await value(client, 'SELECT 1'), 1);
  });
});

describe('SQL of 10 MB', () => {
  it('is refused by its length', async () => {
    await assert.rejects(rows(client, `SELECT 1 -- ${'x'.repeat(10_000_000)}`), {
      code: 'STATEMENT_TOO_LARGE',
      message: /10000012 bytes; at most 1048576 .*query\.max_sql_bytes/,
    });
  });

  it('is refused before it is read when it does not even fit a message', async () => {
    await assert.rejects(rows(client, `SELECT 1 -- ${'x'.repeat(17_000_000)}`), {
      code: 'INVALID_ARGUMENT',
      message: /larger than max/,
    });
  });

  it('leaves short log records', () => {
    assert.ok(Math.max(...service.logLines.map((line) => line.length)) < 20_000);
  });
});

describe('10,000 nested parentheses', () => {
  const nested: Readonly<Record<string, string>> = {
    parentheses: `SELECT ${'('.repeat(10_000)}1${')'.repeat(10_000)}`,
    'opening parentheses alone': `SELECT ${'('.repeat(10_000)}`,
    lists: `SELECT ${'['.repeat(10_000)}${']'.repeat(10_000)}`,
    subqueries: `${'SELECT * FROM ('.repeat(10_000)}SELECT 1${')'.repeat(10_000)}`,
    'CASE without parentheses': `SELECT ${'CASE WHEN true THEN '.repeat(10_000)}1${' END'.repeat(10_000)}`,
    NOT: `SELECT ${'NOT '.repeat(10_000)}true`,
    sums: `SELECT ${'1+'.repeat(100_000)}1`,
    comments: `SELECT 1 ${'/*'.repeat(10_000)}`,
  };
  for (const [title, sql] of Object.entries(nested)) {
    it(`of ${title} are an error of the user`, async () => {
      await assert.rejects(rows(client, sql), (error: Error & { code?: string }) => {
        assert.ok(error.code === 'STATEMENT_TOO_LARGE' || error.code === 'SYNTAX_ERROR', error.message);
        return true;
      });
    });
  }

  it('cost nobody else anything', async () => {
    assert.deepEqual(
      service.logRecords().filter(({ message }) => message === 'an engine host ended'),
      [],
    );
    assert.equal(await value(client, `SELECT ${'('.repeat(500)}1${')'.repeat(500)}`), 1);
  });
});

describe('NUL', () => {
  it('is a syntax error anywhere in the text', async () => {
    for (const sql of [
      'SELECT 1\0',
      "SELECT 'a\0b'",
      'SELECT 1 AS "a\0b"',
      "SELECT 1 -- \0\n; ATTACH ':memory:' AS m",
    ])
      await assert.rejects(rows(client, sql), { code: 'SYNTAX_ERROR', message: /NUL/ });
  });

  it('can still be a value', async () => {
    assert.deepEqual(await rows(client, "SELECT length(chr(0)), hex('a' || chr(0))"), [[1n, '6100']]);
  });
});

describe('lone surrogates', () => {
  it('are not UTF-8 and are refused as such', async () => {
    const text = Buffer.concat([Buffer.from("SELECT '"), Buffer.of(0xed, 0xa0, 0x80), Buffer.from("'")]);
    await assert.rejects(client.plan(statementCommand(text)), { code: 'INVALID_ARGUMENT' });
  });

  it('cannot be written as escapes', async () => {
    for (const sql of ["SELECT E'\\ud800'", "SELECT U&'\\d800'"])
      await assert.rejects(rows(client, sql), { code: 'SYNTAX_ERROR', message: /surrogate/ });
    await assert.rejects(rows(client, 'SELECT chr(55296)'), { code: 'EVALUATION_ERROR' });
  });

  it('from a client that replaces them are U+FFFD', async () => {
    assert.equal(await value(client, "SELECT '\ud800'"), '\ufffd');
  });
});
