import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { QueryError } from '@svc/base';
import { createMetadataFiles } from '../../iceberg/cache/metadata-files.js';
import { plainFile } from '../../iceberg/testing/table-fixture.js';
import { createAppend } from '../../iceberg/write/append-files.js';
import type { TableDefinition } from '../../iceberg/write/create-table.js';
import { createFileStore } from '../../storage/file-store.js';
import type { ObjectStore } from '../../storage/object-store.js';
import type { LoadedTable } from '../catalog.js';
import { commitWithRetry } from '../commit-with-retry.js';
import type { WritableCatalog } from '../writable-catalog.js';
import { createFileSystemCatalog } from './file-system-catalog.js';

const definition: TableDefinition = { columns: [{ name: 'a', type: { kind: 'int' } }] };
const orders = { namespace: ['sales'], name: 'orders' };
let parent = '';
let root = '';
let catalog: WritableCatalog;

before(async () => {
  parent = await mkdtemp(join(tmpdir(), 'change-tables-'));
});
after(() => rm(parent, { recursive: true, force: true }));
beforeEach(async () => {
  root = join(await mkdtemp(join(parent, 'root-')), 'not made yet');
  catalog = catalogOver(createFileStore());
});

test('makes schemas, one in the other, and drops them when they are empty', async () => {
  await catalog.createNamespace(['a']);
  await catalog.createNamespace(['a', 'b/c']);
  assert.deepEqual(await catalog.listNamespaces(['a']), [['a', 'b/c']]);
  await assert.rejects(catalog.createNamespace(['A']), { code: 'ALREADY_EXISTS' });
  await assert.rejects(catalog.createNamespace(['x', 'y']), { code: 'SCHEMA_NOT_FOUND' });
  await assert.rejects(catalog.createNamespace(['']), { code: 'INVALID_ARGUMENT' });
  await assert.rejects(catalog.createNamespace([]), { code: 'INVALID_ARGUMENT' });
  await assert.rejects(catalog.dropNamespace(['a']), { code: 'SCHEMA_NOT_EMPTY', message: /schema "b\/c"/ });
  await catalog.dropNamespace(['a', 'b/c']);
  await catalog.dropNamespace(['a']);
  assert.deepEqual(await readdir(root), []);
  await assert.rejects(catalog.dropNamespace(['a']), { code: 'SCHEMA_NOT_FOUND' });
});

test('a table that is made in a schema while it is dropped stays, and so does the schema', async () => {
  await catalog.createNamespace(['sales']);
  const store = createFileStore();
  let lists = 0;
  const racing = catalogOver({
    ...store,
    async list(folder, options) {
      const entries = await store.list(folder, options);
      // The look before the folder is renamed away has just found nothing.
      if (folder.endsWith('sales') && lists++ === 0) await catalog.createTable(orders, definition);
      return entries;
    },
  });
  await assert.rejects(racing.dropNamespace(['sales']), { code: 'SCHEMA_NOT_EMPTY', message: /"orders"/ });
  assert.equal((await catalog.loadTable(orders)).metadata.schemas.length, 1);
  assert.deepEqual(await readdir(root), ['sales']);
});

test('makes a table that is there for every catalog over the folder', async () => {
  await catalog.createNamespace(['sales']);
  const made = await catalog.createTable(orders, definition);
  const other = await catalogOver(createFileStore()).loadTable(orders);
  assert.equal(printed(other), printed(made));
  assert.equal(other.metadata.location, join(root, 'sales', 'orders'));
  assert.equal(await readFile(`${made.metadata.location}/metadata/version-hint.text`, 'utf8'), '1');
  assert.deepEqual((await readdir(made.metadata.location)).sort(), ['data', 'metadata']);
  await assert.rejects(catalog.dropNamespace(['sales']), {
    code: 'SCHEMA_NOT_EMPTY',
    message: /table "orders"/,
  });
  for (const name of ['orders', 'ORDERS'])
    await assert.rejects(catalog.createTable({ ...orders, name }, definition), {
      code: 'ALREADY_EXISTS',
      message: `Table "sales.${name}" exists already.`,
    });
  await assert.rejects(catalog.createTable({ namespace: ['nope'], name: 'x' }, definition), {
    code: 'SCHEMA_NOT_FOUND',
  });
  await assert.rejects(catalog.createTable({ ...orders, name: 'x'.repeat(1000) }, definition), {
    code: 'INVALID_ARGUMENT',
  });
});

