import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearerKey, isSameSecret, newBearer, sessionLabel } from './bearer.js';

describe('a bearer', () => {
  it('has 256 random bits and fits into a header', () => {
    const bearers = Array.from({ length: 100 }, newBearer);
    assert.equal(new Set(bearers).size, 100);
    for (const bearer of bearers) assert.match(bearer, /^[A-Za-z0-9_-]{43}$/);
  });

  it('is known by its SHA-256, and in logs by the first 16 digits of it', () => {
    const key = bearerKey('abc');
    assert.equal(key, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    assert.equal(sessionLabel(key), 'ba7816bf8f01cfea');
  });
});

describe('comparing secrets', () => {
  it('tells equal from different ones of any length', () => {
    assert.equal(isSameSecret('secret', 'secret'), true);
    assert.equal(isSameSecret('secret', 'secreT'), false);
    assert.equal(isSameSecret('secret', 'secret '), false);
    assert.equal(isSameSecret('', 'secret'), false);
    assert.equal(isSameSecret('', ''), true);
  });
});
