/** What the fuzz of the gate would see if the gate let it pass: each of these is run without having been gated. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openDuckDbParser } from '../sql/duckdb-parser.js';
import { readSignatures } from './grammar/signatures.js';
import { foreignScans } from './plan-scans.js';
import { openTracedRunner, type TracedRunner } from './traced-runner.js';

/** Beside what is told by name, whatever opens a file is told by the file. */
const forbidden: readonly (readonly [sql: string, finding: RegExp])[] = [
  ["SELECT count(*) FROM 'vault/notes.csv'", /it opened vault\/notes\.csv/],
  ["SELECT content FROM read_text('vault/notes.txt')", /it opened vault\/notes\.txt/],
  ["SELECT count(*) FROM glob('vault/*') WHERE false", /its plan has GLOB/],
  ['SELECT count(*) FROM strongbox.main.notes', /its plan has SEQ_SCAN/],
  ['SELECT a FROM strongbox.notes', /its answer holds the canary/],
  ['SELECT count(*) FROM hidden.trap', /it opened vault\/trip\.csv/],
  ['SELECT 1 FROM w1 WHERE false', /it opened vault\/trip\.csv/],
  ['SELECT strongbox.main.peek()', /its answer holds the canary/],
  ['SELECT enum_range(NULL::strongbox.mood)', /its answer holds the canary/],
  ['SELECT current_date::strongbox.mood', /its error holds the canary/],
  ["SELECT current_setting('http_proxy')", /its answer holds the canary/],
  ["SELECT getvariable('secret_variable')", /its answer holds the canary/],
  ['SELECT count(*) FROM duckdb_settings() WHERE false', /its plan has DUCKDB_SETTINGS/],
  ['SELECT count(*) FROM information_schema.tables', /its plan has DUCKDB_TABLES/],
  ["SELECT nextval('strongbox.main.counter')", /it changed what the engine keeps/],
  ['SET VARIABLE other = 1', /it is no query for the engine.*it changed what the engine keeps/s],
  ['CREATE TEMP TABLE other AS SELECT 1', /it is no query for the engine.*it changed what the engine keeps/s],
  ["COPY (SELECT 1) TO 'vault/out.csv'", /it opened vault\/out\.csv/],
  ["ATTACH 'vault/other.db' AS other", /it opened vault\/other\.db/],
  ['SELECT NULL::inet', /it opened \.\/\.duckdb/],
];

/** Only the calls of the system tell of these. */
const unanswered: readonly (readonly [sql: string, finding: RegExp])[] = [
  ["SELECT * FROM read_csv('/nowhere/at/all.csv')", /it called .*"\/nowhere\/at\/all\.csv"/],
  ["SELECT * FROM read_text('/etc/passwd')", /it called .*"\/etc\/passwd"/],
];

describe('a statement that nobody gated is found to', () => {
  let runner: TracedRunner;
  before(async () => {
    const parser = openDuckDbParser();
    runner = await openTracedRunner(foreignScans(readSignatures(parser)));
    parser.close();
  });
  after(async () => await runner[Symbol.asyncDispose]());

  for (const [index, [sql, finding]] of [...forbidden, ...unanswered].entries())
    test(sql, async (context) => {
      if (index >= forbidden.length && !runner.seesSystemCalls)
        return context.skip('strace may not trace here');
      const [outcome] = await runner.run([{ id: index + 1, sql, parameters: [''] }]);
      assert.match(outcome?.findings.join('\n') ?? '', finding);
    });

  test('do nothing where it only reads the catalog', async () => {
    const sql =
      'SELECT * FROM orders JOIN customers USING (customer), range(3), "Odd Schema"."Tëst ""quoted"" 🦆"';
    const [outcome] = await runner.run([{ id: 1000, sql, parameters: [''] }]);
    assert.deepEqual(outcome, { bound: true, ran: true, crashed: false, findings: [], error: undefined });
  });
});
