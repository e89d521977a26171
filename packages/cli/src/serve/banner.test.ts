import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SignInFacts } from '@svc/coordinator';
import { banner } from './banner.js';

function bannerFor(signIn: SignInFacts): string {
  return banner({
    version: '1',
    engineVersion: '1',
    listeners: [{ kind: 'flight', name: 'Flight SQL', address: 'grpc://127.0.0.1:50051' }],
    catalogName: 'lake',
    catalogPlace: 'the folder /lake',
    signIn,
    hasSample: false,
    isTls: false,
    startedInMs: 1,
  });
}

describe('the banner of svc serve', () => {
  it('says where the password of the local user lies', () => {
    const text = bannerFor({ kind: 'local', username: 'local', passwordPath: '/data/local-password' });
    assert.match(text, /Sign in as "local" with the password in \/data\/local-password/);
    assert.match(text, /"username": "local", "password": open\("\/data\/local-password"\)/);
  });

  it('says at which provider users have their passwords', () => {
    const text = bannerFor({ kind: 'password', providerUrl: 'https://id.example' });
    assert.match(text, /your user name and password at https:\/\/id\.example/);
    assert.match(text, /\?user=YOU&/);
    assert.doesNotMatch(text, /local-password|"local"/);
  });

  it('says who gets in with client credentials', () => {
    const kind = 'client_credentials';
    assert.match(bannerFor({ kind, needsPassword: true }), /the password of auth\.handshake_password/);
    assert.match(bannerFor({ kind, needsPassword: false }), /WHOEVER REACHES THE PORT/);
  });
});
