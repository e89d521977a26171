import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { classify } from '@svc/sql';
import { directoryOf, fakeCatalog } from '../test-support/fake-catalog.js';
import { testSettings } from '../test-support/fake-session.js';
import { answerColumn } from '../test-support/read-answer.js';
import { answerShow, isShow } from './show.js';

const never = new AbortController().signal;
const catalogs = directoryOf({
  lake: fakeCatalog({
    sales: ['orders', 'Orders_2', 'order%s', 'a\\b', 'a_b', 'axb'],
    'deep.er': ['t'],
    empty: [],
  }),
  Other: fakeCatalog({ archive: ['old'] }),
});

describe('SHOW', () => {
  it('lists catalogs by name', async () => {
    assert.deepEqual(await show('SHOW CATALOGS'), ['Other', 'lake']);
    assert.deepEqual(await show("SHOW CATALOGS LIKE 'l%'"), ['lake']);
    assert.deepEqual(await show("SHOW DATABASES LIKE 'l%'"), ['lake']);
  });

  it('lists the schemas of the current or the named catalog, levels joined by dots', async () => {
    assert.deepEqual(await show('SHOW SCHEMAS'), ['deep.er', 'empty', 'sales']);
    assert.deepEqual(await show('SHOW SCHEMAS IN other'), ['archive']);
    assert.deepEqual(await show('SHOW SCHEMAS', { catalog: 'Other' }), ['archive']);
  });

  it('lists the tables of the named or the current schema', async () => {
    assert.deepEqual(await show('SHOW TABLES IN other.archive'), ['old']);
    assert.deepEqual(await show('SHOW TABLES IN "deep.er"'), ['t']);
    assert.deepEqual(await show('SHOW TABLES', { schema: 'sales' }), [
      'Orders_2',
      'a\\b',
      'a_b',
      'axb',
      'order%s',
      'orders',
    ]);
  });

  it('says where each table is when no schema was chosen', async () => {
    assert.deepEqual(await show("SHOW TABLES LIKE '%t'"), ['deep.er.t']);
    assert.deepEqual(await show('SHOW TABLES', { catalog: 'Other' }), ['archive.old']);
  });

  it('answers no rows where there are none', async () => {
    assert.deepEqual(await show('SHOW TABLES IN empty'), []);
    assert.deepEqual(await show("SHOW SCHEMAS LIKE ''"), []);
  });

  it('names what does not exist', async () => {
    await assert.rejects(show('SHOW SCHEMAS IN nowhere'), {
      code: 'CATALOG_NOT_FOUND',
      message: 'There is no catalog "nowhere"; there is "lake", "Other".',
    });
    await assert.rejects(show('SHOW TABLES IN nowhere'), { code: 'SCHEMA_NOT_FOUND' });
  });
});

describe('SHOW … LIKE', () => {
  const tables = async (like: string) => await show(`SHOW TABLES IN sales LIKE ${like}`);

  it('matches whole names, one character by _ and any text by %', async () => {
    assert.deepEqual(await tables("'order_'"), ['orders']);
    assert.deepEqual(await tables("'order'"), []);
    assert.deepEqual(await tables("'%o%'"), ['order%s', 'orders']);
  });

  it('takes a backslash as it is when no escape character is given', async () => {
    assert.deepEqual(await tables("'a\\b'"), ['a\\b']);
    assert.deepEqual(await tables("'a\\_b'"), []);
  });

  it('takes the character after the escape character as it is', async () => {
    assert.deepEqual(await tables("'a_b'"), ['a\\b', 'a_b', 'axb']);
    assert.deepEqual(await tables("'a!_b' ESCAPE '!'"), ['a_b']);
    assert.deepEqual(await tables("'a\\_b' ESCAPE '\\'"), ['a_b']);
    assert.deepEqual(await tables("'order!%s' ESCAPE '!'"), ['order%s']);
    assert.deepEqual(await tables("'a!\\b' ESCAPE '!'"), ['a\\b']);
  });
});

async function show(sql: string, settings: Partial<typeof testSettings> = {}) {
  const statement = classify(sql);
  assert.ok(isShow(statement), `${sql} is ${statement.kind}`);
  return answerColumn(await answerShow(statement, { ...testSettings, ...settings }, catalogs, never));
}
