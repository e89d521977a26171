import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { QueryError } from '@svc/base';
import { identifierValue, stringValue } from './literals.js';
import { tokenKinds } from './token-list.js';
import { maxBracketDepth, tokenize } from './tokenizer.js';

describe('the tokenizer', () => {
  test('drops comments and blanks and keeps everything else', () => {
    assert.deepEqual(texts("select/* a /* b */ c */x --y\n,\u00a0'z' -- end"), ['select', 'x', ',', "'z'"]);
  });

  test('ends a line comment at a carriage return', () => {
    assert.deepEqual(texts('1 -- 2\r3'), ['1', '3']);
  });

  test('takes doubled quotes, backslash strings and dollar quotes as one token each', () => {
    const sql = `'it''s' E'a\\'b''c' "x""y" $$a;'b$$ $t$ $$ $u$ $t$`;
    assert.deepEqual(texts(sql), ["'it''s'", "E'a\\'b''c'", '"x""y"', "$$a;'b$$", '$t$ $$ $u$ $t$']);
  });

  test('tells parameters from dollar quotes and operators', () => {
    assert.deepEqual(kinds('? ?2 $1 $name $$x$$ a$b'), [
      tokenKinds.parameter,
      tokenKinds.parameter,
      tokenKinds.parameter,
      tokenKinds.parameter,
      tokenKinds.string,
      tokenKinds.word,
    ]);
  });

  test('does not let an operator swallow a comment', () => {
    assert.deepEqual(texts('a+--b\n-/*c*/1'), ['a', '+', '-', '1']);
  });

  test('reads numbers with points, exponents, underscores and prefixes', () => {
    assert.deepEqual(
      texts('1 1.5 .5 1e10 1.5E-3 1_000 0x1F 0b11'),
      '1 1.5 .5 1e10 1.5E-3 1_000 0x1F 0b11'.split(' '),
    );
  });

  test('answers what strings and identifiers stand for', () => {
    const tokens = tokenize(`'it''s' E'\\n\\x41\\u00e9\\101\\q''' $x$a'b$x$ "a""b" word`);
    const strings = [0, 1, 2].map((index) => stringValue(tokens, index));
    assert.deepEqual(strings, ["it's", "\nA\u00e9Aq'", "a'b"]);
    assert.deepEqual([identifierValue(tokens, 3), identifierValue(tokens, 4)], ['a"b', 'word']);
  });

  for (const [name, sql, place] of [
    ['an unclosed string', "select\n 'a", 'line 2, column 2'],
    ['an unclosed identifier', 'select "a', 'line 1, column 8'],
    ['an unclosed comment', 'select /* /* */', 'line 1, column 8'],
    ['an unclosed dollar quote', 'select $a$ $$', 'line 1, column 8'],
    ['an unclosed bracket', 'select (1', 'line 1, column 8'],
    ['a bracket that closes nothing', 'select 1)', 'line 1, column 9'],
    ['brackets that cross', 'select (1]', 'line 1, column 10'],
    ['a NUL character', "select 'a\0'", 'line 1, column 10'],
    ['half of a surrogate pair', "select '\ud800'", 'line 1, column 9'],
    ['a backslash outside of a string', 'select \\', 'line 1, column 8'],
  ] as const)
    test(`refuses ${name} and says where`, () => {
      assert.throws(
        () => tokenize(sql),
        (error) =>
          error instanceof QueryError && error.code === 'SYNTAX_ERROR' && error.message.includes(place),
      );
    });

  test('refuses brackets nested deeper than the engine goes', () => {
    const nested = (depth: number) => `select ${'('.repeat(depth)}1${')'.repeat(depth)}`;
    assert.equal(tokenize(nested(maxBracketDepth)).count, 2 * maxBracketDepth + 2);
    for (const depth of [maxBracketDepth + 1, 10_000])
      assert.throws(() => tokenize(nested(depth)), { code: 'STATEMENT_TOO_LARGE' });
  });

  test('takes a pair of surrogates in strings and names', () => {
    assert.deepEqual(texts(`'😀' "😀" 😀`), ["'😀'", '"😀"', '😀']);
  });

  test('finds a token by its place', () => {
    const tokens = tokenize('select a, b');
    assert.equal(tokens.at(7), 1);
    assert.equal(tokens.at(8), 2);
    assert.equal(tokens.at(6), undefined);
  });

  test('takes ten megabytes of hard cases', () => {
    const hard = [
      "'".repeat(4_000_000),
      '-'.repeat(4_000_000),
      `${'a.'.repeat(1_000_000)}a`,
      '+'.repeat(4_000_000),
    ];
    for (const text of hard) assert.ok(tokenize(`select ${text}`).count > 0);
  });
});

function texts(sql: string): readonly string[] {
  const tokens = tokenize(sql);
  return Array.from({ length: tokens.count }, (_, index) => tokens.text(index));
}

function kinds(sql: string): readonly unknown[] {
  const tokens = tokenize(sql);
  return Array.from({ length: tokens.count }, (_, index) => tokens.kind(index));
}
