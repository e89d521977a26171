import assert from 'node:assert/strict';
import { it } from 'node:test';
import { directoryOf, fakeCatalog } from '../test-support/fake-catalog.js';

it('a catalog is found by its exact name first, then by one that differs in case only', () => {
  const lower = fakeCatalog({});
  const upper = fakeCatalog({});
  const catalogs = directoryOf({ LAKE: upper, lake: lower });
  assert.equal(catalogs.get('lake').catalog, lower);
  assert.equal(catalogs.get('LAKE').catalog, upper);
  assert.deepEqual(catalogs.get('Lake').name, 'LAKE');
});
