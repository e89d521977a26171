import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { fakeClock } from '../test-support/clock.js';
import { testSettings } from '../test-support/fake-session.js';
import type { SignedIn } from './identity-provider.js';
import type { Session } from './session.js';
import { SessionStore } from './session-store.js';

const ada = signedIn('ada');
const bob = signedIn('bob');
const idleTimeoutMs = 1000;
const maxAgeMs = 5000;

describe('a session', () => {
  it('is found by its bearer, which is not kept', () => {
    const { store } = newStore();
    const bearer = store.create(ada, '127.0.0.1');
    const session = found(store, bearer);
    assert.equal(session.identity.username, 'ada');
    assert.equal(session.label, session.key.slice(0, 16));
    assert.equal(JSON.stringify(session).includes(bearer), false);
  });

  it('starts with the default settings, which its changes do not touch', () => {
    const { store } = newStore();
    const session = found(store, store.create(ada, ''));
    session.settings = { ...session.settings, timeZone: 'Asia/Tokyo' };
    assert.deepEqual(found(store, store.create(ada, '')).settings, testSettings);
  });

  it('ends when it was idle too long, and not a millisecond before', () => {
    const { store, clock } = newStore();
    const bearer = store.create(ada, '');
    clock.advance(idleTimeoutMs);
    found(store, bearer);
    clock.advance(idleTimeoutMs + 1);
    assertExpired(() => found(store, bearer));
    assert.equal(store.size, 0);
  });

  it('ends at its greatest age however busy it is', () => {
    const { store, clock } = newStore();
    const bearer = store.create(ada, '');
    for (let spent = 0; spent < maxAgeMs; spent += idleTimeoutMs) {
      clock.advance(idleTimeoutMs);
      found(store, bearer);
    }
    clock.advance(1);
    assertExpired(() => found(store, bearer));
  });

  it('has one answer for unknown, closed and expired bearers', () => {
    const { store, clock } = newStore();
    const closed = store.create(ada, '');
    store.close(found(store, closed));
    const expired = store.create(ada, '');
    clock.advance(idleTimeoutMs + 1);
    const messages = ['garbage', '', closed, expired].map((bearer) =>
      assertExpired(() => found(store, bearer)),
    );
    assert.equal(new Set(messages).size, 1);
  });

  it('aborts its signal with SESSION_EXPIRED and tells each listener, once', () => {
    const { store, ended } = newStore();
    const session = found(store, store.create(ada, ''));
    assert.equal(session.closed.aborted, false);
    store.close(session);
    store.close(session);
    assert.equal(session.closed.aborted, true);
    assert.ok(
      session.closed.reason instanceof QueryError && session.closed.reason.code === 'SESSION_EXPIRED',
    );
    assert.deepEqual(ended, [session.key]);
  });
});

describe('the session store', () => {
  it('gives up the least recently used session of a user who has too many', () => {
    const { store, clock } = newStore({ maxPerUser: 2 });
    const first = store.create(ada, '');
    clock.advance(1);
    const second = store.create(ada, '');
    clock.advance(1);
    found(store, first);
    const third = store.create(ada, '');
    assertExpired(() => found(store, second));
    found(store, first);
    found(store, third);
  });

  it('counts sessions by user: one user cannot end the sessions of another', () => {
    const { store } = newStore({ maxPerUser: 1 });
    const other = store.create(bob, '');
    store.create(ada, '');
    store.create(ada, '');
    assert.equal(store.size, 2);
    found(store, other);
  });

  it('sweeps out expired sessions that nobody asks for', () => {
    const { store, clock, ended } = newStore();
    const session = found(store, store.create(ada, ''));
    clock.advance(idleTimeoutMs);
    const fresh = store.create(bob, '');
    clock.advance(1);
    store.sweep();
    assert.deepEqual(ended, [session.key]);
    assert.equal(session.closed.aborted, true);
    found(store, fresh);
  });

  it('does not take a session for idle whose query runs on and on', () => {
    const { store, clock } = newStore();
    const bearer = store.create(ada, '');
    const active = new Set([found(store, bearer)]);
    for (const _sweep of [1, 2]) {
      clock.advance(idleTimeoutMs + 1);
      store.sweep(active);
    }
    clock.advance(idleTimeoutMs);
    found(store, bearer);
    clock.advance(maxAgeMs);
    store.sweep(active);
    assertExpired(() => found(store, bearer));
  });

  it('ends them all at once', () => {
    const { store, ended } = newStore();
    store.create(ada, '');
    store.create(bob, '');
    store.closeAll();
    assert.equal(store.size, 0);
    assert.equal(ended.length, 2);
  });

  it('is not disturbed by a listener that closes sessions itself', () => {
    const { store, ended } = newStore();
    const sessions = [ada, bob].map((who) => found(store, store.create(who, '')));
    store.onEnd(() => {
      for (const session of sessions) store.close(session);
    });
    store.closeAll();
    assert.deepEqual([...ended].sort(), sessions.map((session) => session.key).sort());
  });
});

function newStore({ maxPerUser = 10 } = {}) {
  const clock = fakeClock();
  const store = new SessionStore({
    idleTimeoutMs,
    maxAgeMs,
    maxPerUser,
    defaults: testSettings,
    now: clock.now,
  });
  const ended: string[] = [];
  store.onEnd((session) => ended.push(session.key));
  return { store, clock, ended };
}

function assertExpired(body: () => unknown): string {
  let message = '';
  assert.throws(body, (error) => {
    assert.ok(error instanceof QueryError);
    assert.equal(error.code, 'SESSION_EXPIRED');
    message = error.message;
    return true;
  });
  return message;
}

function signedIn(username: string): SignedIn {
  return { identity: { username, roles: [] }, tokens: undefined, renew: undefined };
}

/** As authentication does where no other way of telling is left. */
function found(store: SessionStore, bearer: string): Session {
  const session = store.find(bearer);
  if (session === undefined) throw new QueryError('SESSION_LOST', 'session lost, sign in again');
  return session;
}
