import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { publicKeyOf } from '../function-keys';

function privateKey(curve = 'P-256') {
  return generateKeyPairSync('ec', { namedCurve: curve }).privateKey.export({ format: 'jwk' });
}

describe('the public half of the function’s keys', () => {
  it('is that of the first, without its private part', () => {
    const [current, former] = [
      { ...privateKey(), kid: '2' },
      { ...privateKey(), kid: '1' },
    ];
    const { kty, crv, x, y, kid } = current;
    assert.deepEqual(JSON.parse(publicKeyOf(JSON.stringify({ keys: [current, former] }))), {
      kty,
      crv,
      x,
      y,
      kid,
    });
  });

  it('copies nothing that it does not know', () => {
    const key = { ...privateKey(), note: 'private' };
    assert.deepEqual(Object.keys(JSON.parse(publicKeyOf(JSON.stringify({ keys: [key] })))), [
      'kty',
      'crv',
      'x',
      'y',
    ]);
  });

  it('is refused of anything else, without saying what it was', () => {
    const { d: _, ...publicOnly } = privateKey();
    for (const set of [
      '',
      '{}',
      '{"keys":[]}',
      '[1]',
      JSON.stringify(privateKey()),
      ...[privateKey('P-384'), publicOnly].map((key) => JSON.stringify({ keys: [key] })),
    ])
      assert.throws(
        () => publicKeyOf(set),
        (error: Error) =>
          /JSON Web Key Set of private keys/.test(error.message) &&
          (set.length < 8 || !error.message.includes(set)),
      );
  });
});
