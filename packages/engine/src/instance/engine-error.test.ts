import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ErrorCode, QueryError } from '@svc/base';
import { collectResult, openTemporaryInstance } from '../testing/temporary-instance.js';
import { engineError, leavesInstanceUnusable } from './engine-error.js';

const expected: readonly (readonly [sql: string, code: ErrorCode, message: RegExp])[] = [
  ['SELECT x FROM', 'SYNTAX_ERROR', /syntax error/],
  ['', 'SYNTAX_ERROR', /statement/],
  ['-- nothing', 'SYNTAX_ERROR', /statement/],
  ['SELECT 1; SELECT 2', 'SYNTAX_ERROR', /multiple statements/],
  ['SELECT \0', 'SYNTAX_ERROR', /NUL/],
  ["SELECT '\ud800'", 'SYNTAX_ERROR', /surrogate/],
  ['SELECT nothing', 'BINDING_ERROR', /"nothing"/],
  ['SELECT no_such_function(1)', 'BINDING_ERROR', /no_such_function/],
  ["SELECT sum('a')", 'BINDING_ERROR', /sum\(VARCHAR\)/],
  ['SELECT * FROM missing', 'TABLE_NOT_FOUND', /missing/],
  ["SELECT 'a'::INTEGER", 'EVALUATION_ERROR', /Could not convert/],
  ['SELECT 9223372036854775807 + 1', 'EVALUATION_ERROR', /Overflow/],
  ["SELECT error('own words')", 'EVALUATION_ERROR', /^own words$/],
  ['SELECT ?', 'INVALID_PARAMETER', /1 parameters; 0 were given/],
  ['INSTALL httpfs', 'STATEMENT_NOT_ALLOWED', /disabled/],
  ['SET threads_ = 1', 'STATEMENT_NOT_ALLOWED', /threads_/],
];

test('errors of the engine have our codes and readable messages', () => {
  using temporary = openTemporaryInstance();
  for (const [sql, code, message] of expected)
    assert.throws(
      () => collectResult(temporary.instance, { sql }),
      (error) => {
        assert.ok(error instanceof QueryError, sql);
        assert.equal(error.code, code, `${sql}: ${error.message}`);
        assert.match(error.message, message);
        return true;
      },
      sql,
    );
  assert.ok(!temporary.instance.isUnusable);
});

test('an error in the middle of a stream ends the cursor, and the instance goes on', () => {
  using temporary = openTemporaryInstance();
  const sql = "SELECT CASE WHEN i = 900000 THEN error('row 900000') ELSE i END FROM range(1000000) t(i)";
  assert.throws(() => collectResult(temporary.instance, { sql }), /row 900000/);
  assert.equal(temporary.instance.queryText("SELECT 'next'", []), 'next');
});

test('a damaged or missing Parquet file is named, without its folder', () => {
  using temporary = openTemporaryInstance();
  const { instance, inputDirectory, outputDirectory } = temporary;
  instance.execute([
    `COPY (SELECT i, 'text ' || i AS s FROM range(20000) t(i)) TO '${outputDirectory}/whole.parquet'`,
  ]);
  const whole = readFileSync(join(outputDirectory, 'whole.parquet'));
  const flipped = Buffer.from(whole);
  for (let at = 100; at < 30_000; at += 7) flipped[at] = (flipped[at] ?? 0) ^ 0x5a;
  const damaged: Record<string, Uint8Array> = {
    'cut.parquet': whole.subarray(0, whole.byteLength / 2),
    'flipped.parquet': flipped,
    'garbage.parquet': Buffer.from('PAR1 garbage garbage PAR1'),
    'empty.parquet': Buffer.alloc(0),
  };
  for (const [name, bytes] of Object.entries(damaged)) {
    writeFileSync(join(inputDirectory, name), bytes);
    assertFileError(`SELECT sum(i), max(s) FROM '${inputDirectory}/${name}'`, 'DATA_CORRUPT', name);
  }
  assertFileError(`SELECT * FROM '${inputDirectory}/absent.parquet'`, 'DATA_FILE_MISSING', 'absent.parquet');

  function assertFileError(sql: string, code: ErrorCode, name: string): void {
    assert.throws(
      () => collectResult(instance, { sql }),
      (error) => {
        assert.ok(error instanceof QueryError);
        assert.equal(error.code, code, error.message);
        assert.ok(error.message.includes(name), error.message);
        assert.ok(!error.message.includes(inputDirectory), error.message);
        return true;
      },
    );
  }
});

test('a statement that needs more than its memory fails, and more than its spill budget too', () => {
  using temporary = openTemporaryInstance({
    memoryBytes: 24 * 1024 * 1024,
    tempDirectoryBytes: 4 * 1024 * 1024,
  });
  const { instance } = temporary;
  assert.throws(
    () => collectResult(instance, { sql: 'SELECT list(i::VARCHAR) FROM range(5000000) t(i)' }),
    (error) => error instanceof QueryError && ['OUT_OF_MEMORY', 'DISK_FULL'].includes(error.code),
  );
  assert.throws(
    () =>
      collectResult(instance, {
        sql: 'SELECT * FROM (SELECT i, hash(i)::VARCHAR AS h FROM range(4000000) t(i)) ORDER BY h',
      }),
    (error) => error instanceof QueryError && ['OUT_OF_MEMORY', 'DISK_FULL'].includes(error.code),
  );
  assert.equal(instance.queryText("SELECT 'next'", []), 'next');
});

test('stack traces and advice on settings are cut, and internal errors spoil the instance', () => {
  const internal = engineError('INTERNAL Error: Assertion failed\n\nStack Trace:\n/lib/x.so(+0x1)', []);
  assert.equal(internal.code, 'INTERNAL_ERROR');
  assert.ok(!internal.message.includes('Stack'));
  assert.ok(leavesInstanceUnusable(internal));
  const memory = engineError('Out of Memory Error: could not allocate\n\nPossible solutions:\n* SET x', []);
  assert.equal(memory.message, 'could not allocate');
  assert.equal(engineError('INTERRUPT Error: Interrupted!', []).code, 'CANCELLED');
  assert.equal(engineError('IO Error: No space left on device', []).code, 'DISK_FULL');
  assert.equal(engineError(null, []).code, 'INTERNAL_ERROR');
  assert.equal(engineError('FATAL Error: broken', []).code, 'INTERNAL_ERROR');
});