test('a failed definition leaves nothing', async () => {
  await catalog.createNamespace(['sales']);
  await assert.rejects(catalog.createTable(orders, { columns: [] }), { code: 'INVALID_ARGUMENT' });
  assert.deepEqual(await readdir(join(root, 'sales')), []);
});

test('of many that make one table exactly one succeeds', async () => {
  await catalog.createNamespace(['sales']);
  const attempts = Array.from({ length: 8 }, () =>
    catalogOver(createFileStore()).createTable(orders, definition),
  );
  const results = await Promise.allSettled(attempts);
  const made = results.filter((result) => result.status === 'fulfilled');
  const failed = results.filter((result) => result.status === 'rejected');
  assert.equal(made.length, 1);
  for (const { reason } of failed) assert.equal((reason as QueryError).code, 'ALREADY_EXISTS');
  assert.equal(printed(await catalog.loadTable(orders)), printed(made[0]?.value));
});

test('a staged table is neither schema nor table before it is committed, and can be given up', async () => {
  await catalog.createNamespace(['sales']);
  const staged = await catalog.stageTable(orders, definition);
  assert.deepEqual(await catalog.listTables(['sales']), []);
  assert.deepEqual(await catalog.listNamespaces(['sales']), []);
  await assert.rejects(catalog.loadTable(orders), { code: 'TABLE_NOT_FOUND' });
  await assert.rejects(catalog.dropNamespace(['sales']), { code: 'SCHEMA_NOT_EMPTY' });
  const file = `${staged.metadata.location}/data/a.parquet`;
  await writeFile(file, 'rows');
  await catalog.discardTable(staged);
  assert.equal(await readFile(file, 'utf8'), 'rows', 'whoever wrote it may still need it');
  await rm(file);
  await catalog.discardTable(staged);
  assert.deepEqual(await readdir(join(root, 'sales')), []);
  await catalog.dropNamespace(['sales']);
});

test('what a killed process left of a table is removed when its name is used again, and what others write is not', async () => {
  await catalog.createNamespace(['sales']);
  const staged = await catalog.stageTable(orders, definition);
  const { location } = staged.metadata;
  const { pid } = spawnSync(process.execPath, ['--version']);
  const leftover = `${location}/data/leftover.parquet`;
  await writeFile(leftover, 'rows of a process that was killed');
  const other = await catalog.stageTable(orders, definition);
  assert.equal(await readFile(leftover, 'utf8'), 'rows of a process that was killed');
  await writeFile(`${location}/.staged`, `${pid} ${hostname()} ${staged.metadata.tableUuid}\n`);
  const { updates } = await appendOf(other, ['a.parquet']).prepare(other);
  const again = await catalog.stageTable(orders, definition);
  assert.deepEqual(await readdir(`${location}/data`), []);
  assert.deepEqual(await readdir(join(root, 'sales')), ['orders']);
  const overtaken = { ...other.creation, updates: [...other.creation.updates, ...updates] };
  await assert.rejects(catalog.commitTable(orders, overtaken), { code: 'COMMIT_CONFLICT' });
  await catalog.commitTable(orders, again.creation);
  assert.equal((await catalog.loadTable(orders)).metadata.tableUuid, again.metadata.tableUuid);
});

