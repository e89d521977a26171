import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SessionOptionValue } from '@svc/flight';
import { directoryOf, fakeCatalog } from '../../test-support/fake-catalog.js';
import { fakeSession, testSettings } from '../../test-support/fake-session.js';
import { getSessionOptions, setSessionOptions } from './session-options.js';

const catalogs = directoryOf({ lake: fakeCatalog({ sales: [] }), other: fakeCatalog({ archive: [] }) });
const planner = { sessionDefaults: testSettings, catalogsOf: () => catalogs };

describe('session options', () => {
  it('show the catalog, and the schema once there is one', async () => {
    const session = fakeSession();
    assert.deepEqual([...getSessionOptions(session)], [['catalog', 'lake']]);
    assert.deepEqual(await set(session, { schema: 'sales' }), []);
    assert.deepEqual(
      [...getSessionOptions(session)],
      [
        ['catalog', 'lake'],
        ['schema', 'sales'],
      ],
    );
  });

  it('set the catalog before the schema whatever their order', async () => {
    const session = fakeSession();
    assert.deepEqual(await set(session, { schema: 'archive', catalog: 'other' }), []);
    assert.deepEqual([session.settings.catalog, session.settings.schema], ['other', 'archive']);
  });

  it('forget the schema with its catalog', async () => {
    const session = fakeSession({ schema: 'sales' });
    await set(session, { catalog: 'lake' });
    assert.equal(session.settings.schema, 'sales');
    await set(session, { catalog: 'other' });
    assert.equal(session.settings.schema, undefined);
  });

  it('go back to the defaults when they are cleared', async () => {
    const session = fakeSession({ catalog: 'other', schema: 'archive' });
    assert.deepEqual(await set(session, { schema: undefined }), []);
    assert.equal(session.settings.schema, undefined);
    assert.deepEqual(await set(session, { catalog: '' }), []);
    assert.equal(session.settings.catalog, 'lake');
  });

  it('refuse other names and values that are not right, and change nothing then', async () => {
    const session = fakeSession({ schema: 'sales' });
    const before = session.settings;
    assert.deepEqual(await set(session, { catalog: 'nowhere', schema: 'none', memory: '1' }), [
      ['catalog', 'invalid-value'],
      ['memory', 'invalid-name'],
      ['schema', 'invalid-value'],
    ]);
    for (const value of [true, 5n, 1.5, ['sales']]) {
      assert.deepEqual(await set(session, { schema: value }), [['schema', 'invalid-value']]);
    }
    assert.equal(session.settings, before);
  });
});

async function set(
  session: ReturnType<typeof fakeSession>,
  options: Readonly<Record<string, SessionOptionValue | undefined>>,
) {
  return [...(await setSessionOptions(session, new Map(Object.entries(options)), planner))];
}
