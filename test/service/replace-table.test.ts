/** CREATE OR REPLACE TABLE, as a client sees it. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readTicket, rows, rowsOf, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { standardTables } from './support/tables.js';
import { until } from './support/until.js';

let service: TestService;
before(async () => {
  service = await startService({ tables: standardTables });
});
after(async () => await service[Symbol.asyncDispose]());

interface Metadata {
  readonly 'table-uuid': string;
  readonly location: string;
  readonly 'last-column-id': number;
  readonly 'current-schema-id': number;
  readonly schemas: readonly { readonly 'schema-id': number; readonly fields: readonly Field[] }[];
  readonly snapshots: readonly { readonly 'snapshot-id': number }[];
  readonly properties: Readonly<Record<string, string>>;
}

interface Field {
  readonly id: number;
  readonly name: string;
}

async function metadataOf(table: string): Promise<Metadata> {
  const folder = join(service.catalogPath, 'sales', table, 'metadata');
  const version = await readFile(join(folder, 'version-hint.text'), 'utf8');
  // Its snapshot ids are not read: JSON of numbers is exact enough for all else.
  return JSON.parse(await readFile(join(folder, `v${version}.metadata.json`), 'utf8')) as Metadata;
}

function idsOf(metadata: Metadata) {
  const schema = metadata.schemas.find((each) => each['schema-id'] === metadata['current-schema-id']);
  return Object.fromEntries(schema?.fields.map(({ name, id }) => [name, id]) ?? []);
}

async function dataFiles(table: string): Promise<readonly string[]> {
  const names = await readdir(join(service.catalogPath, 'sales', table, 'data'), { recursive: true });
  return names.filter((name) => /\.(parquet|tmp)$/.test(name));
}

describe('CREATE OR REPLACE TABLE', () => {
  it('makes a table that is not there', async () => {
    const client = await service.client();
    assert.deepEqual(await rows(client, 'CREATE OR REPLACE TABLE sales.fresh (a INT)'), [
      ['Table lake.sales.fresh was created.'],
    ]);
    assert.deepEqual(await rows(client, 'CREATE OR REPLACE TABLE sales.fresh_as AS SELECT 1 AS a'), [
      ['Table lake.sales.fresh_as was created with 1 row.'],
    ]);
    assert.deepEqual(await rows(client, 'SELECT * FROM sales.fresh_as'), [[1]]);
  });

  it('is the same table with other columns and rows: columns keep their ids by name, history stays', async () => {
    const client = await service.client();
    await client.update(
      "CREATE TABLE sales.t (id BIGINT NOT NULL, name VARCHAR, day DATE) PARTITIONED BY (day) COMMENT 'old' TBLPROPERTIES ('keep' = 'me')",
    );
    await client.update("INSERT INTO sales.t VALUES (1, 'one', '2024-01-01'), (2, 'two', '2024-01-02')");
    const old = await metadataOf('t');
    assert.deepEqual(
      await rows(
        client,
        "CREATE OR REPLACE TABLE sales.t PARTITIONED BY (bucket(4, id)) TBLPROPERTIES ('new' = '1') AS SELECT 3.5 AS price, id, day::VARCHAR AS day FROM sales.t",
      ),
      [['Table lake.sales.t was replaced with 2 rows.']],
    );
    const now = await metadataOf('t');
    assert.deepEqual([now['table-uuid'], now.location], [old['table-uuid'], old.location]);
    assert.deepEqual(idsOf(now), { price: 4, id: 1, day: 5 }, 'a column of another type is another column');
    assert.equal(now['last-column-id'], 5);
    assert.deepEqual(now.properties, { keep: 'me', new: '1' });
    assert.equal(now.snapshots.length, 2);
    assert.deepEqual(await rows(client, 'SELECT price::VARCHAR, id, day FROM sales.t ORDER BY id'), [
      ['3.5', 1n, '2024-01-01'],
      ['3.5', 2n, '2024-01-02'],
    ]);
    const [first = ''] = (await snapshotIds('t')).slice(0, 1);
    assert.deepEqual(
      await rows(client, `SELECT id, name FROM sales.t FOR VERSION AS OF ${first} ORDER BY 1`),
      [
        [1n, 'one'],
        [2n, 'two'],
      ],
    );
    await client.update("INSERT INTO sales.t VALUES (1, 9, 'x')");
    assert.equal(await value(client, 'SELECT count(*) FROM sales.t'), 3n);
  });

  it('leaves those who planned before what they planned, and prepared statements say what happened', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.pinned AS SELECT i AS id FROM range(5) r(i)');
    const sql = 'SELECT * FROM sales.pinned ORDER BY ALL';
    const { tickets } = await client.planStatement(sql);
    const { handle } = await client.prepare(sql);
    await client.update("CREATE OR REPLACE TABLE sales.pinned AS SELECT 'x' AS text");
    assert.deepEqual(rowsOf(await readTicket(client, tickets[0])).flat(), [0n, 1n, 2n, 3n, 4n]);
    await assert.rejects(client.planPrepared(handle), { code: 'RESULT_SCHEMA_CHANGED' });
    assert.deepEqual(await rows(client, sql), [['x']]);
  });

  it('with columns empties the table, and what was there can be read as of before', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.emptied AS SELECT i AS id, i % 3 AS part FROM range(10) r(i)');
    await client.update('CREATE OR REPLACE TABLE sales.emptied (part BIGINT, other INT NOT NULL)');
    assert.deepEqual(await rows(client, 'SELECT * FROM sales.emptied'), []);
    assert.deepEqual(idsOf(await metadataOf('emptied')), { part: 2, other: 3 });
    const [first = ''] = await snapshotIds('emptied');
    assert.equal(await value(client, `SELECT count(*) FROM sales.emptied FOR VERSION AS OF ${first}`), 10n);
    assert.equal(
      await client.update(
        `CREATE OR REPLACE TABLE sales.emptied AS SELECT * FROM sales.emptied FOR VERSION AS OF ${first}`,
      ),
      10n,
    );
    assert.equal(await value(client, 'SELECT sum(id)::BIGINT FROM sales.emptied'), 45n);
  });

  it('leaves the table as it was when it fails or is cancelled, and no file', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.kept AS SELECT 1 AS a');
    await client.update('CREATE VIEW sales.seen AS SELECT 1 AS a');
    const before = await metadataOf('kept');
    const refused: Readonly<Record<string, string>> = {
      'CREATE OR REPLACE TABLE sales.kept AS SELECT CAST(region AS INT) AS r FROM sales.orders':
        'EVALUATION_ERROR',
      "CREATE OR REPLACE TABLE sales.kept AS SELECT INTERVAL '1 day' AS i": 'NOT_SUPPORTED',
      'CREATE OR REPLACE TABLE sales.kept AS SELECT * FROM sales.missing': 'TABLE_NOT_FOUND',
      'CREATE OR REPLACE TABLE sales.kept PARTITIONED BY (b) AS SELECT 1 AS a': 'BINDING_ERROR',
      "CREATE OR REPLACE TABLE sales.kept (a INT) TBLPROPERTIES ('format-version' = '1')": 'INVALID_ARGUMENT',
      'CREATE OR REPLACE TABLE sales.seen (a INT)': 'ALREADY_EXISTS',
      'CREATE OR REPLACE TABLE sales.seen AS SELECT 1 AS a': 'ALREADY_EXISTS',
      'CREATE OR REPLACE TABLE nowhere.t (a INT)': 'SCHEMA_NOT_FOUND',
    };
    for (const [sql, code] of Object.entries(refused)) await assert.rejects(rows(client, sql), { code }, sql);
    const stop = new AbortController();
    const running = client.update(
      'CREATE OR REPLACE TABLE sales.kept AS SELECT i FROM range(4000000000) r(i)',
      {
        signal: stop.signal,
      },
    );
    const isCancelled = assert.rejects(running, { code: 'CANCELLED' });
    await until('it runs', async () => (await service.metric('svc_active_queries')) > 0);
    stop.abort();
    await isCancelled;
    await until('it has ended', async () => (await service.metric('svc_active_queries')) === 0);
    assert.deepEqual(await metadataOf('kept'), before);
    await until('no file is left', async () => (await dataFiles('kept')).length === 1);
  });

  it('of many clients at once is one after the other, and appends go before or after', async () => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => service.client()));
    const [first] = clients;
    assert.ok(first);
    await first.update('CREATE TABLE sales.busy (writer INT, n INT)');
    await Promise.all(
      clients.map(async (client, writer) => {
        for (let n = 0; n < 3; n++)
          await client.update(
            writer % 2 === 0
              ? `CREATE OR REPLACE TABLE sales.busy AS SELECT ${writer} AS writer, ${n} AS n`
              : `INSERT INTO sales.busy VALUES (${writer}, ${n})`,
          );
      }),
    );
    assert.equal((await metadataOf('busy')).snapshots.length, 12);
    assert.equal(await value(first, 'SELECT count(*) FROM sales.busy WHERE writer % 2 = 0'), 1n);
  });
});

/** With all their digits, oldest first. */
async function snapshotIds(table: string): Promise<readonly string[]> {
  const folder = join(service.catalogPath, 'sales', table, 'metadata');
  const version = await readFile(join(folder, 'version-hint.text'), 'utf8');
  const text = await readFile(join(folder, `v${version}.metadata.json`), 'utf8');
  const [, list = ''] = /"snapshots":\[(.*?)\],"snapshot-log"/s.exec(text) ?? [];
  return [...list.matchAll(/"snapshot-id":(\d+)/g)].flatMap(([all, id]) =>
    all.includes('parent') ? [] : (id ?? []),
  );
}
