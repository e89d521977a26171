import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutEscapes } from './escapes.js';

const cases: readonly (readonly [string, string])[] = [
  ["SELECT {d '2026-01-31'}, {t'10:00:00'}", "SELECT DATE '2026-01-31', TIME '10:00:00'"],
  ["a >= {ts '2026-01-31 10:00:00'}", "a >= TIMESTAMP '2026-01-31 10:00:00'"],
  ['SELECT {fn UCASE("a")}', 'SELECT UCASE("a")'],
  ['SELECT {FN left({fn lcase(a)}, 2)}', 'SELECT left(lcase(a), 2)'],
  [
    'CAST("t" AS TIMESTAMP) >= {fn TIMESTAMPADD(SQL_TSI_DAY,-89,CURRENT_DATE)}',
    'CAST("t" AS TIMESTAMP) >= ((-89) * INTERVAL 1 DAY + (CURRENT_DATE))',
  ],
  [
    "{fn TIMESTAMPDIFF(SQL_TSI_MONTH, {d '2026-01-31'}, f(a, [b, c]))}",
    "date_diff('month', DATE '2026-01-31', f(a, [b, c]))",
  ],
  ['SELECT {fn CURDATE()}, {fn NOW()}', 'SELECT CURRENT_DATE, NOW()'],
  ['SELECT {fn CONVERT(a + 1, SQL_VARCHAR)}', 'SELECT CAST(a + 1 AS VARCHAR)'],
  ['FROM {oj a LEFT JOIN b ON a.x = b.x}', 'FROM a LEFT JOIN b ON a.x = b.x'],
];

for (const [escaped, plain] of cases)
  test(`${escaped} is ${plain}`, () => assert.equal(withoutEscapes(escaped), plain));

const untouched = [
  'SELECT 1',
  "SELECT {d: 1, t: 2}, {'d': 1}, {fn: 3}, {oj: 4}",
  "SELECT '{d ''x''}', \"{fn a}\" -- {fn b}",
  "SELECT {d '2026-01-31', 1}",
  'SELECT {fn }',
  'SELECT {fn TIMESTAMPADD(SQL_TSI_DAY',
  "SELECT 'never ended {d",
];

for (const sql of untouched) test(`${sql} stays as it is`, () => assert.equal(withoutEscapes(sql), sql));

test('an escape whose function is not known is left to the engine, by its name', () => {
  assert.equal(
    withoutEscapes('{fn TIMESTAMPADD(SQL_TSI_FRAC_SECOND, 1, a)}'),
    'TIMESTAMPADD(SQL_TSI_FRAC_SECOND, 1, a)',
  );
});

test('escapes deep within one another are taken out in one pass', () => {
  const depth = 400;
  for (const [name, rest] of [
    ['abs(', ')'],
    ['TIMESTAMPADD(SQL_TSI_FRAC_SECOND, 1, ', ')'],
  ] as const) {
    const sql = `SELECT ${`{fn ${name}`.repeat(depth)}1${`${rest}}`.repeat(depth)}`;
    assert.equal(withoutEscapes(sql), `SELECT ${name.repeat(depth)}1${rest.repeat(depth)}`);
  }
});
