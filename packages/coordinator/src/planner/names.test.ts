import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { directoryOf, fakeCatalog } from '../test-support/fake-catalog.js';
import { testSettings } from '../test-support/fake-session.js';
import { namespaceOf, placeOf, schemaName, writtenName } from './names.js';

const catalogs = directoryOf({ lake: fakeCatalog({}), Other: fakeCatalog({}) });

describe('a written table name', () => {
  it('has one to three parts', () => {
    assert.deepEqual(writtenName(['t']), { table: 't' });
    assert.deepEqual(writtenName(['s', 't']), { schema: 's', table: 't' });
    assert.deepEqual(writtenName(['c', 's', 't']), { catalog: 'c', schema: 's', table: 't' });
  });

  it('of any other number of parts is refused as it was written', () => {
    assert.throws(() => writtenName(['a', 'b', 'c', 'd']), {
      code: 'TABLE_NOT_FOUND',
      message: /"a\.b\.c\.d" has 4 parts/,
    });
    assert.throws(() => writtenName([]), { code: 'TABLE_NOT_FOUND' });
  });
});

describe('the place of a table', () => {
  it('is completed by the session', () => {
    const settings = { ...testSettings, schema: 'a.b' };
    assert.deepEqual(placeOf({ table: 't' }, settings, catalogs), {
      catalog: 'lake',
      identifier: { namespace: ['a', 'b'], name: 't' },
    });
    assert.deepEqual(placeOf({ schema: 's', table: 't' }, settings, catalogs).identifier.namespace, ['s']);
  });

  it('has the catalog by its own spelling', () => {
    const place = placeOf({ catalog: 'OTHER', schema: 's', table: 't' }, testSettings, catalogs);
    assert.equal(place.catalog, 'Other');
  });

  it('says what to write when there is no schema', () => {
    assert.throws(() => placeOf({ table: 't' }, testSettings, catalogs), {
      code: 'SCHEMA_NOT_FOUND',
      message: /write schema\.t, or say USE schema first/,
    });
  });

  it('names the catalogs there are when there is no such one', () => {
    assert.throws(() => placeOf({ catalog: 'x', schema: 's', table: 't' }, testSettings, catalogs), {
      code: 'CATALOG_NOT_FOUND',
      message: 'There is no catalog "x"; there is "lake", "Other".',
    });
  });
});

describe('a schema name', () => {
  it('joins the levels of a namespace by dots, and back', () => {
    assert.equal(schemaName(['a', 'b']), 'a.b');
    assert.deepEqual(namespaceOf('a.b'), ['a', 'b']);
  });
});
