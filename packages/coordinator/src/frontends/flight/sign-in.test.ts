import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallContext, Credentials } from '@svc/flight';
import { createAuthentication } from '../../identity/authentication.js';
import { type IdentityProvider, wrongBearer } from '../../identity/identity-provider.js';
import { createLocalSignIn } from '../../identity/local-identity.js';
import { SessionStore } from '../../identity/session-store.js';
import { testSettings } from '../../test-support/fake-session.js';
import { signIn } from './sign-in.js';

const password: Credentials = { kind: 'basic', username: 'local', password: 'right password' };

describe('signing in', () => {
  it('with a password makes a session of its own each time', async () => {
    const { sessions, enter } = newDoor();
    const [first, second] = [await enter(password), await enter(password)];
    assert.notEqual(first, second);
    assert.equal(sessions.size, 2);
    const session = sessions.find(first);
    assert.deepEqual([session?.identity.username, session?.clientAddress], ['local', '127.0.0.1']);
  });

  it('with the bearer of a session stays in that session', async () => {
    const { sessions, enter } = newDoor();
    const bearer = await enter(password);
    assert.equal(await enter({ kind: 'bearer', token: bearer }), bearer);
    assert.equal(sessions.size, 1);
  });

  it('with any other bearer is refused', async () => {
    const { enter } = newDoor();
    await assert.rejects(enter({ kind: 'bearer', token: 'garbage' }), { code: 'UNAUTHENTICATED' });
  });

  it('with a wrong password leaves no session behind', async () => {
    const { sessions, enter } = newDoor();
    await assert.rejects(enter({ ...password, password: 'wrong' }), { code: 'UNAUTHENTICATED' });
    assert.equal(sessions.size, 0);
  });

  it('with a password over an open line is refused, right or wrong', async () => {
    const { enter } = newDoor();
    for (const text of ['right password', 'wrong']) {
      await assert.rejects(enter({ ...password, password: text }, false), { code: 'INSECURE_TRANSPORT' });
    }
  });
});

function newDoor() {
  const sessions = new SessionStore({
    idleTimeoutMs: 1000,
    maxAgeMs: 1000,
    maxPerUser: 10,
    maxTotal: 100,
    defaults: testSettings,
    now: () => 0,
  });
  const identity: IdentityProvider = {
    kind: 'local',
    signIn: createLocalSignIn('right password'),
    async ownerOf() {
      throw wrongBearer();
    },
  };
  const enter = (credentials: Credentials, isConfidential = true) => {
    const context: CallContext = {
      signal: new AbortController().signal,
      clientAddress: '127.0.0.1',
      headers: new Map(),
      isConfidential,
    };
    return signIn(createAuthentication(sessions, identity), credentials, context);
  };
  return { sessions, enter };
}
