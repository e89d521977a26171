/** What a catalog told a user is used again for a while (coordinator.session_context_cache_ttl_secs), as a client sees it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import {
  createFileStore,
  createFileSystemCatalog,
  createMetadataFiles,
  type WritableCatalog,
} from '@svc/lake';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { standardTables } from './support/tables.js';

const ttlSeconds = 3600;

describe('with a lifetime of session contexts', () => {
  let service: TestService;
  let nowMs = 1_700_000_000_000;
  before(async () => {
    service = await startService({
      tables: standardTables,
      config: {
        'coordinator.session_context_cache_ttl_secs': ttlSeconds,
        'session.idle_timeout_secs': 80_000,
      },
      now: () => nowMs,
    });
  });
  after(async () => await service[Symbol.asyncDispose]());

  it('a change from outside is seen after a refresh', async () => {
    const client = await service.client();
    const outside = await outsideTable(service, client, 'refreshed');
    await outside.addColumn();
    assert.deepEqual(await columns(client, 'refreshed'), ['id']);
    await rows(client, 'CALL system.refresh_catalog_cache()');
    assert.deepEqual(await columns(client, 'refreshed'), ['id', 'late']);
  });

  it('a change from outside is seen when the time is over', async () => {
    const client = await service.client();
    const outside = await outsideTable(service, client, 'aged');
    await outside.drop();
    assert.deepEqual(await columns(client, 'aged'), ['id']);
    assert.equal((await tablesIn(client, 'sales')).includes('aged'), true);
    nowMs += ttlSeconds * 1000;
    await assert.rejects(columns(client, 'aged'), { code: 'TABLE_NOT_FOUND' });
    assert.equal((await tablesIn(client, 'sales')).includes('aged'), false);
  });

  it('preparing a refresh refreshes nothing', async () => {
    const client = await service.client();
    const outside = await outsideTable(service, client, 'prepared');
    await outside.addColumn();
    await client.prepare('CALL system.refresh_catalog_cache()');
    assert.deepEqual(await columns(client, 'prepared'), ['id']);
  });

  it('a change through the service is seen at once in all sessions', async () => {
    const [one, other] = [await service.client(), await service.client()];
    for (const sql of ['CREATE SCHEMA own', 'CREATE TABLE own.t (id INT)']) {
      for (const client of [one, other]) await rows(client, 'SHOW SCHEMAS');
      await rows(one, sql);
    }
    const count = () => value(other, 'SELECT count(*) FROM own.t');
    assert.deepEqual([await count(), await tablesIn(other, 'own')], [0n, ['t']]);
    await rows(one, 'INSERT INTO own.t VALUES (1), (2)');
    assert.equal(await count(), 2n);
    await rows(one, "CREATE OR REPLACE TABLE own.T AS SELECT 'text' AS name");
    assert.equal(await value(other, 'SELECT name FROM own.t'), 'text');
    await rows(one, 'CREATE VIEW own.v AS SELECT 1 AS x');
    assert.equal(await value(other, 'SELECT x FROM own.v'), 1);
    await rows(one, 'CREATE OR REPLACE VIEW own.v AS SELECT 2 AS x');
    assert.equal(await value(other, 'SELECT x FROM own.v'), 2);
    await rows(one, 'DROP VIEW own.v');
    await assert.rejects(rows(other, 'SELECT x FROM own.v'), { code: 'TABLE_NOT_FOUND' });
    await rows(one, 'DROP TABLE own.t');
    await assert.rejects(rows(other, 'SELECT * FROM own.t'), { code: 'TABLE_NOT_FOUND' });
    await rows(one, 'DROP SCHEMA own');
    assert.equal((await rows(other, "SHOW SCHEMAS LIKE 'own'")).length, 0);
    await assert.rejects(rows(other, 'USE own'), { code: 'SCHEMA_NOT_FOUND' });
  });

  it('a statement that changes something begins from the catalog as it is', async () => {
    const client = await service.client();
    const outside = await outsideTable(service, client, 'grown');
    await outside.addColumn();
    assert.deepEqual(await columns(client, 'grown'), ['id']);
    await rows(client, "INSERT INTO sales.grown (id, late) VALUES (1, 'x')");
    await rows(client, 'CREATE TABLE sales.copied AS SELECT * FROM sales.grown');
    assert.deepEqual(await columns(client, 'copied'), ['id', 'late']);
    assert.deepEqual(await columns(client, 'grown'), ['id', 'late']);
    await outside.drop();
    assert.deepEqual(await columns(client, 'grown'), ['id', 'late']);
    assert.deepEqual(await rows(client, 'CREATE TABLE IF NOT EXISTS sales.grown (n INT)'), [
      ['Table lake.sales.grown was created.'],
    ]);
    assert.deepEqual(await columns(client, 'grown'), ['n']);
  });

  it('many sessions at the same time see one another’s rows', async () => {
    const clients = await Promise.all([1, 2, 3, 4].map(() => service.client()));
    const [first] = clients;
    assert.ok(first);
    await rows(first, 'CREATE TABLE sales.counted (id INT)');
    await Promise.all(
      clients.map(async (client, index) => {
        for (let count = 0; count < 5; count += 1) {
          const id = index * 5 + count;
          await rows(client, `INSERT INTO sales.counted VALUES (${id})`);
          assert.equal(await value(client, `SELECT count(*) FROM sales.counted WHERE id = ${id}`), 1n);
        }
      }),
    );
    for (const client of clients)
      assert.equal(await value(client, 'SELECT count(*) FROM sales.counted'), 20n);
  });
});

describe('without a lifetime of session contexts', () => {
  it('a change from outside is seen at once', async () => {
    await using service = await startService({ tables: standardTables });
    const client = await service.client();
    const outside = await outsideTable(service, client, 'seen');
    await outside.addColumn();
    assert.deepEqual(await columns(client, 'seen'), ['id', 'late']);
    await outside.drop();
    await assert.rejects(columns(client, 'seen'), { code: 'TABLE_NOT_FOUND' });
  });
});

/** A table that the service knows, and that somebody else changes by the same folder. */
async function outsideTable(service: TestService, client: FlightClient, name: string) {
  await rows(client, `CREATE TABLE sales.${name} (id INT)`);
  assert.deepEqual(await columns(client, name), ['id']);
  await tablesIn(client, 'sales');
  const identifier = { namespace: ['sales'], name };
  const catalog = outsideCatalog(service);
  return {
    addColumn: async () => {
      const { metadata } = await catalog.loadTable(identifier);
      const fields = [
        ...(metadata.schemas[0]?.fields ?? []),
        { id: 2, name: 'late', required: false, type: { kind: 'string' } as const },
      ];
      await catalog.commitTable(identifier, {
        requirements: [{ type: 'assert-table-uuid', uuid: metadata.tableUuid }],
        updates: [
          {
            action: 'add-schema',
            schema: { schemaId: 1, fields, identifierFieldIds: [] },
            lastColumnId: 2,
          },
          { action: 'set-current-schema', schemaId: 1 },
        ],
      });
    },
    drop: () => catalog.dropTable(identifier, { purge: true }),
  };
}

function outsideCatalog({ catalogPath }: TestService): WritableCatalog {
  const files = createMetadataFiles(1_000_000);
  return createFileSystemCatalog({ root: catalogPath, store: createFileStore(), files });
}

async function columns(client: FlightClient, table: string): Promise<readonly unknown[]> {
  return (await rows(client, `DESCRIBE sales.${table}`)).map(([name]) => name);
}

async function tablesIn(client: FlightClient, schema: string): Promise<readonly unknown[]> {
  return (await rows(client, `SHOW TABLES IN ${schema}`)).map(([name]) => name);
}
