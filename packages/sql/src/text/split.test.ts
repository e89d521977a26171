import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { splitStatements, tokenizeOneStatement } from './split.js';

describe('splitting', () => {
  test('cuts at semicolons outside of strings, names and comments', () => {
    const statements = splitStatements(`select ';' ; select ";" /* ; */; -- ;\n select $$;$$`);
    assert.deepEqual(
      statements.map(({ sql }) => sql),
      ["select ';'", 'select ";"', 'select $$;$$'],
    );
  });

  test('drops empty statements and keeps places', () => {
    const text = ' ; ;select 1;; select 2 ;';
    const statements = splitStatements(text);
    assert.deepEqual(
      statements.map(({ sql, start }) => [sql, text.indexOf(sql) === start]),
      [
        ['select 1', true],
        ['select 2', true],
      ],
    );
  });

  test('takes exactly one statement per call', () => {
    assert.equal(tokenizeOneStatement('; select 1 ;').sql, 'select 1');
    assert.throws(() => tokenizeOneStatement('select 1; select 2'), {
      code: 'NOT_SUPPORTED',
      message: /2 statements/,
    });
    assert.throws(() => tokenizeOneStatement(' -- nothing\n;'), { code: 'SYNTAX_ERROR' });
  });
});
