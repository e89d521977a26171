/**
 * The service over Iceberg's own REST catalog and MinIO, with credentials given out for one table at a time. Run by
 * `npm run test:peers -- rest`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createRestCatalogs, type WritableCatalog } from '@svc/lake';
import { rows } from '../../service/support/results.js';
import { startService, type TestService } from '../../service/support/service.js';

const run = promisify(execFile);
const { SVC_TEST_REST = '{}' } = process.env;
const server: { readonly url: string; readonly python: string } = JSON.parse(SVC_TEST_REST);

const definition = {
  columns: [
    { name: 'id', type: { kind: 'long' } },
    { name: 'name', type: { kind: 'string' } },
  ],
} as const;

describe('a catalog behind REST', () => {
  const schema = ['a b ü'];
  const table = { namespace: schema, name: `T [1] & "x".y's` };
  let catalog: WritableCatalog;
  before(() => {
    const correlation = () => ({ 'x-request-id': 'r1' });
    const catalogs = createRestCatalogs({
      ...{
        url: server.url,
        warehouse: undefined,
        correlation,
        storage: {},
        staticStore: undefined,
        maxKeptBytes: 1 << 20,
      },
    });
    catalog = catalogs.open({ user: 'ada', accessToken: () => 'token' });
  });

  it('makes schemas, at every level, and tells which there are', async () => {
    await catalog.createNamespace(schema);
    await catalog.createNamespace([...schema, 'inner']);
    await assert.rejects(catalog.createNamespace(schema), { code: 'ALREADY_EXISTS' });
    assert.deepEqual(await catalog.listNamespaces(schema), [[...schema, 'inner']]);
    assert.deepEqual(await catalog.namespaceExists([...schema, 'outer']), false);
    await catalog.dropNamespace([...schema, 'inner']);
    await assert.rejects(catalog.listRelations(['nope']), { code: 'SCHEMA_NOT_FOUND' });
  });

  it('makes tables that are found under their own name, or the one that differs in case only', async () => {
    const made = await catalog.createTable(table, definition);
    for (const name of [table.name, table.name.toLowerCase()]) {
      const { metadata, identifier } = await catalog.loadTable({ ...table, name });
      assert.deepEqual([metadata.tableUuid, identifier], [made.metadata.tableUuid, table]);
    }
    await assert.rejects(catalog.createTable(table, definition), { code: 'ALREADY_EXISTS' });
    await assert.rejects(catalog.loadTable({ ...table, name: `T [1] & "x".y` }), {
      code: 'TABLE_NOT_FOUND',
      message: /did you mean "T \[1\] & \\"x\\"\.y's"\?/,
    });
  });

  it('gives out credentials for one table and no other', async () => {
    const { store, metadata, metadataLocation } = await catalog.loadTable(table);
    assert.ok((await store.head(metadataLocation)).sizeBytes > 0);
    const location = `${metadata.location}/data/a`;
    await store.write(location, Buffer.from('rows'));
    assert.equal(Buffer.from(await store.read(location)).toString(), 'rows');
    await assert.rejects(store.write('s3://lake/irc/other/data/a', Buffer.from('rows')), {
      code: 'STORAGE_ACCESS_DENIED',
    });
  });

  it('makes a staged table once, and refuses a change that another one overtook', async () => {
    const identifier = { ...table, name: 'staged' };
    const [first, second] = [
      await catalog.stageTable(identifier, definition),
      await catalog.stageTable(identifier, definition),
    ];
    await assert.rejects(catalog.loadTable(identifier), { code: 'TABLE_NOT_FOUND' });
    await catalog.commitTable(identifier, first.creation);
    await assert.rejects(catalog.commitTable(identifier, second.creation), { code: 'ALREADY_EXISTS' });
    const stale = { type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: 5n } as const;
    await assert.rejects(catalog.commitTable(identifier, { requirements: [stale], updates: [] }), {
      code: 'COMMIT_CONFLICT',
    });
  });

  it('keeps views, replaces and drops them, and lists them beside tables', async () => {
    const view = { namespace: schema, name: 'v' };
    const sql = (text: string) => ({
      ...definition,
      representations: [{ sql: text, dialect: 'duckdb' }],
      defaultNamespace: schema,
    });
    await catalog.createView(view, sql('select 1, 2'));
    await assert.rejects(catalog.createView(view, sql('select 1, 2')), { code: 'ALREADY_EXISTS' });
    await catalog.replaceView(view, sql('select 3, 4'));
    const { metadata } = await catalog.loadView({ ...view, name: 'V' });
    assert.equal(metadata.currentVersion.representations[0]?.sql, 'select 3, 4');
    const listed = await catalog.listRelations(schema);
    assert.deepEqual(
      listed.map(({ identifier, kind }) => [identifier.name, kind]),
      [
        [table.name, 'table'],
        ['staged', 'table'],
        ['v', 'view'],
      ],
    );
    await catalog.dropView(view);
    await assert.rejects(catalog.loadView(view), { code: 'TABLE_NOT_FOUND' });
  });

  it('drops a schema once it is empty', async () => {
    await assert.rejects(catalog.dropNamespace(schema), { code: 'SCHEMA_NOT_EMPTY' });
    for (const name of [table.name, 'staged']) await catalog.dropTable({ ...table, name }, { purge: true });
    await catalog.dropNamespace(schema);
    assert.equal(await catalog.namespaceExists(schema), false);
  });
});

describe('a service over a catalog behind REST', () => {
  let service: TestService;
  before(async () => {
    service = await startService({ config: { 'catalog.catalog_url': server.url } });
  });
  after(() => service[Symbol.asyncDispose]());

  it('makes, fills, reads and drops tables and views, which pyiceberg reads too', async () => {
    const client = await service.client();
    const answer = (sql: string) => rows(client, sql);
    await client.update('CREATE SCHEMA sales');
    await client.update(
      "CREATE TABLE sales.orders AS SELECT i AS id, 'n' || i AS name, DATE '2024-01-01' + (i % 30)::INT AS day FROM range(100000) r(i)",
    );
    await client.update("INSERT INTO sales.orders VALUES (-1, 'late', DATE '2025-01-01')");
    assert.deepEqual(await answer('SELECT count(*), sum(id)::BIGINT FROM sales.orders'), [
      [100_001n, 4_999_949_999n],
    ]);
    assert.deepEqual(await answer("SELECT name FROM sales.orders WHERE day > DATE '2024-12-31'"), [['late']]);
    await client.update('CREATE VIEW sales.days AS SELECT day, count(*) AS n FROM sales.orders GROUP BY day');
    assert.deepEqual(await answer('SELECT count(*) FROM sales.days'), [[31n]]);
    const program = `
from pyiceberg.catalog import load_catalog
table = load_catalog("rest", uri="${server.url}").load_table("sales.orders")
rows = table.scan(row_filter="id < 1").to_arrow().sort_by("id").to_pylist()
print([(row["id"], row["name"]) for row in rows], len(table.history()))`;
    assert.equal((await run(server.python, ['-c', program])).stdout.trim(), "[(-1, 'late'), (0, 'n0')] 2");
    assert.deepEqual(
      await answer(
        'SELECT count(*), sum(f.record_count)::BIGINT, count(DISTINCT s.snapshot_id) FROM sales."orders$files" f, sales."orders$snapshots" s',
      ),
      [[4n, 200_002n, 2n]],
    );
    await client.update('DROP VIEW sales.days');
    await client.update('DROP TABLE sales.orders');
    await client.update('DROP SCHEMA sales');
  });
});