test('a schema in which only killed processes made tables is empty', async () => {
  await catalog.createNamespace(['sales']);
  const staged = await catalog.stageTable(orders, definition);
  const { pid } = spawnSync(process.execPath, ['--version']);
  await writeFile(
    `${staged.metadata.location}/.staged`,
    `${pid} ${hostname()} ${staged.metadata.tableUuid}\n`,
  );
  await catalog.dropNamespace(['sales']);
  assert.deepEqual(await readdir(root), []);
});

test('a table can be made with its first rows, all at once', async () => {
  await catalog.createNamespace(['sales']);
  const staged = await catalog.stageTable(orders, definition);
  const location = `${staged.metadata.location}/data/a.parquet`;
  const append = appendOf(staged, [location]);
  const { updates } = await append.prepare(staged);
  const commit = { ...staged.creation, updates: [...staged.creation.updates, ...updates] };
  const made = await catalog.commitTable(orders, commit);
  await append.cleanUp(made.metadata);
  const loaded = await catalog.loadTable(orders);
  assert.equal(loaded.metadata.currentSnapshotId, append.snapshotId);
  assert.equal(loaded.metadata.snapshots[0]?.summary.get('total-records'), '10');
  assert.ok(
    loaded.metadata.snapshots[0]?.manifestList?.startsWith(join(root, 'sales', 'orders', 'metadata')),
  );
  await catalog.discardTable(staged);
  assert.equal(printed(await catalog.loadTable(orders)), printed(loaded), 'a table is not given up');
});

test('a table whose folder was removed meanwhile is not made of what is left', async () => {
  await catalog.createNamespace(['sales']);
  const staged = await catalog.stageTable(orders, definition);
  const { updates } = await appendOf(staged, ['a.parquet']).prepare(staged);
  await rm(staged.metadata.location, { recursive: true });
  const commit = { ...staged.creation, updates: [...staged.creation.updates, ...updates] };
  await assert.rejects(catalog.commitTable(orders, commit), { code: 'COMMIT_CONFLICT', retryable: false });
});

test('commits one version after the other, with a log of the files before', async () => {
  await makeOrders({ 'write.metadata.previous-versions-max': '2' });
  for (const value of ['1', '2', '3'])
    await catalog.commitTable(orders, { requirements: [], updates: [setProperty('x', value)] });
  const { metadata, metadataLocation } = await catalog.loadTable(orders);
  assert.equal(metadata.properties.get('x'), '3');
  assert.match(metadataLocation, /\/v4\.metadata\.json$/);
  assert.deepEqual(
    metadata.metadataLog.map((entry) => entry.metadataFile.replace(/.*\//, '')),
    ['v2.metadata.json', 'v3.metadata.json'],
  );
  assert.deepEqual(
    await metadataVersions(),
    ['v1', 'v2', 'v3', 'v4'],
    'old files stay unless the table says so',
  );
});

test('deletes metadata files that the log forgets, where the table says so', async () => {
  await makeOrders({
    'write.metadata.previous-versions-max': '1',
    'write.metadata.delete-after-commit.enabled': 'true',
  });
  for (const value of ['1', '2', '3'])
    await catalog.commitTable(orders, { requirements: [], updates: [setProperty('x', value)] });
  assert.deepEqual(await metadataVersions(), ['v3', 'v4']);
  assert.equal((await catalog.loadTable(orders)).metadata.properties.get('x'), '3');
});

test('a commit whose requirement does not hold changes nothing', async () => {
  const table = await makeOrders();
  await assert.rejects(
    catalog.commitTable(orders, {
      requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: 5n }],
      updates: [setProperty('x', '1')],
    }),
    { code: 'COMMIT_CONFLICT', retryable: true },
  );
  const move = { action: 'set-location', location: '/etc' } as const;
  await assert.rejects(catalog.commitTable(orders, { requirements: [], updates: [move] }), {
    code: 'NOT_SUPPORTED',
  });
  assert.equal(printed(await catalog.loadTable(orders)), printed(table));
});

