/** CREATE and DROP of schemas and tables, as a client sees them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rows } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { standardTables } from './support/tables.js';

let service: TestService;
before(async () => {
  service = await startService({ tables: standardTables });
});
after(async () => await service[Symbol.asyncDispose]());

describe('CREATE and DROP', () => {
  it('make and remove schemas and tables, which are there at once', async () => {
    const client = await service.client();
    const told = async (sql: string) => (await rows(client, sql)).flat();
    assert.deepEqual(await told('CREATE SCHEMA lake.fresh'), ['Schema lake.fresh was created.']);
    const create = `CREATE TABLE fresh."A table" (id BIGINT NOT NULL COMMENT 'the key', ts TIMESTAMPTZ, place STRUCT(city VARCHAR, tags VARCHAR[]))
      PARTITIONED BY (day(ts), bucket(4, id)) TBLPROPERTIES ('write.metadata.compression-codec' = 'none')`;
    assert.deepEqual(await told(create), ['Table lake.fresh.A table was created.']);
    assert.deepEqual(await rows(client, 'DESCRIBE fresh."a table"'), [
      ['id', 'BIGINT', 'NO', 'the key'],
      ['ts', 'TIMESTAMP WITH TIME ZONE', 'YES', null],
      ['place', 'STRUCT("city" VARCHAR, "tags" VARCHAR[])', 'YES', null],
    ]);
    assert.deepEqual(await rows(client, 'SELECT count(*), max(id) FROM fresh."A table"'), [[0n, null]]);
    assert.deepEqual(await told('SHOW TABLES IN fresh'), ['A table']);
    assert.deepEqual(await told('DROP TABLE fresh."a TABLE"'), ['Table lake.fresh.a TABLE was dropped.']);
    assert.deepEqual(await told('SHOW TABLES IN fresh'), []);
    assert.deepEqual(await told('DROP SCHEMA fresh'), ['Schema lake.fresh was dropped.']);
    await assert.rejects(rows(client, 'SHOW TABLES IN fresh'), { code: 'SCHEMA_NOT_FOUND' });
  });

  it('say what is there already, or not there, unless that is all the same', async () => {
    const client = await service.client();
    const cases = {
      'CREATE SCHEMA sales': [
        'ALREADY_EXISTS',
        'CREATE SCHEMA IF NOT EXISTS sales',
        'Schema lake.sales exists already.',
      ],
      'CREATE TABLE sales.orders (a INT)': [
        'ALREADY_EXISTS',
        'CREATE TABLE IF NOT EXISTS sales.orders (a INT)',
        'Table lake.sales.orders exists already.',
      ],
      'DROP TABLE sales.nothing': [
        'TABLE_NOT_FOUND',
        'DROP TABLE IF EXISTS sales.nothing',
        'Table lake.sales.nothing does not exist.',
      ],
      'DROP SCHEMA nothing': [
        'SCHEMA_NOT_FOUND',
        'DROP SCHEMA IF EXISTS nothing',
        'Schema lake.nothing does not exist.',
      ],
      'DROP TABLE nothing.t': [
        'SCHEMA_NOT_FOUND',
        'DROP TABLE IF EXISTS nothing.t',
        'Table lake.nothing.t does not exist.',
      ],
    } as const;
    for (const [sql, [code, lenient, answer]] of Object.entries(cases)) {
      await assert.rejects(rows(client, sql), { code }, sql);
      assert.deepEqual(await rows(client, lenient), [[answer]], lenient);
    }
    await assert.rejects(rows(client, 'DROP SCHEMA sales'), { code: 'SCHEMA_NOT_EMPTY' });
  });

  it('refuse what no table can have, naming it', async () => {
    const client = await service.client();
    const refused: Readonly<Record<string, readonly [code: string, message: RegExp]>> = {
      'CREATE TABLE sales.x (a INT) PARTITIONED BY (b)': ['BINDING_ERROR', /"b"/],
      'CREATE TABLE sales.x (a VARCHAR) PARTITIONED BY (month(a))': [
        'INVALID_ARGUMENT',
        /month.*"a"|"a".*month/,
      ],
      "CREATE TABLE sales.x (a INT) TBLPROPERTIES ('format-version' = '9')": ['INVALID_ARGUMENT', /9/],
      'CREATE TABLE nothing.x (a INT)': ['SCHEMA_NOT_FOUND', /nothing/],
    };
    for (const [sql, [code, message]] of Object.entries(refused))
      await assert.rejects(rows(client, sql), { code, message }, sql);
    assert.deepEqual((await rows(client, 'SHOW TABLES IN sales')).flat(), ['items', 'orders']);
  });

  it('do nothing when a client only asks for the shape of the answer', async () => {
    const client = await service.client();
    const prepared = await client.prepare('CREATE SCHEMA never');
    await client.closePrepared(prepared.handle);
    assert.ok(!(await rows(client, 'SHOW SCHEMAS')).flat().includes('never'));
  });

  it('SHOW CREATE answers what makes the same again, SHOW COLUMNS its columns', async () => {
    const client = await service.client();
    await client.update(`CREATE TABLE sales.shown (id BIGINT NOT NULL COMMENT 'it''s', "a b" VARCHAR, at DATE, n STRUCT(x INTEGER)[])
      PARTITIONED BY (month(at), bucket(8, id), "a b") COMMENT 'c' TBLPROPERTIES ('write.metadata.metrics.default' = 'full')`);
    const [[statement]] = (await rows(client, 'SHOW CREATE TABLE sales.SHOWN')) as [[string]];
    await client.update('DROP TABLE sales.shown');
    await client.update(statement);
    assert.deepEqual(await rows(client, 'SHOW CREATE TABLE sales.shown'), [[statement]]);
    assert.match(statement, /PARTITIONED BY \(month\("at"\), bucket\(8, "id"\), "a b"\)\nCOMMENT 'c'/);
    assert.deepEqual(await rows(client, "SHOW COLUMNS FROM sales.shown LIKE 'a%'"), [
      ['a b', 'VARCHAR', 'YES', null],
      ['at', 'DATE', 'YES', null],
    ]);
    await client.update("CREATE VIEW sales.seen (a COMMENT 'x') AS SELECT id FROM sales.shown");
    const [[view]] = (await rows(client, 'SHOW CREATE VIEW sales.seen')) as [[string]];
    await client.update('DROP VIEW sales.seen');
    await client.update(view);
    assert.deepEqual(await rows(client, 'SHOW CREATE VIEW sales.seen'), [[view]]);
    await assert.rejects(rows(client, 'SHOW CREATE TABLE sales.nothing'), { code: 'TABLE_NOT_FOUND' });
  });
});
