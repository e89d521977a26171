/** information_schema: what is in the catalog, as rows. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';

const ownViews = [
  'columns',
  'key_column_usage',
  'referential_constraints',
  'schemata',
  'table_constraints',
  'tables',
  'views',
];

let service: TestService;
before(async () => {
  service = await startService();
  const client = await service.client();
  for (const sql of [
    'CREATE SCHEMA shop',
    "CREATE TABLE shop.orders (id BIGINT NOT NULL COMMENT 'the key', placed TIMESTAMPTZ, amount DECIMAL(12, 2), lines STRUCT(item VARCHAR)[]) COMMENT 'one row each'",
    'CREATE VIEW shop.big AS SELECT id FROM shop.orders WHERE amount > 100',
  ])
    await client.update(sql);
});
after(async () => await service[Symbol.asyncDispose]());

describe('information_schema', () => {
  it('lists schemas, tables and views, itself included', async () => {
    const client = await service.client();
    assert.deepEqual(await rows(client, 'SELECT schema_name FROM information_schema.schemata ORDER BY ALL'), [
      ['information_schema'],
      ['shop'],
    ]);
    assert.deepEqual(
      await rows(
        client,
        'SELECT table_schema, table_name, table_type, is_insertable_into FROM information_schema.tables ORDER BY ALL',
      ),
      [
        ...ownViews.map((name) => ['information_schema', name, 'VIEW', 'NO']),
        ['shop', 'big', 'VIEW', 'NO'],
        ['shop', 'orders', 'BASE TABLE', 'YES'],
      ],
    );
    assert.deepEqual(
      await rows(
        client,
        "SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = 'shop'",
      ),
      [['big', 'SELECT id FROM shop.orders WHERE amount > 100']],
    );
  });

  it('describes columns as DESCRIBE does', async () => {
    const client = await service.client();
    assert.deepEqual(
      await rows(
        client,
        `SELECT column_name, ordinal_position, is_nullable, data_type, numeric_precision, numeric_scale, datetime_precision, column_comment
         FROM lake.information_schema.columns WHERE table_schema = 'shop' AND table_name = 'orders' ORDER BY ordinal_position`,
      ),
      [
        ['id', 1, 'NO', 'BIGINT', 64, 0, null, 'the key'],
        ['placed', 2, 'YES', 'TIMESTAMP WITH TIME ZONE', null, null, 6, null],
        ['amount', 3, 'YES', 'DECIMAL(12,2)', 12, 2, null, null],
        ['lines', 4, 'YES', 'STRUCT("item" VARCHAR)[]', null, null, null, null],
      ],
    );
    assert.equal(
      await value(client, "SELECT count(*) FROM information_schema.columns WHERE table_name = 'columns'"),
      15n,
    );
  });

  it('is found by every way to name a table', async () => {
    const client = await service.client();
    const one = "WHERE table_name = 'orders'";
    for (const sql of [
      `SELECT tables.table_name FROM INFORMATION_SCHEMA.TABLES ${one}`,
      `SELECT t.table_name FROM lake.information_schema.tables t JOIN information_schema.columns c USING (table_name) ${one} GROUP BY ALL`,
      `WITH x AS (SELECT * FROM information_schema.tables) SELECT table_name FROM x ${one}`,
      `SELECT table_name FROM information_schema.tables ${one} AND table_name IN (SELECT table_name FROM information_schema.columns)`,
    ])
      assert.deepEqual(await rows(client, sql), [['orders']], sql);
    await rows(client, 'USE information_schema');
    assert.deepEqual(await rows(client, `SELECT table_name FROM tables ${one}`), [['orders']]);
    assert.deepEqual((await rows(client, 'SHOW TABLES')).flat(), ownViews);
    assert.deepEqual((await rows(client, 'DESCRIBE schemata'))[0], ['catalog_name', 'VARCHAR', 'YES', null]);
  });

  it('takes part in views, parameters, EXPLAIN and CREATE TABLE AS', async () => {
    const client = await service.client();
    await client.update('CREATE VIEW shop.names AS SELECT table_name AS n FROM information_schema.tables');
    assert.deepEqual(await rows(client, "SELECT n FROM shop.names WHERE n LIKE 'ord%'"), [['orders']]);
    assert.equal(
      await client.update('CREATE TABLE shop.listed AS SELECT * FROM information_schema.schemata'),
      2n,
    );
    const plan = (
      await rows(
        client,
        "EXPLAIN SELECT table_type FROM information_schema.tables WHERE table_schema = 'shop'",
      )
    ).flat();
    assert.ok(plan.includes('Rows of lake.information_schema.tables, made by the coordinator'), String(plan));
    assert.ok(plan.includes("  filters: table_schema = 'shop'"), String(plan));
    await client.update('DROP VIEW shop.names');
    await client.update('DROP TABLE shop.listed');
  });

  it('leaves a damaged table its name and takes its columns', async () => {
    const folder = join(service.catalogPath, 'shop', 'broken', 'metadata');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'version-hint.text'), '1');
    await writeFile(join(folder, 'v1.metadata.json'), '{');
    const client = await service.client();
    const where = "WHERE table_name = 'broken'";
    assert.equal(await value(client, `SELECT count(*) FROM information_schema.tables ${where}`), 1n);
    assert.equal(await value(client, `SELECT count(*) FROM information_schema.columns ${where}`), 0n);
  });

  it('answers tools that look for keys that there are none', async () => {
    const client = await service.client();
    for (const view of ['table_constraints', 'key_column_usage', 'referential_constraints'])
      assert.deepEqual(await rows(client, `SELECT constraint_name FROM information_schema.${view}`), []);
  });

  it('is nobody’s to change, and has no history', async () => {
    const client = await service.client();
    for (const sql of [
      'CREATE SCHEMA information_schema',
      'DROP SCHEMA information_schema',
      'CREATE TABLE Information_Schema.mine (a INTEGER)',
      'INSERT INTO information_schema.tables VALUES (1)',
      'DROP VIEW information_schema.tables',
      'CREATE VIEW information_schema.mine AS SELECT 1 AS a',
    ])
      await assert.rejects(client.update(sql), { code: 'INVALID_ARGUMENT' }, sql);
    await assert.rejects(rows(client, 'SELECT * FROM information_schema.tables AT (VERSION => 1)'), {
      code: 'NOT_SUPPORTED',
    });
    await assert.rejects(rows(client, 'SHOW CREATE TABLE information_schema.tables'), {
      code: 'NOT_SUPPORTED',
    });
    await assert.rejects(rows(client, 'SELECT * FROM information_schema.routines'), {
      code: 'TABLE_NOT_FOUND',
      message: /there is schemata, tables, columns, views, table_constraints/,
    });
  });
});
