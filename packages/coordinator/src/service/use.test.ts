import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { directoryOf, fakeCatalog } from '../test-support/fake-catalog.js';
import { testSettings } from '../test-support/fake-session.js';
import { use } from './statement-planner.js';

const never = new AbortController().signal;
const catalogs = directoryOf({
  lake: fakeCatalog({ sales: [], other: [], 'a.b': [] }),
  Other: fakeCatalog({ archive: [] }),
});

describe('USE', () => {
  it('takes one name as a schema of the current catalog', async () => {
    assert.deepEqual(placeAfter(await change(['sales'])), ['lake', 'sales']);
    assert.deepEqual(placeAfter(await change(['a.b'])), ['lake', 'a.b']);
  });

  it('takes one name as a catalog when no schema has it', async () => {
    assert.deepEqual(placeAfter(await change(['other'])), ['lake', 'other']);
    assert.deepEqual(placeAfter(await change(['OTHER'])), ['Other', undefined]);
  });

  it('forgets the schema of the catalog that it leaves', async () => {
    const settings = { ...testSettings, schema: 'sales' };
    assert.deepEqual(placeAfter(await use(['Other'], settings, catalogs, never)), ['Other', undefined]);
  });

  it('takes two names as catalog and schema', async () => {
    assert.deepEqual(placeAfter(await change(['other', 'archive'])), ['Other', 'archive']);
  });

  it('keeps everything else, in a new object', async () => {
    const settings = { ...testSettings, timeZone: 'Asia/Tokyo', queryTimeoutMs: 5 };
    const changed = await use(['sales'], settings, catalogs, never);
    assert.deepEqual(changed, { ...settings, schema: 'sales' });
    assert.equal(settings.schema, undefined);
  });

  it('refuses what does not exist, by name', async () => {
    await assert.rejects(change(['nowhere']), {
      code: 'SCHEMA_NOT_FOUND',
      message: 'There is no schema "nowhere" in catalog "lake", and no catalog of that name.',
    });
    await assert.rejects(change(['lake', 'nowhere']), {
      code: 'SCHEMA_NOT_FOUND',
      message: 'There is no schema "nowhere" in catalog "lake".',
    });
    await assert.rejects(change(['nowhere', 'sales']), { code: 'CATALOG_NOT_FOUND' });
  });
});

function change(name: readonly string[]) {
  return use(name, testSettings, catalogs, never);
}

function placeAfter({ catalog, schema }: Awaited<ReturnType<typeof use>>) {
  return [catalog, schema];
}
