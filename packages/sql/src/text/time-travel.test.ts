import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rewriteTimeTravel } from './time-travel.js';
import { tokenize } from './tokenizer.js';

const cases: readonly (readonly [before: string, after: string])[] = [
  ['from t for version as of 5', 'from t AT (VERSION => 5)'],
  ['from t for version as of 5 where a = 1', 'from t AT (VERSION => 5) where a = 1'],
  ["from t for version as of 'tag' x", "from t x AT (VERSION => 'tag')"],
  [
    'from t for version as of \'tag\' as "x y" join u on true',
    'from t as "x y" AT (VERSION => \'tag\') join u on true',
  ],
  ['from t for system_version as of 5 x(a, b), u', 'from t x(a, b) AT (VERSION => 5), u'],
  [
    "from t for timestamp as of timestamp '2025-01-01' x",
    "from t x AT (TIMESTAMP => timestamp '2025-01-01')",
  ],
  [
    "from t for system_time as of now() - interval '1' day as x",
    "from t as x AT (TIMESTAMP => now() - interval '1' day)",
  ],
  [
    "from t for timestamp as of timestamp with time zone '2025-01-01 00:00:00+00' x",
    "from t x AT (TIMESTAMP => timestamp with time zone '2025-01-01 00:00:00+00')",
  ],
  [
    "from t for timestamp as of cast('2025-01-01' as timestamp) at time zone 'UTC' x",
    "from t x AT (TIMESTAMP => cast('2025-01-01' as timestamp) at time zone 'UTC')",
  ],
  ['from (from t for version as of 3) q', 'from (from t AT (VERSION => 3)) q'],
  ['from t for version as of 3 -- last\n', 'from t AT (VERSION => 3) -- last\n'],
];

describe('time travel', () => {
  for (const [before, after] of cases)
    test(`rewrites ${before.trim()}`, () => assert.equal(rewriteTimeTravel(tokenize(before)).sql, after));

  test('leaves strings, names, comments and FOR UPDATE alone', () => {
    const sql = `select 'for version as of 3', "for" /* for version as of 3 */ from t for update`;
    assert.deepEqual(rewriteTimeTravel(tokenize(sql)), { sql, changes: [] });
  });

  test('says what was rewritten', () => {
    const sql = 'from t for version as of 3 a, u for version as of 4';
    const { sql: rewritten, changes } = rewriteTimeTravel(tokenize(sql));
    assert.deepEqual(
      changes.map(({ before, after }) => [
        sql.slice(before.start, before.end),
        rewritten.slice(after.start, after.end),
      ]),
      [
        ['for version as of 3 a', 'a AT (VERSION => 3)'],
        ['for version as of 4', 'AT (VERSION => 4)'],
      ],
    );
  });

  test('refuses a missing point in time', () => {
    assert.throws(() => rewriteTimeTravel(tokenize('from t for version as of')), { code: 'SYNTAX_ERROR' });
    assert.throws(() => rewriteTimeTravel(tokenize('from t for version as of, u')), { code: 'SYNTAX_ERROR' });
  });
});
