import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { QueryError } from '@svc/base';
import { createMetadataFiles } from '../../iceberg/cache/metadata-files.js';
import { sqlOfView, type ViewDefinition, viewDialect } from '../../iceberg/views/view-metadata.js';
import { createFileStore } from '../../storage/file-store.js';
import type { WritableCatalog } from '../writable-catalog.js';
import { createFileSystemCatalog } from './file-system-catalog.js';

const identifier = { namespace: ['sales'], name: 'totals' };
const table = { columns: [{ name: 'a', type: { kind: 'int' } as const }] };
let parent = '';
let root = '';
let catalog: WritableCatalog;

before(async () => {
  parent = await mkdtemp(join(tmpdir(), 'views-'));
});
after(() => rm(parent, { recursive: true, force: true }));
beforeEach(async () => {
  root = await mkdtemp(join(parent, 'root-'));
  catalog = newCatalog();
  await catalog.createNamespace(['sales']);
});

test('makes, lists, loads, replaces and drops a view', async () => {
  await catalog.createView(identifier, view('select 1'));
  assert.deepEqual(await catalog.listViews(['sales']), [identifier]);
  assert.deepEqual(await catalog.listTables(['sales']), []);
  assert.deepEqual(await catalog.listNamespaces(['sales']), []);
  assert.equal(await sqlOf(), 'select 1');
  await catalog.replaceView({ ...identifier, name: 'TOTALS' }, view('select 2'));
  const loaded = await catalog.loadView(identifier);
  assert.equal(sqlOfView(loaded.metadata, viewDialect), 'select 2');
  assert.equal(loaded.metadata.location, join(root, 'sales', 'totals'));
  assert.match(loaded.metadataLocation, /v2\.metadata\.json$/);
  await catalog.dropView(identifier);
  assert.deepEqual(await catalog.listViews(['sales']), []);
  assert.deepEqual(await readdir(join(root, 'sales')), []);
});

test('tables and views share their names', async () => {
  await catalog.createView(identifier, view('select 1'));
  await assert.rejects(catalog.createTable(identifier, table), {
    code: 'ALREADY_EXISTS',
    message: 'View "sales.totals" exists already.',
  });
  await assert.rejects(catalog.loadTable(identifier), {
    code: 'TABLE_NOT_FOUND',
    message: '"sales.totals" is a view, not a table.',
  });
  await assert.rejects(catalog.dropTable(identifier, { purge: true }), { code: 'TABLE_NOT_FOUND' });
  await assert.rejects(catalog.dropNamespace(['sales']), {
    code: 'SCHEMA_NOT_EMPTY',
    message: /view "totals"/,
  });
  const orders = { namespace: ['sales'], name: 'orders' };
  await catalog.createTable(orders, table);
  assert.deepEqual(await catalog.listRelations(['SALES']), [
    { identifier: orders, kind: 'table' },
    { identifier, kind: 'view' },
  ]);
  await assert.rejects(catalog.createView(orders, view('select 1')), { code: 'ALREADY_EXISTS' });
  for (const call of [
    () => catalog.loadView(orders),
    () => catalog.dropView(orders),
    () => catalog.replaceView(orders, view('1')),
  ])
    await assert.rejects(call, {
      code: 'TABLE_NOT_FOUND',
      message: '"sales.orders" is a table, not a view.',
    });
  await assert.rejects(catalog.replaceView({ namespace: ['sales'], name: 'total' }, view('1')), {
    message: 'View "sales.total" does not exist; did you mean "totals"?',
  });
});

test('of a table and views of one name that are made at one time exactly one is made', async () => {
  const attempts = Array.from({ length: 8 }, async (_unused, index) => {
    const own = newCatalog();
    if (index % 2 === 0) await own.createTable(identifier, table);
    else await own.createView(identifier, view('select 1'));
  });
  const results = await Promise.allSettled(attempts);
  const failed = results.filter((result) => result.status === 'rejected');
  assert.equal(failed.length, 7);
  for (const { reason } of failed) assert.equal((reason as QueryError).code, 'ALREADY_EXISTS');
  const [tables, views] = [await catalog.listTables(['sales']), await catalog.listViews(['sales'])];
  assert.equal(tables.length + views.length, 1);
});

test('replacements that meet are all made, one after the other', async () => {
  await catalog.createView(identifier, view('select 0'));
  const replace = (index: number) => newCatalog().replaceView(identifier, view(`select ${index}`));
  await Promise.all(Array.from({ length: 6 }, (_unused, index) => replace(index)));
  const { metadata } = await catalog.loadView(identifier);
  assert.equal(metadata.currentVersion.versionId, 7);
});

function newCatalog(): WritableCatalog {
  return createFileSystemCatalog({
    root,
    store: createFileStore(),
    files: createMetadataFiles(1_000_000),
  });
}

function view(sql: string): ViewDefinition {
  return {
    columns: [{ name: 'n', type: { kind: 'long' } }],
    representations: [{ sql, dialect: viewDialect }],
    defaultCatalog: 'lake',
    defaultNamespace: ['sales'],
  };
}

async function sqlOf(): Promise<string | undefined> {
  return sqlOfView((await catalog.loadView(identifier)).metadata, viewDialect);
}
