import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { JsonNumber, parseJson, stringifyJson } from './lossless.js';

describe('lossless JSON', () => {
  test('keeps every number as it was written', () => {
    const text = '[18446744073709551615,10.0,1e400,-0,-5,1.50,Infinity,-Infinity,NaN]';
    assert.equal(stringifyJson(parseJson(text)), text);
  });

  test('keeps strings, nesting and empty containers', () => {
    const text = '{"a":[],"b":{},"c":"\\"\\\\\\n\\u0001é😀","d":[true,false,null,{"e":[[1]]}]}';
    assert.deepEqual(JSON.parse(stringifyJson(parseJson(text))), JSON.parse(text));
  });

  test('takes white space between tokens', () => {
    assert.deepEqual(parseJson(' { "a" : [ 1 , "b" ] } '), { a: [new JsonNumber('1'), 'b'] });
  });

  test('takes a key that would be a prototype', () => {
    const parsed = parseJson('{"__proto__":{"x":1}}');
    assert.deepEqual(Object.keys(parsed as object), ['__proto__']);
    assert.equal(Object.getPrototypeOf(parsed), Object.prototype);
  });

  for (const text of [
    '',
    '{',
    '[1,]',
    '{"a"}',
    '{"a":1,}',
    '[1 2]',
    '"a',
    '"a\\',
    'nul',
    '1 1',
    '{a:1}',
    '[1}',
    ']',
  ])
    test(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseJson(text), { code: 'INTERNAL_ERROR' });
    });

  test('refuses what is nested too deeply for those who walk it', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    assert.ok(parseJson(nested(4_000)));
    assert.throws(() => parseJson(nested(100_000)), { code: 'STATEMENT_TOO_LARGE' });
  });
});
