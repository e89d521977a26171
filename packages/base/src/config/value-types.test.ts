import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  address,
  addressRange,
  boolean,
  bytes,
  formatBytes,
  identifier,
  integer,
  list,
  number,
  oneOf,
  type ParsedValue,
  path,
  redisUrl,
  seconds,
  string,
  url,
} from './value-types.js';

const size = bytes(0, 2 ** 50);

describe('value types', () => {
  it('reads sizes with decimal and binary units', () => {
    const sizes = ['256MB', '1 GiB', '1.5KiB', '12', ' 3 kb ', '0'].map((text) => given(size.fromText(text)));
    assert.deepEqual(sizes, [256e6, 2 ** 30, 1536, 12, 3000, 0]);
    assert.equal(given(size.fromToml(4096n)), 4096);
  });

  it('refuses sizes that are negative, fractional, too large or without a known unit', () => {
    for (const text of ['-1', '1.5', '10 GX', '1e9', '9999999 TiB', '', 'GiB', '1 G iB', '１'])
      assert.equal(size.fromText(text).kind, 'invalid', text);
    assert.equal(size.fromToml(1.5).kind, 'invalid');
    assert.equal(size.fromToml(2n ** 60n).kind, 'invalid');
  });

  it('tells a whole float from an integer in the file', () => {
    assert.equal(given(integer(0, 9).fromToml(8n)), 8);
    assert.equal(integer(0, 9).fromToml(8).kind, 'invalid');
    assert.equal(integer(0, 9).fromToml('8').kind, 'invalid');
  });

  it('reads integers of the environment in plain digits only', () => {
    assert.equal(given(integer(-5, 5).fromText('-5')), -5);
    for (const text of ['', ' 1', '1.0', '0x1', '1e0', '6', '99999999999999999999', 'NaN', '1_0'])
      assert.equal(integer(-5, 5).fromText(text).kind, 'invalid', text);
  });

  it('reads numbers inside their range', () => {
    assert.equal(given(number(0, 1).fromToml(0.25)), 0.25);
    assert.equal(given(number(0, 1).fromText('1')), 1);
    assert.equal(number(0, 1).fromToml(Number.NaN).kind, 'invalid');
    assert.equal(number(0, 1).fromText('Infinity').kind, 'invalid');
    assert.equal(number(0, 1).fromToml(1.01).kind, 'invalid');
  });

  it('takes no duration that a timer cannot hold', () => {
    assert.equal(given(seconds(0).fromToml(2_147_483n)), 2_147_483);
    assert.equal(seconds(0).fromToml(2_147_484n).kind, 'invalid');
  });

  it('reads booleans by their names', () => {
    assert.equal(given(boolean.fromText('TRUE')), true);
    assert.equal(boolean.fromText('1').kind, 'invalid');
    assert.equal(boolean.fromToml('true').kind, 'invalid');
  });

  it('takes an empty text as unset', () => {
    for (const type of [string, path, url, address, identifier]) {
      assert.equal(type.fromText('').kind, 'unset');
      assert.equal(type.fromToml('').kind, 'unset');
      assert.equal(type.fromToml(1n).kind, 'invalid');
    }
  });

  it('takes http URLs without credentials', () => {
    assert.equal(given(url.fromText('https://idp.example:8443/x')), 'https://idp.example:8443/x');
    for (const text of ['idp.example', 'ftp://idp', 'https://a:b@idp', 'https://a@idp', 'http://'])
      assert.equal(url.fromText(text).kind, 'invalid', text);
  });

  it('takes addresses without port and brackets, names that need no quotes, paths without NUL', () => {
    for (const text of ['127.0.0.1:80', '[::1]', 'a b', '-x', 'http://a'])
      assert.equal(address.fromText(text).kind, 'invalid', text);
    for (const text of ['Lake', '1st', 'a-b', 'a.b', 'é'])
      assert.equal(identifier.fromText(text).kind, 'invalid');
    assert.equal(path.fromText('a\0b').kind, 'invalid');
  });

  it('takes one of a few words, in their own spelling', () => {
    const word = oneOf('refuse', 'count');
    assert.equal(given(word.fromText('count')), 'count');
    for (const text of ['', 'Count', 'none']) assert.equal(word.fromText(text).kind, 'invalid', text);
    assert.equal(word.fromToml(1n).kind, 'invalid');
  });

  it('reads lists from arrays and from texts with commas, and refuses one wrong part', () => {
    const words = list(oneOf('RS256', 'ES256'));
    assert.deepEqual(given(words.fromToml(['ES256', 'RS256'])), ['ES256', 'RS256']);
    assert.deepEqual(given(words.fromText(' RS256 ,ES256,')), ['RS256', 'ES256']);
    assert.deepEqual(given(words.fromText('')), []);
    assert.equal(words.fromText('RS256,none').kind, 'invalid');
    assert.equal(words.fromToml(['RS256', 1n]).kind, 'invalid');
    assert.equal(words.fromToml([['RS256']]).kind, 'invalid');
    assert.equal(words.expectation, 'a list, each part of it "RS256" or "ES256"');
  });

  it('takes addresses and ranges of them', () => {
    for (const text of ['10.0.0.0/8', '192.0.2.7', '::1', 'fd00::/8', '0.0.0.0/0'])
      assert.equal(given(addressRange.fromText(text)), text);
    for (const text of ['10.0.0.0/33', '::1/129', 'localhost', '10.0.0/8', '10.0.0.1:80', '10.0.0.0/8/8'])
      assert.equal(addressRange.fromText(text).kind, 'invalid', text);
  });

  it('takes Redis servers, with TLS, a password, and clusters of several', () => {
    const right = [
      'redis://127.0.0.1:6379',
      'redis://h',
      'rediss://user:p%40ss@cache.example:6380/3',
      'rediss+cluster://:secret@a.example:6379,b.example:6379',
      'redis+cluster://[::1]:7000',
    ];
    for (const text of right) assert.equal(given(redisUrl.fromText(text)), text);
    for (const text of [
      'http://h',
      'redis://',
      'redis://a:1,b:2',
      'redis://h:port',
      'redis://h/db',
      'h:6379',
    ])
      assert.equal(redisUrl.fromText(text).kind, 'invalid', text);
    assert.equal(redisUrl.isPrintable, false);
  });

  it('writes sizes in the largest unit that divides them', () => {
    const texts = [0, 1500, 1536, 2 ** 20, 2 ** 50].map(formatBytes);
    assert.deepEqual(texts, ['0', '1500 B', '1536 B', '1 MiB', '1024 TiB']);
  });
});

function given<T>(parsed: ParsedValue<T>): T {
  assert.ok(parsed.kind === 'value', `It is ${parsed.kind}.`);
  return parsed.value;
}