test('a lagging or missing hint costs nothing but a look', async () => {
  const table = await makeOrders();
  const hint = `${table.metadata.location}/metadata/version-hint.text`;
  await catalog.commitTable(orders, { requirements: [], updates: [setProperty('x', '1')] });
  for (const text of ['1', undefined]) {
    await (text === undefined ? rm(hint) : writeFile(hint, text));
    await catalog.commitTable(orders, { requirements: [], updates: [setProperty('y', text ?? '2')] });
  }
  assert.match((await catalog.loadTable(orders)).metadataLocation, /v4\.metadata\.json$/);
});

test('a table of the SQL catalog is read, not changed or dropped', async () => {
  const table = await makeOrders();
  const folder = `${table.metadata.location}/metadata`;
  const name = '00003-0d9a6a52-3f4e-4b8b-8c6f-0c1f9d9f8f11.metadata.json';
  await rename(`${folder}/v1.metadata.json`, `${folder}/${name}`);
  await rm(`${folder}/version-hint.text`);
  await catalog.loadTable(orders);
  const refused = { code: 'NOT_SUPPORTED', message: /"sales\.orders" belongs to another catalog.*00003-/ };
  await assert.rejects(
    catalog.commitTable(orders, { requirements: [], updates: [setProperty('x', '1')] }),
    refused,
  );
  await assert.rejects(catalog.dropTable(orders, { purge: true }), refused);
});

test('drops a table with its files, or keeps them aside', async () => {
  const table = await makeOrders();
  await writeFile(`${table.metadata.location}/data/a.parquet`, 'rows');
  await catalog.dropTable({ ...orders, name: 'Orders' }, { purge: false });
  await assert.rejects(catalog.loadTable(orders), { code: 'TABLE_NOT_FOUND' });
  const [kept, ...others] = await readdir(join(root, 'sales'));
  assert.deepEqual(others, []);
  await rename(join(root, 'sales', kept ?? ''), table.metadata.location);
  assert.equal(printed(await catalog.loadTable(orders)), printed(table), 'renamed back it is as it was');
  await catalog.dropTable(orders, { purge: true });
  assert.deepEqual(await readdir(join(root, 'sales')), []);
  await assert.rejects(catalog.dropTable(orders, { purge: true }), { code: 'TABLE_NOT_FOUND' });
});

test('a folder behind a link is never dropped', async () => {
  const table = await makeOrders();
  const outside = join(parent, 'outside');
  await rename(table.metadata.location, outside);
  await symlink(outside, table.metadata.location);
  await catalog.loadTable(orders);
  await assert.rejects(catalog.dropTable(orders, { purge: true }), { code: 'NOT_SUPPORTED' });
  assert.ok((await readdir(outside)).includes('metadata'));
  await symlink(join(parent, 'outside'), join(root, 'linked'));
  await mkdir(join(parent, 'elsewhere'));
  await symlink(join(parent, 'elsewhere'), join(root, 'empty link'));
  await assert.rejects(catalog.dropNamespace(['empty link']), { code: 'NOT_SUPPORTED' });
});

test('a change of a table that was dropped and made anew is refused, and leaves the new one alone', async () => {
  const old = await makeOrders();
  await catalog.dropTable(orders, { purge: true });
  const made = await catalog.createTable(orders, definition);
  await assert.rejects(
    catalog.commitTable(orders, {
      requirements: [{ type: 'assert-table-uuid', uuid: old.metadata.tableUuid }],
      updates: [setProperty('x', '1')],
    }),
    { code: 'COMMIT_CONFLICT', retryable: false },
  );
  assert.equal(printed(await catalog.loadTable(orders)), printed(made));
});

test('a version linked behind a table that was replaced meanwhile is taken back', async () => {
  await makeOrders();
  const store = createFileStore();
  const racing = catalogOver({
    ...store,
    async write(location, body, options) {
      if (location.endsWith('v2.metadata.json')) {
        await catalog.dropTable(orders, { purge: true });
        await catalog.createTable(orders, definition);
      }
      return store.write(location, body, options);
    },
  });
  const commit = { requirements: [], updates: [setProperty('x', '1')] };
  await assert.rejects(racing.commitTable(orders, commit), { code: 'COMMIT_CONFLICT' });
  assert.match((await catalog.loadTable(orders)).metadataLocation, /v1\.metadata\.json$/);
});

