import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Session } from '../identity/session.js';
import { fakeClock } from '../test-support/clock.js';
import { recordingCatalogs, sessionOf, tokensOf } from '../test-support/recording-catalogs.js';
import { createCatalogContexts } from './catalog-contexts.js';

const t = { namespace: ['s'], name: 't' };
const v = { namespace: ['s'], name: 'v' };
const change = { requirements: [], updates: [] };
const ttlMs = 3_600_000;

describe('the catalogs of a session', () => {
  it('answer what they told before, until the time is over', async () => {
    const { reads, catalogs, clock } = newContexts();
    const ada = sessionOf('ada');
    for (const _time of [1, 2]) await readAll(reads(ada));
    assert.equal(catalogs.calls.length, 5);
    catalogs.tables.set('t', '/t/v2');
    assert.equal((await reads(ada).loadTable(t)).metadataLocation, '/t/v1');
    clock.advance(ttlMs);
    assert.equal((await reads(ada).loadTable(t)).metadataLocation, '/t/v2');
  });

  for (const [what, options] of [
    ['a lifetime of 0', { ttlMs: 0 }],
    ['no memory for it', { maxBytes: 0 }],
  ] as const)
    it(`are asked each time with ${what}`, async () => {
      const { reads, catalogs } = newContexts(options);
      for (const _time of [1, 2]) await readAll(reads(sessionOf('ada')));
      assert.equal(catalogs.calls.length, 10);
    });

  it('never answer one user what another was told, nor one token what another was', async () => {
    const { reads, catalogs } = newContexts();
    for (const session of [
      sessionOf('ada', 'token of 12345678'),
      sessionOf('bob', 'token of 12345678'),
      sessionOf('ada', 'another 12345678'),
      sessionOf('ada', 'token of 12345678'),
    ])
      await reads(session).loadTable(t);
    assert.deepEqual(catalogs.calls, [
      'ada:token of 12345678 loadTable t',
      'bob:token of 12345678 loadTable t',
      'ada:another 12345678 loadTable t',
      'ada:token of 12345678 loadTable t',
    ]);
  });

  it('are asked with the new token after a renewal, and nothing of before is answered', async () => {
    const { reads, catalogs } = newContexts();
    const ada = sessionOf('ada', 'old');
    await reads(ada).loadTable(t);
    ada.tokens = tokensOf('new');
    await reads(ada).loadTable(t);
    assert.deepEqual(catalogs.calls, ['ada:old loadTable t', 'ada:new loadTable t']);
  });

  it('answer nothing once the session has expired or ended, not even what they told before', async () => {
    const { reads, contexts } = newContexts();
    const [expired, ended] = [sessionOf('ada', 'one'), sessionOf('ada', 'two')];
    for (const session of [expired, ended]) await readAll(reads(session));
    expired.isExpired = true;
    ended.end();
    contexts.endSession(ended);
    for (const session of [expired, ended])
      for (const read of [() => reads(session).loadTable(t), () => reads(session).listRelations(['s'])])
        await assert.rejects(read(), { code: 'SESSION_EXPIRED' });
  });

  it('are asked again for what was not there', async () => {
    const { reads, catalogs } = newContexts();
    const ada = reads(sessionOf('ada'));
    const late = { namespace: ['s'], name: 'late' };
    await assert.rejects(ada.loadTable(late), { code: 'TABLE_NOT_FOUND' });
    await assert.rejects(ada.loadView(late), { code: 'TABLE_NOT_FOUND' });
    assert.equal(await ada.namespaceExists(['elsewhere']), false);
    catalogs.tables.set('late', '/late/v1');
    assert.equal((await ada.loadTable(late)).metadataLocation, '/late/v1');
    assert.equal(await ada.namespaceExists(['elsewhere']), false);
    assert.equal(catalogs.calls.filter((call) => call.includes('elsewhere')).length, 2);
  });

  it('are not asked whether a view that they told of is a table', async () => {
    const { reads, catalogs } = newContexts();
    const ada = reads(sessionOf('ada'));
    for (const _time of [1, 2]) {
      await assert.rejects(ada.loadTable(v), { code: 'TABLE_NOT_FOUND' });
      await ada.loadView(v);
    }
    assert.deepEqual(catalogs.calls, ['ada:- loadTable v', 'ada:- loadView v']);
  });

  it('narrow a listing that they told before to the wanted names', async () => {
    const { reads, catalogs } = newContexts();
    catalogs.tables.set('u', '/u');
    const ada = reads(sessionOf('ada'));
    const names = async (isWanted?: (name: string) => boolean) =>
      (await ada.listRelations(['s'], isWanted && { isWanted })).map(({ identifier }) => identifier.name);
    assert.deepEqual(await names((name) => name === 'u'), ['u']);
    assert.deepEqual(await names(), ['t', 'u']);
    assert.equal(catalogs.calls.length, 1);
  });
});

