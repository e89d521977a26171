import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inlineParameters, renumberParameters } from './parameters.js';

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

  test('are numbered anew when some are gone', () => {
    assert.deepEqual(renumberParameters('select $4, $2, $4', ['1', '2', '3', '4']), {
      sql: 'select  $2 ,  $1 ,  $2 ',
      kept: [1, 3],
    });
    assert.deepEqual(renumberParameters("select $b, '$a'", ['a', 'B']), {
      sql: "select  $1 , '$a'",
      kept: [1],
    });
    assert.deepEqual(renumberParameters('select 1', ['1']), { sql: 'select 1', kept: [] });
  });

  test('need a value', () => {
    assert.throws(() => inlineParameters('select ?, ?', new Map([['1', '1']])), {
      code: 'INVALID_PARAMETER',
    });
  });
});
