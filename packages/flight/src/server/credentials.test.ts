import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metadata } from '@grpc/grpc-js';
import { readCredentials } from './credentials.js';

function read(header: string) {
  const metadata = new Metadata();
  metadata.set('authorization', header);
  return readCredentials(metadata);
}

const basic = (text: string | Buffer) => `Basic ${Buffer.from(text).toString('base64')}`;

test('Basic is read, and only the first colon separates', () => {
  assert.deepEqual(read(basic('alice:a:b')), { kind: 'basic', username: 'alice', password: 'a:b' });
  assert.deepEqual(read(basic('älice:pässwörd')), { kind: 'basic', username: 'älice', password: 'pässwörd' });
});

test('the scheme has no case', () => {
  assert.deepEqual(read('bEARER abc.d-e_f~g+/='), { kind: 'bearer', token: 'abc.d-e_f~g+/=' });
});

test('a token of the payload sign-in is a bearer', () => {
  const metadata = new Metadata();
  metadata.set('auth-token-bin', Buffer.from('token-1'));
  assert.deepEqual(readCredentials(metadata), { kind: 'bearer', token: 'token-1' });
});

test('no header is no credentials', () => {
  assert.equal(readCredentials(new Metadata()), undefined);
});

for (const header of [
  '',
  'Bearer',
  'Bearer ',
  'Bearer a, Bearer b',
  'Bearer a b',
  'Digest x',
  'Basic',
  'Basic !!!',
  'Basic YWxpY2U=', // no colon
  basic(Buffer.from([0x61, 0x3a, 0xff])), // not UTF-8
  basic('alice\u0000:secret'),
  basic('alice:sec\nret'),
  ' Bearer token',
  'Bearer token ',
  `Bearer ${'x'.repeat(100_000)}`,
  basic(`alice:${'x'.repeat(100_000)}`),
]) {
  test(`"${header.slice(0, 40)}" is refused without quoting it`, () => {
    assert.throws(
      () => read(header),
      (error: { code?: unknown; message?: unknown }) =>
        error.code === 'UNAUTHENTICATED' && !/YWxp|alice|Digest|xxx/.test(String(error.message)),
    );
  });
}

test('a token as auth-token-bin has the same bounds', () => {
  for (const token of ['', 'a b', 'a\nb', 'x'.repeat(100_000)]) {
    const metadata = new Metadata();
    metadata.set('auth-token-bin', Buffer.from(token));
    assert.throws(() => readCredentials(metadata), { code: 'UNAUTHENTICATED' });
  }
});
