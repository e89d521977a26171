import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { fakeClock } from '../test-support/clock.js';
import { testSettings } from '../test-support/fake-session.js';
import { createAuthentication } from './authentication.js';
import { newBearer } from './bearer.js';
import { type IdentityProvider, wrongBearer } from './identity-provider.js';
import { SessionStore } from './session-store.js';

const origin = { clientAddress: '127.0.0.1', signal: new AbortController().signal };
const idleTimeoutMs = 1000;
const token = 'header.payload.signature';

describe('who is calling (spec section 5)', () => {
  it('is the session of a bearer that was issued here', async () => {
    const { authentication } = newAuthentication();
    const bearer = await authentication.signIn('ada', 'right', origin);
    assert.equal((await authentication.sessionOf(bearer, origin)).identity.username, 'ada');
  });

  it('is the owner of an access token, in one session for calls that come together', async () => {
    const { authentication, store, verified } = newAuthentication();
    const sessions = await Promise.all([1, 2, 3].map(() => authentication.sessionOf(token, origin)));
    assert.equal(new Set(sessions).size, 1);
    await authentication.sessionOf(token, origin);
    assert.deepEqual([store.size, verified()], [1, 3]);
  });

  const answers = {
    'a bearer of no coordinator that is left': [newBearer(), 'SESSION_LOST', 'session lost, sign in again'],
    'a guessed bearer': ['A'.repeat(43), 'SESSION_LOST', 'session lost, sign in again'],
    garbage: ['garbage', 'UNAUTHENTICATED', /sign in again/],
    nothing: ['', 'UNAUTHENTICATED', /sign in again/],
    'a foreign token': ['other.payload.signature', 'UNAUTHENTICATED', /sign in again/],
  } as const;
  for (const [title, [bearer, code, message]] of Object.entries(answers)) {
    it(`is nobody with ${title}`, async () => {
      const { authentication } = newAuthentication();
      await assert.rejects(authentication.sessionOf(bearer, origin), { code, message });
    });
  }

  it('is lost once the session was closed, for whoever knows its bearer', async () => {
    const { authentication, store } = newAuthentication();
    const bearer = await authentication.signIn('ada', 'right', origin);
    store.close(await authentication.sessionOf(bearer, origin));
    await assert.rejects(authentication.sessionOf(bearer, origin), { code: 'SESSION_LOST' });
  });

  it('has expired after the idle timeout, and nobody asks the provider', async () => {
    const { authentication, clock, verified } = newAuthentication();
    const bearer = await authentication.signIn('ada', 'right', origin);
    clock.advance(idleTimeoutMs + 1);
    await assert.rejects(authentication.sessionOf(bearer, origin), {
      code: 'SESSION_EXPIRED',
      message: 'session expired, sign in again',
    });
    assert.equal(verified(), 0);
  });

  it('is not known while the provider is down, which is no answer about the bearer', async () => {
    const { authentication } = newAuthentication(() => {
      throw new QueryError('IDENTITY_PROVIDER_UNAVAILABLE', 'The identity provider is down.');
    });
    await assert.rejects(authentication.sessionOf(newBearer(), origin), {
      code: 'IDENTITY_PROVIDER_UNAVAILABLE',
    });
  });
});

function newAuthentication(onVerify: () => void = () => {}) {
  const clock = fakeClock();
  const store = new SessionStore({
    idleTimeoutMs,
    maxAgeMs: 10_000,
    maxPerUser: 10,
    maxTotal: 100,
    defaults: testSettings,
    now: clock.now,
  });
  let verified = 0;
  const identity: IdentityProvider = {
    kind: 'password',
    async signIn(username) {
      return { identity: { username, roles: [] }, tokens: undefined, renew: undefined };
    },
    async ownerOf(bearer) {
      onVerify();
      if (bearer !== token) throw wrongBearer();
      verified += 1;
      await new Promise(setImmediate);
      const tokens = { accessToken: bearer, refreshToken: undefined, expiresAtMs: clock.now() + 5000 };
      const owner = { identity: { username: 'eve', roles: [] }, tokens, renew: undefined };
      return { ...owner, issuer: 'https://idp.test', subject: '1' };
    },
  };
  return { authentication: createAuthentication(store, identity), store, clock, verified: () => verified };
}
