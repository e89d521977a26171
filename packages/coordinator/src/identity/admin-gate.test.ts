import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { createAdminGate } from './admin-gate.js';
import { createAuthentication } from './authentication.js';
import { type BearerOwner, type IdentityProvider, wrongBearer } from './identity-provider.js';
import { SessionStore } from './session-store.js';

const origin = { clientAddress: '192.0.2.7', signal: new AbortController().signal };

describe('spec 5.6: the admin gate', () => {
  it('lets the bearer of a session with the role in, by the name that the role has', async () => {
    const { gate, sessions } = open();
    const identity = await gate(sessions.create(ownerOf('ada', 'root'), ''), origin);
    assert.equal(identity.username, 'ada');
  });

  it('lets a token with the role in, without a session', async () => {
    const { gate, sessions } = open();
    assert.equal((await gate('token-of-ada', origin)).username, 'ada');
    assert.equal(sessions.size, 0);
  });

  it('spec 7: keeps who has no such role out', async () => {
    const { gate, sessions } = open();
    const bearer = sessions.create(ownerOf('bob', 'ROOT', 'admin', 'roots'), '');
    await assert.rejects(gate(bearer, origin), { code: 'PERMISSION_DENIED' });
  });

  it('spec 7: keeps out whose token is not right, or session gone', async () => {
    const { gate } = open();
    await assert.rejects(gate('another-token', origin), { code: 'UNAUTHENTICATED' });
    await assert.rejects(gate('x'.repeat(43), origin), { code: 'SESSION_LOST' });
  });

  it('spec 7: keeps everybody out without an identity provider, the local user too', async () => {
    const { gate, sessions } = open({ kind: 'local' });
    const bearer = sessions.create(ownerOf('local', 'root'), '');
    await assert.rejects(gate(bearer, origin), { code: 'UNAUTHENTICATED', message: /auth\.idp_url/ });
  });

  it('keeps everybody out who cannot be asked for', async () => {
    const down = async () => {
      throw new QueryError('IDENTITY_PROVIDER_UNAVAILABLE', 'It does not answer.');
    };
    const { gate } = open({ ownerOf: down });
    await assert.rejects(gate('token-of-ada', origin), { code: 'IDENTITY_PROVIDER_UNAVAILABLE' });
  });

  it('keeps no session alive that nobody uses otherwise', async () => {
    const { gate, sessions, clock } = open();
    const bearer = sessions.create(ownerOf('ada', 'root'), '');
    clock.now = 900;
    await gate(bearer, origin);
    clock.now = 1001;
    await assert.rejects(gate(bearer, origin), { code: 'SESSION_EXPIRED' });
  });
});

function ownerOf(username: string, ...roles: readonly string[]): BearerOwner {
  const identity = { username, roles };
  return { identity, tokens: undefined, renew: undefined, issuer: 'static', subject: username };
}

function open(changes: Partial<IdentityProvider> = {}) {
  const clock = { now: 0 };
  const sessions = new SessionStore({
    ...{ idleTimeoutMs: 1000, maxAgeMs: 100_000, maxPerUser: 10, maxTotal: 100, now: () => clock.now },
    defaults: {
      ...{ catalog: 'lake', schema: undefined, timeZone: 'UTC' },
      ...{ queryTimeoutMs: undefined, maxResultBytes: undefined, execution: 'auto' as const },
    },
  });
  const identity: IdentityProvider = {
    kind: 'password',
    signIn: async () => ownerOf('ada'),
    ownerOf: async (bearer) => {
      if (bearer !== 'token-of-ada') throw wrongBearer();
      return ownerOf('ada', 'root');
    },
    ...changes,
  };
  const gate = createAdminGate(createAuthentication(sessions, identity), identity, 'root');
  return { gate, sessions, clock };
}
