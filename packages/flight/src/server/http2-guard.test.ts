import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http2';
import { test } from 'node:test';
import { inspectHeaders } from './http2-guard.js';

function inspect(...raw: readonly (readonly [string, string])[]): {
  readonly code: string | undefined;
  readonly headers: IncomingHttpHeaders;
} {
  const headers: IncomingHttpHeaders = {};
  for (const [name, value] of raw) headers[name.toLowerCase()] ??= value;
  return { code: inspectHeaders(headers, raw.flat())?.code, headers };
}

test('one authorization header passes', () => {
  assert.equal(inspect(['authorization', 'Bearer a']).code, undefined);
});

test('two authorization headers are refused, in whatever case', () => {
  assert.equal(inspect(['authorization', 'Bearer a'], ['Authorization', 'Bearer b']).code, 'UNAUTHENTICATED');
});

test('two kinds of credentials are refused', () => {
  assert.equal(inspect(['authorization', 'Bearer a'], ['auth-token-bin', 'YQ==']).code, 'UNAUTHENTICATED');
});

test('an authorization header beyond printable ASCII is refused', () => {
  for (const value of ['Bearer a\tb', 'Bearer a\u0080', 'Bearer a\u007f'])
    assert.equal(inspect(['authorization', value]).code, 'UNAUTHENTICATED');
});

test('other unprintable headers are dropped', () => {
  const { code, headers } = inspect(['x-request-id', 'r\u00e9'], ['x-session-id', 's-1']);
  assert.equal(code, undefined);
  assert.deepEqual(headers, { 'x-session-id': 's-1' });
});

for (const [given, expected] of [
  ['30S', '30S'],
  ['2147483S', '2147483S'],
  ['2147484S', '2147483S'],
  ['99999999H', '2147483S'],
  ['99999999n', '99999999n'],
] as const) {
  test(`a deadline of ${given} becomes ${expected}`, () => {
    assert.equal(inspect(['grpc-timeout', given]).headers['grpc-timeout'], expected);
  });
}

test('a malformed deadline is refused', () => {
  for (const value of ['', 'S', '-1S', '123456789S', '1x', '1S, 2S'])
    assert.equal(inspect(['grpc-timeout', value]).code, 'INVALID_ARGUMENT');
});
