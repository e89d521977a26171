import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFileStore, type LoadedTable } from '@svc/lake';
import type { ReadableCatalog } from '../catalogs/catalog-directory.js';
import { emptyMetadata } from '../test-support/empty-metadata.js';
import { directoryOf, fakeCatalog } from '../test-support/fake-catalog.js';
import { testSettings } from '../test-support/fake-session.js';
import { resolveTables } from './resolve-tables.js';

describe('the tables of a statement', () => {
  it('are one when one table is named twice, even with a commit in between', async () => {
    assert.deepEqual(await resolve(['t', 'T'], () => 't'), ['lake.s.t']);
  });

  it('cannot be two that the engine would take for one', async () => {
    await assert.rejects(
      resolve(['t', 'T'], (name) => name),
      { code: 'NOT_SUPPORTED', message: /"T" and "t" differ in case only/ },
    );
  });
});

async function resolve(names: readonly string[], nameOf: (written: string) => string) {
  const tables = await resolveTables({
    requests: names.map((table) => ({ name: { schema: 's', table }, pin: { kind: 'current' } as const })),
    settings: testSettings,
    catalogs: directoryOf({ lake: catalogOf(nameOf) }),
    signal: new AbortController().signal,
  });
  return tables.map(({ catalog, schema, table }) => `${catalog}.${schema}.${table}`);
}

/** Somebody commits after every load. */
function catalogOf(nameOf: (written: string) => string): ReadableCatalog {
  const catalog = fakeCatalog({ s: [] });
  let version = 0;
  return {
    ...catalog,
    async loadTable({ namespace, name }): Promise<LoadedTable> {
      version += 1;
      return {
        identifier: { namespace, name: nameOf(name) },
        metadata: emptyMetadata,
        metadataLocation: `/t/v${version}.metadata.json`,
        store: createFileStore(),
      };
    },
  };
}