describe('a change', () => {
  it('is seen at once by everybody who was told the old', async () => {
    const { reads, writes } = newContexts();
    const [ada, bob] = [sessionOf('ada', 'a'), sessionOf('bob', 'b')];
    for (const session of [ada, bob]) await readAll(reads(session));
    await writes(bob).commitTable(t, change);
    for (const session of [ada, bob])
      assert.equal((await reads(session).loadTable(t)).metadataLocation, "/t/v1'");
    await writes(ada).dropTable(t, { purge: false });
    await assert.rejects(reads(bob).loadTable(t), { code: 'TABLE_NOT_FOUND' });
    assert.deepEqual(await reads(bob).listRelations(['s']), []);
  });

  it('of a schema is seen at once', async () => {
    const { reads, writes, catalogs } = newContexts();
    const [ada, bob] = [sessionOf('ada'), sessionOf('bob')];
    await reads(ada).listNamespaces([]);
    await writes(bob).createNamespace(['new']);
    await reads(ada).listNamespaces([]);
    assert.equal(catalogs.calls.filter((call) => call === 'ada:- listNamespaces').length, 2);
  });

  it('begins from what the catalog says now', async () => {
    const { reads, writes, catalogs } = newContexts();
    const ada = sessionOf('ada');
    await reads(ada).loadTable(t);
    catalogs.tables.set('t', '/t/v2');
    const found = await writes(ada).inTurn(t, () => writes(ada).loadTable(t));
    assert.equal(found.metadataLocation, '/t/v2');
  });

  it('that failed has its table asked for again', async () => {
    const { reads, writes, catalogs } = newContexts();
    const ada = sessionOf('ada');
    await reads(ada).loadTable(t);
    catalogs.tables.set('t', 'conflict');
    await assert.rejects(writes(ada).commitTable(t, change), { code: 'COMMIT_CONFLICT' });
    assert.equal((await reads(ada).loadTable(t)).metadataLocation, 'conflict');
  });

  it('that was not finished is cleaned up after the end of its session, and none begins then', async () => {
    const { writes, contexts, catalogs } = newContexts();
    const ada = sessionOf('ada');
    const catalog = writes(ada);
    const staged = await catalog.stageTable(t, { columns: [] });
    ada.end();
    contexts.endSession(ada);
    await catalog.discardTable(staged);
    assert.equal(catalogs.calls.at(-1), 'discardTable t');
    await assert.rejects(catalog.commitTable(t, change), { code: 'SESSION_EXPIRED' });
  });
});

describe('refreshing', () => {
  it('has the catalogs of one user asked anew, in all sessions of that user', async () => {
    const { reads, contexts, asked } = newContexts();
    const sessions = [sessionOf('ada', 'one'), sessionOf('ada', 'two'), sessionOf('bob', 'three')];
    for (const session of sessions) await reads(session).loadTable(t);
    contexts.refresh('ada');
    assert.deepEqual(await asked(sessions), ['ada:one', 'ada:two']);
    contexts.refresh('nobody');
    assert.deepEqual(await asked(sessions), []);
  });

  it('has the catalogs of all users asked anew', async () => {
    const { reads, contexts, asked } = newContexts();
    const sessions = [sessionOf('ada'), sessionOf('bob')];
    for (const session of sessions) await reads(session).loadTable(t);
    contexts.refresh();
    assert.deepEqual(await asked(sessions), ['ada:-', 'bob:-']);
  });
});

function newContexts(options: { readonly ttlMs?: number; readonly maxBytes?: number } = {}) {
  const clock = fakeClock();
  const catalogs = recordingCatalogs();
  const factories = new Map([['lake', catalogs]]);
  const contexts = createCatalogContexts({ factories, ttlMs, maxBytes: 1e6, now: clock.now, ...options });
  const reads = (session: Session) => contexts.catalogsOf(session).get('lake').catalog;
  const writes = (session: Session) => contexts.catalogsToChange(session).get('lake').catalog;
  /** Loads the table for each; whom the catalog was asked for. */
  const asked = async (sessions: readonly Session[]) => {
    const before = catalogs.calls.length;
    for (const session of sessions) await reads(session).loadTable(t);
    return catalogs.calls.slice(before).map((call) => call.split(' ')[0]);
  };
  return { contexts, catalogs, clock, reads, writes, asked };
}

async function readAll(catalog: ReturnType<ReturnType<typeof newContexts>['reads']>): Promise<void> {
  await catalog.listNamespaces([]);
  await catalog.namespaceExists(['s']);
  await catalog.listRelations(['s']);
  await catalog.loadTable(t);
  await catalog.loadView(v);
}
