import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import type { CallContext, Credentials } from '../backend.js';
import { createFakeBackend } from '../test-support/fake-backend.js';
import { createAuthenticator } from './authenticator.js';

const alice: Credentials = { kind: 'basic', username: 'alice', password: 'secret' };

function contextOf(changes: Partial<CallContext> = {}): CallContext {
  return {
    signal: new AbortController().signal,
    clientAddress: '127.0.0.1',
    headers: new Map(),
    isConfidential: true,
    ...changes,
  };
}

test('Basic on every call keeps one session, also for calls at the same time', async () => {
  const backend = createFakeBackend();
  const { authenticate } = createAuthenticator(backend);
  const calls = await Promise.all([authenticate(alice, contextOf()), authenticate(alice, contextOf())]);
  const later = await authenticate(alice, contextOf());
  assert.equal(backend.record.signIns, 1);
  assert.ok(calls.every(({ session }) => session === later.session));
});

test('a remembered session that has ended is replaced', async () => {
  const backend = createFakeBackend();
  const { authenticate } = createAuthenticator(backend);
  const first = await authenticate(alice, contextOf());
  await backend.closeSession(first.session);
  const second = await authenticate(alice, contextOf());
  assert.notEqual(second.bearer, first.bearer);
});

test('a session is remembered for five minutes', async () => {
  let now = 0;
  const backend = createFakeBackend();
  const { authenticate } = createAuthenticator(backend, () => now);
  await authenticate(alice, contextOf());
  now = 5 * 60_000 + 1;
  await authenticate(alice, contextOf());
  assert.equal(backend.record.signIns, 2);
});

test('what was accepted on a confidential connection is not reused on another', async () => {
  const backend = createFakeBackend();
  const { authenticate } = createAuthenticator(backend);
  await authenticate(alice, contextOf());
  await assert.rejects(authenticate(alice, contextOf({ isConfidential: false })), {
    code: 'INSECURE_TRANSPORT',
  });
});

test('a wrong password is refused each time and not remembered', async () => {
  const backend = createFakeBackend();
  const { authenticate } = createAuthenticator(backend);
  const wrong: Credentials = { ...alice, password: 'wrong' };
  await assert.rejects(authenticate(wrong, contextOf()), { code: 'UNAUTHENTICATED' });
  await assert.rejects(authenticate(wrong, contextOf()), { code: 'UNAUTHENTICATED' });
  assert.equal(backend.sessions.size, 0);
});

test('a wrong password is asked about once for each call, also for calls at the same time', async () => {
  let asked = 0;
  const { authenticate } = createAuthenticator({
    async signIn(): Promise<string> {
      asked += 1;
      throw new QueryError('UNAUTHENTICATED', 'Wrong.');
    },
    session: async () => ({}),
  });
  await Promise.allSettled(Array.from({ length: 20 }, () => authenticate(alice, contextOf())));
  assert.equal(asked, 20);
});

test('a flood of wrong passwords takes no remembered session from its client', async () => {
  const backend = createFakeBackend();
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { authenticate } = createAuthenticator({
    session: backend.session,
    async signIn(credentials, context) {
      if (credentials !== alice) await answered;
      return await backend.signIn(credentials, context);
    },
  });
  const first = await authenticate(alice, contextOf());
  const flood = Array.from({ length: 1500 }, (_none, index) =>
    authenticate({ ...alice, password: `guess ${index}` }, contextOf()),
  );
  assert.equal((await authenticate(alice, contextOf())).bearer, first.bearer);
  answer();
  await Promise.allSettled(flood);
  assert.equal((await authenticate(alice, contextOf())).bearer, first.bearer);
});

test('a session that is refused later is not kept: the password is asked about again', async () => {
  let password = 'secret';
  let isExpired = false;
  const { authenticate } = createAuthenticator({
    async signIn(credentials) {
      if (credentials.kind === 'basic' && credentials.password === password) return 'session';
      throw new QueryError('UNAUTHENTICATED', 'Wrong.');
    },
    async session() {
      if (isExpired) throw new QueryError('SESSION_EXPIRED', 'Expired.');
      return {};
    },
  });
  await authenticate(alice, contextOf());
  isExpired = true;
  password = 'changed';
  await assert.rejects(authenticate(alice, contextOf()), { code: 'UNAUTHENTICATED' });
});

test('a call without credentials is refused', async () => {
  const { authenticate } = createAuthenticator(createFakeBackend());
  await assert.rejects(authenticate(undefined, contextOf()), { code: 'UNAUTHENTICATED' });
});
