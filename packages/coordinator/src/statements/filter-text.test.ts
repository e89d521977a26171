import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Literal, ScanFilter } from '@svc/sql';
import { filterText } from './filter-text.js';

describe('a filter as EXPLAIN shows it', () => {
  it('compares a column with a typed constant', () => {
    const cases: readonly (readonly [Literal, string])[] = [
      [{ type: 'BIGINT', value: 9_223_372_036_854_775_807n }, 'c = 9223372036854775807'],
      [{ type: 'BOOLEAN', value: true }, 'c = true'],
      [{ type: 'DOUBLE', value: -1.5e300 }, 'c = -1.5e+300'],
      [{ type: 'VARCHAR', value: "it's" }, "c = 'it''s'"],
      [{ type: 'BLOB', value: Uint8Array.of(0, 255) }, "c = '\\x00ff'"],
      [{ type: 'DATE', value: 0n }, "c = DATE '1970-01-01'"],
      [{ type: 'DATE', value: -719_162n }, "c = DATE '0001-01-01'"],
      [{ type: 'DECIMAL(15,2)', value: -5n }, 'c = -0.05'],
      [{ type: 'DECIMAL(15,2)', value: 12_345n }, 'c = 123.45'],
      [{ type: 'DECIMAL(38,0)', value: 10n ** 37n }, `c = 1${'0'.repeat(37)}`],
      [{ type: 'TIMESTAMP', value: 1_000_000n }, "c = TIMESTAMP '1970-01-01 00:00:01'"],
    ];
    for (const [literal, text] of cases) {
      assert.equal(filterText({ kind: 'compare', column: ['c'], operator: '=', literal }), text);
    }
  });

  it('shows fractions of timestamps to their last digit', () => {
    const at = (type: string, value: bigint) =>
      filterText({ kind: 'compare', column: ['c'], operator: '<', literal: { type, value } });
    assert.equal(at('TIMESTAMP', 1n), "c < TIMESTAMP '1970-01-01 00:00:00.000001'");
    assert.equal(at('TIMESTAMP_NS', 1_000_000_001n), "c < TIMESTAMP_NS '1970-01-01 00:00:01.000000001'");
    assert.equal(at('TIMESTAMP_MS', 10n), "c < TIMESTAMP_MS '1970-01-01 00:00:00.01'");
    assert.equal(at('TIMESTAMP_S', 61n), "c < TIMESTAMP_S '1970-01-01 00:01:01'");
    assert.equal(at('TIMESTAMP', -1n), "c < TIMESTAMP '1969-12-31 23:59:59.999999'");
    assert.equal(
      at('TIMESTAMP WITH TIME ZONE', 1_500_000n),
      "c < TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:01.5+00'",
    );
  });

  it('shows infinite and unthinkable dates without failing', () => {
    const far = 2n ** 63n - 1n;
    for (const type of ['DATE', 'TIMESTAMP', 'TIMESTAMP WITH TIME ZONE']) {
      for (const value of [far, -far, 2n ** 31n - 1n, -(2n ** 31n) + 1n]) {
        const text = filterText({ kind: 'compare', column: ['c'], operator: '<', literal: { type, value } });
        assert.ok(text.startsWith(`c < ${type}`), text);
      }
    }
  });

  it('quotes names that need it, level by level', () => {
    const isNull = (column: readonly string[]) => filterText({ kind: 'is-null', column });
    assert.equal(isNull(['a', 'b_1']), 'a.b_1 IS NULL');
    assert.equal(isNull(['A b', 'say "x"']), '"A b"."say ""x""" IS NULL');
    assert.equal(isNull(['a.b']), '"a.b" IS NULL');
  });

  it('nests AND and OR in parentheses', () => {
    const column = ['c'];
    const filter: ScanFilter = {
      kind: 'or',
      filters: [
        { kind: 'is-not-null', column },
        {
          kind: 'and',
          filters: [
            { kind: 'starts-with', column, prefix: "o'" },
            { kind: 'is-null', column },
          ],
        },
      ],
    };
    assert.equal(filterText(filter), "(c IS NOT NULL OR (c LIKE 'o''%' AND c IS NULL))");
  });

  it('shows the first values of a long list and how many more there are', () => {
    const literals = Array.from({ length: 1012 }, (_none, index) => ({
      type: 'INTEGER',
      value: BigInt(index),
    }));
    assert.equal(
      filterText({ kind: 'in', column: ['c'], literals }),
      'c IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … 1002 more)',
    );
  });
});
