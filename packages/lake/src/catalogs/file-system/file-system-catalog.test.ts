import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createMetadataFiles } from '../../iceberg/cache/metadata-files.js';
import { tableJson } from '../../iceberg/testing/table-json.js';
import { createFileStore } from '../../storage/file-store.js';
import type { ObjectStore } from '../../storage/object-store.js';
import type { Catalog, Namespace } from '../catalog.js';
import { createFileSystemCatalog } from './file-system-catalog.js';

let parent = '';
let root = '';
let reads: string[] = [];
let catalog: Catalog;

before(async () => {
  parent = await mkdtemp(join(tmpdir(), 'catalog-'));
});
after(() => rm(parent, { recursive: true, force: true }));
beforeEach(async () => {
  root = await mkdtemp(join(parent, 'root-'));
  reads = [];
  const store = recordingStore();
  catalog = createFileSystemCatalog({ root, store, files: createMetadataFiles(1_000_000) });
});

test('reads the version that the hint names, and later ones that the hint does not know yet', async () => {
  await table('sales/orders/metadata/v1.metadata.json', 'one');
  await table('sales/orders/metadata/v2.metadata.json', 'two');
  await file('sales/orders/metadata/version-hint.text', '1\n');
  assert.equal(await load(['sales'], 'orders'), 'two');
  await table('sales/orders/metadata/v3.metadata.json', 'three');
  assert.equal(await load(['sales'], 'orders'), 'three');
});

test('reads a Hadoop table whose hint is missing, damaged or ahead', async () => {
  await table('sales/orders/metadata/v9.metadata.json', 'nine');
  await table('sales/orders/metadata/v10.metadata.json', 'ten');
  for (const hint of [undefined, '', 'abc', '99', '-1', '1e9']) {
    if (hint !== undefined) await file('sales/orders/metadata/version-hint.text', hint);
    assert.equal(await load(['sales'], 'orders'), 'ten', `hint ${hint}`);
  }
});

test('reads compressed metadata in both spellings', async () => {
  await file('s/a/metadata/v1.metadata.json.gz', gzipSync(metadata('a')));
  await file('s/b/metadata/v1.gz.metadata.json', gzipSync(metadata('b')));
  await file('s/b/metadata/version-hint.text', '1');
  assert.equal(await load(['s'], 'a'), 'a');
  assert.equal(await load(['s'], 'b'), 'b');
});

test('reads the highest number of the layout of the SQL catalog, with and without .db', async () => {
  const uuid = '0d9a6a52-3f4e-4b8b-8c6f-0c1f9d9f8f11';
  await table(`plain/t/metadata/00009-${uuid}.metadata.json`, 'nine');
  await table(`plain/t/metadata/00010-${uuid}.metadata.json`, 'ten');
  await table(`hive.db/t/metadata/00000-${uuid}.metadata.json`, 'hive');
  await file('plain/t/metadata/snap-1-0-aa.avro', '');
  assert.equal(await load(['plain'], 't'), 'ten');
  assert.equal(await load(['hive'], 't'), 'hive');
  assert.deepEqual(await catalog.listNamespaces([]), [['hive'], ['plain']]);
});

test('lists schemas and tables at every level, without loading a table', async () => {
  await table('a/t1/metadata/v1.metadata.json', '1');
  await table('a/metadata/metadata/v1.metadata.json', 'a table called metadata');
  await table('a/inner/t2/metadata/v1.metadata.json', '2');
  await mkdir(join(root, 'empty'));
  await mkdir(join(root, '.hidden'));
  await file('catalog.sqlite', '');
  assert.deepEqual(await catalog.listNamespaces([]), [['a'], ['empty']]);
  assert.deepEqual(await catalog.listNamespaces(['a']), [['a', 'inner']]);
  assert.deepEqual(
    (await catalog.listTables(['a'])).map((each) => each.name),
    ['metadata', 't1'],
  );
  assert.deepEqual(await catalog.listTables(['a', 'inner']), [{ namespace: ['a', 'inner'], name: 't2' }]);
  assert.deepEqual(await catalog.listTables(['empty']), []);
  assert.deepEqual(reads, [], 'nothing but folders was looked at');
});

test('a catalog whose folder does not exist yet is empty', async () => {
  await rm(root, { recursive: true });
  assert.deepEqual(await catalog.listNamespaces([]), []);
  await assert.rejects(catalog.listTables(['x']), {
    code: 'SCHEMA_NOT_FOUND',
    message: 'Schema "x" does not exist.',
  });
});

