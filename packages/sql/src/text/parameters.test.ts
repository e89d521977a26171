import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inlineParameters } from './parameters.js';

describe('parameters', () => {
  test('are replaced where they are parameters', () => {
    const literals = new Map([
      ['1', "'a'"],
      ['2', 'CAST(2 AS BIGINT)'],
    ]);
    assert.equal(
      inlineParameters(`select ?, '?', "?", $$?$$ /* ? */ from t limit ?`, literals),
      `select 'a', '?', "?", $$?$$ /* ? */ from t limit CAST(2 AS BIGINT)`,
    );
    assert.equal(inlineParameters('select $2, $1', literals), "select CAST(2 AS BIGINT), 'a'");
    assert.equal(inlineParameters('select ?2, ?1', literals), "select CAST(2 AS BIGINT), 'a'");
  });

  test('go by name', () => {
    assert.equal(
      inlineParameters(
        'select $a + $B',
        new Map([
          ['a', '1'],
          ['b', '2'],
        ]),
      ),
      'select 1 + 2',
    );
  });

  test('need a value', () => {
    assert.throws(() => inlineParameters('select ?, ?', new Map([['1', '1']])), {
      code: 'INVALID_PARAMETER',
    });
  });
});
