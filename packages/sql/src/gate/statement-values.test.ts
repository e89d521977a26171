import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statementValueMacros } from './statement-values.js';

test('macros carry the moment to the microsecond and quote what users choose', () => {
  const macros = statementValueMacros({
    nowMicros: 1_735_732_800_000_001n,
    user: "o'brien",
    catalog: 'lake',
    schema: 's',
  });
  assert.ok(
    macros.includes("CREATE OR REPLACE TEMPORARY MACRO now() AS TIMESTAMPTZ '2025-01-01 12:00:00.000001+00'"),
  );
  assert.ok(macros.includes(`CREATE OR REPLACE TEMPORARY MACRO "user"() AS 'o''brien'`));
});

test('moments before 1970 keep their fraction', () => {
  const [now] = statementValueMacros({ nowMicros: -1n, user: 'u', catalog: 'c', schema: 's' });
  assert.match(now ?? '', /'1969-12-31 23:59:59\.999999\+00'$/);
});