test('names match exactly, or else the only one that differs in case', async () => {
  await table('Sales/Orders/metadata/v1.metadata.json', 'mixed');
  const loaded = await catalog.loadTable({ namespace: ['SALES'], name: 'oRDERS' });
  assert.deepEqual(loaded.identifier, { namespace: ['Sales'], name: 'Orders' });
  await table('Sales/ORDERS/metadata/v1.metadata.json', 'upper');
  assert.equal(await load(['sales'], 'ORDERS'), 'upper');
  await assert.rejects(load(['Sales'], 'orders'), {
    code: 'TABLE_NOT_FOUND',
    message: 'The table name "orders" fits "ORDERS" and "Orders": spell it exactly.',
  });
});

test('an unknown name is answered with names like it', async () => {
  await table('sales/orders/metadata/v1.metadata.json', '');
  await table('sales/customers/metadata/v1.metadata.json', '');
  await assert.rejects(load(['sales'], 'oders'), {
    code: 'TABLE_NOT_FOUND',
    message: 'Table "sales.oders" does not exist; did you mean "orders"?',
  });
  await assert.rejects(load(['sale'], 'orders'), {
    code: 'SCHEMA_NOT_FOUND',
    message: 'Schema "sale" does not exist; did you mean "sales"?',
  });
  await assert.rejects(load(['sales', 'orders'], 'x'), { code: 'SCHEMA_NOT_FOUND' });
  assert.equal(await catalog.namespaceExists(['sales']), true);
  assert.equal(await catalog.namespaceExists(['sales', 'orders']), false);
});

test('overlong and deeply nested names are refused at once, with a short message', async () => {
  await table('s/t/metadata/v1.metadata.json', '');
  const huge = 'x'.repeat(1_000_000);
  const levels = Array.from({ length: 1000 }, () => 's');
  for (const [namespace, name] of [
    [['s'], huge],
    [[huge], 't'],
    [levels, 't'],
  ] as const)
    await assert.rejects(load(namespace, name), (error: Error) => error.message.length < 400);
});

test('no name reaches a table outside the catalog', async () => {
  const outside = join(dirname(root), 'outside', 'secret');
  await mkdir(join(outside, 'metadata'), { recursive: true });
  await writeFile(join(outside, 'metadata', 'v1.metadata.json'), metadata('secret'));
  await mkdir(join(root, 's'));
  const attempts: [Namespace, string][] = [
    [['..', 'outside'], 'secret'],
    [['../outside'], 'secret'],
    [['s', '..', '..', 'outside'], 'secret'],
    [['s'], '../../outside/secret'],
    [[], '../outside/secret'],
    [['s'], outside],
    [['s'], 'a\0b'],
    [['.'], 'secret'],
    [[''], ''],
  ];
  for (const [namespace, name] of attempts)
    await assert.rejects(
      load(namespace, name),
      { code: /^(SCHEMA|TABLE)_NOT_FOUND$/ },
      `${namespace} ${name}`,
    );
});

test('awkward names have tables of their own', async () => {
  await table('s/a%2Fb/metadata/v1.metadata.json', 'slash');
  await table('s/a.b/metadata/v1.metadata.json', 'dot');
  await table('s/%2E./metadata/v1.metadata.json', 'parent');
  await table('s/with space/metadata/v1.metadata.json', 'space');
  for (const [name, expected] of Object.entries({
    'a/b': 'slash',
    'a.b': 'dot',
    '..': 'parent',
    'with space': 'space',
  }))
    assert.equal(await load(['s'], name), expected);
});

test('a damaged metadata file is named', async () => {
  await file('s/t/metadata/v1.metadata.json', metadata('x').slice(0, 100));
  await assert.rejects(load(['s'], 't'), {
    code: 'DATA_CORRUPT',
    message: /v1\.metadata\.json is not valid JSON/,
  });
});

test('metadata is parsed once until it changes, also under the same name', async () => {
  await table('s/t/metadata/v1.metadata.json', 'first');
  const first = await catalog.loadTable({ namespace: ['s'], name: 't' });
  const again = await catalog.loadTable({ namespace: ['s'], name: 't' });
  assert.equal(again.metadata, first.metadata);
  assert.deepEqual(reads.filter((name) => name.endsWith('.json')).length, 1);
  await table('s/new/metadata/v1.metadata.json', 'second');
  await rm(join(root, 's/t'), { recursive: true });
  await rename(join(root, 's/new'), join(root, 's/t'));
  assert.equal(await load(['s'], 't'), 'second');
});

function recordingStore(): ObjectStore {
  const store = createFileStore();
  return {
    ...store,
    read(location, options) {
      if (!location.endsWith('version-hint.text')) reads.push(location);
      return store.read(location, options);
    },
  };
}

async function load(namespace: Namespace, name: string): Promise<string> {
  return (await catalog.loadTable({ namespace, name })).metadata.location;
}

async function file(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}

function table(path: string, location: string): Promise<void> {
  return file(path, metadata(location));
}

function metadata(location: string): string {
  return JSON.stringify(tableJson(location));
}
