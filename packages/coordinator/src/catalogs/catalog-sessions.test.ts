import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Session } from '../identity/session.js';
import { recordingCatalogs, sessionOf, tokensOf } from '../test-support/recording-catalogs.js';
import { CatalogSessions } from './catalog-sessions.js';

describe('a catalog session (spec 3.2, and 8: the last 8 characters of the token)', () => {
  it('is one for all sessions of a user with the same token, and for those without any', () => {
    const { sessions, catalogs } = newSessions();
    const first = sessions.of(sessionOf('ada', 'token-12345678'), 'lake');
    assert.equal(sessions.of(sessionOf('ada', 'token-12345678'), 'lake'), first);
    const without = sessions.of(sessionOf('ada'), 'lake');
    assert.equal(sessions.of(sessionOf('ada'), 'lake'), without);
    assert.notEqual(without, first);
    assert.equal(catalogs.callers.length, 2);
  });

  it('is never shared by two users, whatever their tokens, nor by two catalogs', () => {
    const { sessions } = newSessions();
    const all = [
      sessions.of(sessionOf('ada', 'token-12345678'), 'lake'),
      sessions.of(sessionOf('bob', 'token-12345678'), 'lake'),
      sessions.of(sessionOf('bob', 'token-12345678'), 'second'),
      sessions.of(sessionOf('bob'), 'lake'),
      sessions.of(sessionOf('ada'), 'lake'),
    ];
    assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
  });

  it('is never shared by two tokens that end in the same 8 characters', async () => {
    const { sessions, catalogs, ended } = newSessions();
    const mine = sessionOf('ada', 'mine-12345678');
    const theirs = sessionOf('ada', 'theirs-12345678');
    const first = sessions.of(mine, 'lake');
    const second = sessions.of(theirs, 'lake');
    assert.notEqual(second.id, first.id);
    assert.deepEqual(ended, [first.id]);
    await sessions.of(mine, 'lake').use((catalog) => catalog.listNamespaces([]));
    await sessions.of(theirs, 'lake').use((catalog) => catalog.listNamespaces([]));
    assert.deepEqual(catalogs.calls, [
      'ada:mine-12345678 listNamespaces',
      'ada:theirs-12345678 listNamespaces',
    ]);
  });

  it('follows a renewal at the next call, and the old one ends when nobody else has its token', () => {
    const { sessions, ended, catalogs } = newSessions();
    const [one, other] = [sessionOf('ada', 'old-token'), sessionOf('ada', 'old-token')];
    const old = sessions.of(one, 'lake');
    sessions.of(other, 'lake');
    renew(one, 'new-token');
    assert.notEqual(sessions.of(one, 'lake').id, old.id);
    assert.deepEqual(ended, []);
    renew(other, 'new-token');
    assert.equal(sessions.of(other, 'lake'), sessions.of(one, 'lake'));
    assert.deepEqual(ended, [old.id]);
    assert.deepEqual(catalogs.closed, catalogs.callers.slice(0, 1));
  });

  it('ends with the last session that uses it', () => {
    const { sessions, ended, catalogs } = newSessions();
    const [one, other] = [sessionOf('ada', 'token'), sessionOf('ada', 'token')];
    const { id } = sessions.of(one, 'lake');
    sessions.of(other, 'lake');
    sessions.leave(one);
    assert.deepEqual(ended, []);
    sessions.leave(other);
    sessions.leave(other);
    assert.deepEqual([ended, catalogs.closed.length, sessions.size], [[id], 1, 0]);
  });

  it('is closed when its last call has ended, and once', async () => {
    const { sessions, catalogs } = newSessions();
    const session = sessionOf('ada', 'token');
    let finish = () => {};
    catalogs.pause = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    const call = sessions.of(session, 'lake').use((catalog) => catalog.listNamespaces([]));
    sessions.leave(session);
    assert.equal(catalogs.closed.length, 0);
    finish();
    await call;
    assert.equal(catalogs.closed.length, 1);
  });

  it('is refused to a session that is over or could not be renewed', () => {
    const { sessions, ended } = newSessions();
    const [closed, expired] = [sessionOf('ada', 'one'), sessionOf('ada', 'two')];
    for (const session of [closed, expired]) sessions.of(session, 'lake');
    closed.end();
    expired.isExpired = true;
    for (const session of [closed, expired])
      assert.throws(() => sessions.of(session, 'lake'), { code: 'SESSION_EXPIRED' });
    assert.equal(ended.length, 2);
  });

  it('is one of a bounded number: the least recently used ends, and is opened anew when it is needed', () => {
    const { sessions, catalogs } = newSessions({ maxOpen: 2 });
    const all = ['a', 'b', 'c'].map((username) => sessionOf(username));
    for (const session of [...all, ...all]) sessions.of(session, 'lake');
    assert.deepEqual([sessions.size, catalogs.callers.length, catalogs.closed.length], [2, 6, 4]);
  });

  it('is found by the exact name of its user', () => {
    const { sessions } = newSessions();
    const ids = ['ada', 'ada', 'Ada', ''].map(
      (username, index) => sessions.of(sessionOf(username, `token ${index}`), 'lake').id,
    );
    assert.deepEqual(new Set(sessions.ofUser('ada')), new Set(ids.slice(0, 2)));
    assert.deepEqual(sessions.ofUser(''), ids.slice(3));
  });
});

describe('the token that a catalog is given', () => {
  it('is a fresh one for a query that began before a renewal', () => {
    const { sessions, catalogs } = newSessions();
    const session = sessionOf('ada', 'old-token');
    sessions.of(session, 'lake');
    renew(session, 'new-token');
    sessions.of(session, 'lake');
    assert.deepEqual(tokensGiven(catalogs), ['new-token', 'new-token']);
  });

  it('is the one of those who still have it, before a fresh one of somebody else', () => {
    const { sessions, catalogs } = newSessions();
    const [one, other] = [sessionOf('ada', 'old-token'), sessionOf('ada', 'old-token')];
    for (const session of [one, other]) sessions.of(session, 'lake');
    renew(one, 'new-token');
    assert.deepEqual(tokensGiven(catalogs), ['old-token']);
    other.end();
    assert.deepEqual(tokensGiven(catalogs), ['new-token']);
  });

  it('is none once all who used it have expired or ended', () => {
    const { sessions, catalogs } = newSessions();
    const [one, other] = [sessionOf('ada', 'token'), sessionOf('ada', 'token')];
    for (const session of [one, other]) sessions.of(session, 'lake');
    one.isExpired = true;
    assert.deepEqual(tokensGiven(catalogs), ['token']);
    other.end();
    assert.throws(() => tokensGiven(catalogs), { code: 'SESSION_EXPIRED' });
  });
});

function newSessions({ maxOpen = 100 } = {}) {
  const catalogs = recordingCatalogs();
  const ended: number[] = [];
  const factories = new Map([
    ['lake', catalogs],
    ['second', catalogs],
  ]);
  const sessions = new CatalogSessions({ factories, maxOpen, onEnd: (id) => ended.push(id) });
  return { sessions, catalogs, ended };
}

function renew(session: Session, token: string): void {
  session.tokens = tokensOf(token);
}

function tokensGiven({ callers }: ReturnType<typeof recordingCatalogs>): readonly (string | undefined)[] {
  return callers.map((caller) => caller.accessToken());
}