test('what a failing disk did is looked at before it is called a failure', async () => {
  const outcomes: readonly (readonly [string, 'before' | 'after', boolean, string])[] = [
    ['fails before anything is there', 'before', true, 'STORAGE_ERROR'],
    ['fails after it was linked', 'after', true, 'COMMIT_OUTCOME_UNKNOWN'],
    ['fails, and cannot be read either', 'before', false, 'COMMIT_OUTCOME_UNKNOWN'],
  ];
  for (const [index, [what, when, isReadable, code]] of outcomes.entries()) {
    const identifier = { namespace: ['sales'], name: `t${index}` };
    if (index === 0) await catalog.createNamespace(['sales']);
    await catalog.createTable(identifier, definition);
    const failing = catalogOver(failingStore('v2.metadata.json', when, isReadable));
    const commit = { requirements: [], updates: [setProperty('x', '1')] };
    await assert.rejects(failing.commitTable(identifier, commit), { code }, what);
  }
});

test('an append whose outcome is unknown is found in the table, or leaves its files', async () => {
  const table = await makeOrders();
  const linked = catalogOver(failingStore('v2.metadata.json', 'after', true));
  const committed = await commitWithRetry({
    catalog: linked,
    identifier: orders,
    change: appendOf(table, ['a']),
  });
  assert.equal(committed.metadata.snapshots.length, 1);
  const lost = catalogOver(failingStore('v3.metadata.json', 'before', false));
  const before = await avroFiles();
  await assert.rejects(
    commitWithRetry({ catalog: lost, identifier: orders, change: appendOf(table, ['b']) }),
    {
      code: 'COMMIT_OUTCOME_UNKNOWN',
    },
  );
  assert.equal((await avroFiles()).length, before.length + 2);
});

test('appends that meet all get in; one that may not try again leaves nothing', async () => {
  const table = await makeOrders({ 'commit.retry.num-retries': '50', 'commit.retry.min-wait-ms': '1' });
  const appends = Array.from({ length: 10 }, (_unused, index) =>
    commitWithRetry({
      catalog: catalogOver(createFileStore()),
      identifier: orders,
      change: appendOf(table, [`f${index}`]),
    }),
  );
  await Promise.all(appends);
  const { metadata } = await catalog.loadTable(orders);
  assert.equal(metadata.snapshots.length, 10);
  assert.equal(metadata.snapshots.at(-1)?.summary.get('total-records'), '100');
  assert.equal((await avroFiles()).length, 20, 'ten manifests and their lists');
  await catalog.commitTable(orders, {
    requirements: [],
    updates: [setProperty('commit.retry.num-retries', '0')],
  });
  const overtaken = overtakenBy(() =>
    commitWithRetry({ catalog, identifier: orders, change: appendOf(table, ['other']) }),
  );
  await assert.rejects(
    commitWithRetry({ catalog: overtaken, identifier: orders, change: appendOf(table, ['mine']) }),
    {
      code: 'COMMIT_CONFLICT',
    },
  );
  assert.equal((await avroFiles()).length, 22);
});

test('a turn that was left behind holds nobody up', async () => {
  const table = await makeOrders();
  const turn = `${table.metadata.location}/metadata/.turn`;
  const ended = spawnSync(process.execPath, ['--version']).pid;
  const aMinuteAgo = Date.now() / 1000 - 60;
  for (const owner of [`${ended} ${hostname()} x`, `${process.pid} elsewhere x`]) {
    await writeFile(turn, owner);
    if (owner.includes('elsewhere')) await utimes(turn, aMinuteAgo, aMinuteAgo);
    await commitWithRetry({ catalog, identifier: orders, change: appendOf(table, [owner]) });
  }
  assert.equal((await catalog.loadTable(orders)).metadata.snapshots.length, 2);
  await assert.rejects(readFile(turn), { code: 'ENOENT' });
});

