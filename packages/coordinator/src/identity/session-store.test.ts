import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { type FakeClock, fakeClock } from '../test-support/clock.js';
import { testSettings } from '../test-support/fake-session.js';
import { newBearer } from './bearer.js';
import type { BearerOwner, SignedIn } from './identity-provider.js';
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

  it('that was closed is lost, as one that never was', () => {
    const { store } = newStore();
    const closed = store.create(ada, '');
    store.close(found(store, closed));
    for (const bearer of [closed, newBearer(), 'garbage', '']) assert.equal(store.find(bearer), undefined);
  });

  it('that was idle or too old stays expired after the sweep took it', () => {
    const { store, clock } = newStore();
    const idle = store.create(ada, '');
    clock.advance(idleTimeoutMs + 1);
    store.sweep();
    assert.equal(store.size, 0);
    for (const _again of [1, 2]) assertExpired(() => store.find(idle));
  });

  it('aborts its signal and tells each listener, once', () => {
    const { store, ended } = newStore();
    const session = found(store, store.create(ada, ''));
    assert.equal(session.closed.aborted, false);
    store.close(session);
    store.close(session);
    assert.equal(reasonOf(session), 'SESSION_LOST');
    assert.deepEqual(ended, [session.key]);
  });
});

describe('a session whose tokens could not be renewed', () => {
  it('refuses the next call, and lives until its last query has ended', () => {
    const { store } = newStore();
    const bearer = store.create(ada, '');
    const session = found(store, bearer);
    session.isExpired = true;
    assertExpired(() => store.find(bearer));
    store.sweep(new Set([session]));
    assert.equal(session.closed.aborted, false);
    store.sweep();
    assert.equal(reasonOf(session), 'SESSION_EXPIRED');
    assertExpired(() => store.find(bearer));
  });

  it('is none that is open', () => {
    const { store } = newStore();
    found(store, store.create(ada, '')).isExpired = true;
    store.create(ada, '');
    assert.deepEqual([store.size, store.openCount()], [2, 1]);
  });
});

describe('the session of an access token', () => {
  const token = 'header.payload.signature';

  it('is one for each issuer, subject and token', () => {
    const { store, clock } = newStore();
    const session = store.adopt(token, ownerOf(clock, 100), '');
    assert.equal(store.adopt(token, ownerOf(clock, 100), ''), session);
    assert.equal(found(store, token), session);
    assert.notEqual(store.adopt(`${token}2`, ownerOf(clock, 100), '').key, session.key);
    assert.equal(session.key.includes(session.label), false);
  });

  it('ends with the token, and not a millisecond before', () => {
    const { store, clock } = newStore();
    const owner = ownerOf(clock, 100);
    const session = store.adopt(token, owner, '');
    clock.advance(99);
    found(store, token);
    clock.advance(1);
    assertExpired(() => store.find(token));
    assertExpired(() => store.adopt(token, owner, ''));
    store.sweep();
    assert.deepEqual([store.size, reasonOf(session)], [0, 'SESSION_EXPIRED']);
    assertExpired(() => store.find(token));
  });

  it('does not begin with a token that has expired', () => {
    const { store, clock } = newStore();
    assertExpired(() => store.adopt(token, ownerOf(clock, 0), ''));
    assert.equal(store.size, 0);
  });

  it('may begin again with a valid token after it was closed, idle, or had to give way', () => {
    const { store, clock } = newStore({ maxPerUser: 1 });
    const owner = ownerOf(clock, 100_000);
    store.close(store.adopt(token, owner, ''));
    store.adopt(token, owner, '');
    clock.advance(idleTimeoutMs + 1);
    assert.equal(store.find(token), undefined);
    store.adopt(token, owner, '');
    store.create(ada, '');
    assert.equal(store.find(token), undefined);
    store.adopt(token, owner, '');
  });

  it('counts for the cap of its user', () => {
    const { store, clock } = newStore({ maxPerUser: 3 });
    for (let count = 0; count < 10; count += 1) store.adopt(`${token}${count}`, ownerOf(clock, 100), '');
    assert.equal(store.size, 3);
    found(store, `${token}9`);
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

  it('refuses further sessions when it is full, but not in place of one', () => {
    const { store } = newStore({ maxPerUser: 2, maxTotal: 3 });
    const [first] = [ada, ada, bob].map((who) => store.create(who, ''));
    assert.throws(() => store.create(signedIn('eve'), ''), {
      code: 'TOO_MANY_SESSIONS',
      message: /session\.max_total/,
    });
    store.create(ada, '');
    assertExpired(() => store.find(first ?? ''));
    assert.equal(store.size, 3);
  });

  it('remembers a bounded number of those that expired', () => {
    const { store, clock } = newStore({ maxTotal: 2 });
    const bearers = [ada, bob, ada, bob].map((who) => {
      const bearer = store.create(who, '');
      clock.advance(idleTimeoutMs + 1);
      store.sweep();
      return bearer;
    });
    const [first = '', second = '', third = '', fourth = ''] = bearers;
    for (const forgotten of [first, second]) assert.equal(store.find(forgotten), undefined);
    for (const kept of [third, fourth]) assertExpired(() => store.find(kept));
  });

  it('does not lose or resurrect a session when the clock is set', () => {
    const { store, clock } = newStore();
    const bearer = store.create(ada, '');
    clock.advance(-1_000_000);
    store.sweep();
    found(store, bearer);
    clock.advance(2_000_000);
    assertExpired(() => store.find(bearer));
    clock.advance(-2_000_000);
    assertExpired(() => store.find(bearer));
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

function newStore({ maxPerUser = 10, maxTotal = 100 } = {}) {
  const clock = fakeClock();
  const store = new SessionStore({
    idleTimeoutMs,
    maxAgeMs,
    maxPerUser,
    maxTotal,
    defaults: testSettings,
    now: clock.now,
  });
  const ended: string[] = [];
  store.onEnd((session) => ended.push(session.key));
  return { store, clock, ended };
}

function assertExpired(body: () => unknown): void {
  assert.throws(body, { code: 'SESSION_EXPIRED', message: 'session expired, sign in again' });
}

function reasonOf({ closed }: Session): string | undefined {
  return closed.reason instanceof QueryError ? closed.reason.code : undefined;
}

/** As of an access token of ada's with so long to live. */
function ownerOf(clock: FakeClock, lifeMs: number): BearerOwner {
  const tokens = { accessToken: 'secret', refreshToken: undefined, expiresAtMs: clock.now() + lifeMs };
  return { ...ada, issuer: 'https://idp.test', subject: '1', tokens };
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
