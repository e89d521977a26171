import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileLikePattern, escapeLikePattern } from './like-pattern.js';

const cases: readonly (readonly [string, string, boolean])[] = [
  ['orders', 'orders', true],
  ['orders', 'Orders', false],
  ['order', 'orders', false],
  ['ord%', 'orders', true],
  ['%', '', true],
  ['', '', true],
  ['', 'a', false],
  ['_', '', false],
  ['_rders', 'orders', true],
  ['o%r%s', 'orders', true],
  ['o%x%s', 'orders', false],
  ['%ab', 'aab', true],
  ['a%%b', 'ab', true],
  ['%_', '', false],
  ['%_', 'a', true],
  ['_', '𝄞', true],
  ['a.c', 'abc', false],
  ['a\\_c', 'a_c', true],
  ['a\\_c', 'abc', false],
  ['100\\%', '100%', true],
  ['100\\%', '1000', false],
  ['a\\\\b', 'a\\b', true],
  ['a\\', 'a\\', true],
];

for (const [pattern, name, expected] of cases) {
  test(`pattern "${pattern}" ${expected ? 'matches' : 'does not match'} "${name}"`, () => {
    assert.equal(compileLikePattern(pattern)(name), expected);
  });
}

test('an absent pattern matches everything', () => {
  assert.equal(compileLikePattern(undefined)('anything'), true);
});

test('case is ignored on request', () => {
  assert.equal(compileLikePattern('ORD%', { ignoreCase: true })('Orders'), true);
});

test('an escaped name matches itself and nothing else', () => {
  const matches = compileLikePattern(escapeLikePattern('50%_a\\b'));
  assert.equal(matches('50%_a\\b'), true);
  assert.equal(matches('50xxa\\b'), false);
});

test('a hostile pattern on a long name is decided without backtracking over every run', () => {
  assert.equal(compileLikePattern(`${'%a'.repeat(200)}b`)('a'.repeat(20_000)), false);
});