test('a wait for the next attempt ends at once when it is cancelled', async () => {
  const table = await makeOrders({
    'commit.retry.min-wait-ms': '100000',
    'commit.retry.max-wait-ms': '100000',
  });
  const abort = new AbortController();
  let attempts = 0;
  const overtaken = overtakenBy(async () => {
    await commitWithRetry({ catalog, identifier: orders, change: appendOf(table, [`other ${attempts}`]) });
    attempts += 1;
    if (attempts === 2) setImmediate(() => abort.abort());
  });
  const change = appendOf(table, ['mine']);
  await assert.rejects(
    commitWithRetry({
      catalog: overtaken,
      identifier: orders,
      change,
      signal: abort.signal,
      random: () => 1,
    }),
    { code: 'CANCELLED' },
  );
  assert.equal((await avroFiles()).length, 4);
});

test('what an ended process left of tables it made is removed a day later', async () => {
  await catalog.createNamespace(['sales']);
  const left = ['.1.staging', '.2.purging', '.3.staging'].map((name) => join(root, 'sales', name));
  for (const path of left) await mkdir(path);
  const yesterday = Date.now() / 1000 - 25 * 3600;
  await utimes(left[0] ?? '', yesterday, yesterday);
  await catalog.createTable(orders, definition);
  assert.deepEqual(await readdir(join(root, 'sales')), ['.3.staging', 'orders']);
});

function catalogOver(store: ObjectStore): WritableCatalog {
  return createFileSystemCatalog({ root, store, files: createMetadataFiles(10_000_000) });
}

async function makeOrders(properties: Record<string, string> = {}): Promise<LoadedTable> {
  await catalog.createNamespace(['sales']);
  return catalog.createTable(orders, { ...definition, properties });
}

function appendOf(table: Pick<LoadedTable, 'metadata'>, locations: readonly string[]) {
  return createAppend({
    store: createFileStore(),
    files: createMetadataFiles(10_000_000),
    dataFiles: locations.map((location) => plainFile(location)),
    tableUuid: table.metadata.tableUuid,
    specId: 0,
    schemaId: 0,
  });
}

/** Whoever commits by it finds that somebody else did just before. */
function overtakenBy(overtake: () => Promise<unknown>): WritableCatalog {
  return {
    ...catalog,
    inTurn: (_identifier, body) => body(),
    async commitTable(identifier, commit) {
      await overtake();
      return catalog.commitTable(identifier, commit);
    },
  };
}

/** A disk that fails as the named file is written; what was written may be there, and may be readable. */
function failingStore(name: string, when: 'before' | 'after', isReadable: boolean): ObjectStore {
  const store = createFileStore();
  const failure = () => new QueryError('STORAGE_ERROR', 'The disk failed.');
  return {
    ...store,
    async write(location, body, options) {
      const isIt = location.endsWith(name);
      if (isIt && when === 'before') throw failure();
      const info = await store.write(location, body, options);
      if (isIt) throw failure();
      return info;
    },
    async read(location, options) {
      if (location.endsWith(name) && !isReadable) throw failure();
      return store.read(location, options);
    },
  };
}

function setProperty(key: string, value: string) {
  return { action: 'set-properties', updates: new Map([[key, value]]) } as const;
}

function printed(table: LoadedTable | undefined): string {
  return `${table?.metadataLocation} ${table?.metadata.tableUuid} ${table?.metadata.lastUpdatedMs}`;
}

async function metadataVersions(): Promise<readonly string[]> {
  const names = await readdir(join(root, 'sales', 'orders', 'metadata'));
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.replace('.metadata.json', ''))
    .sort();
}

async function avroFiles(): Promise<readonly string[]> {
  const names = await readdir(join(root, 'sales', 'orders', 'metadata'));
  return names.filter((name) => name.endsWith('.avro'));
}
