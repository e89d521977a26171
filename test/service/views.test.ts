/** Views: made, read, replaced, dropped, and read through each other. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { standardTables } from './support/tables.js';

let service: TestService;
before(async () => {
  service = await startService({ tables: standardTables });
});
after(async () => await service[Symbol.asyncDispose]());

describe('a view', () => {
  it('is read like a table, whatever the defaults of its reader', async () => {
    const maker = await service.client();
    await rows(maker, 'USE sales');
    assert.deepEqual(
      await rows(
        maker,
        "CREATE VIEW north (id, amount COMMENT 'in euro') COMMENT 'only there' AS SELECT id, amount FROM orders WHERE region = 'north'",
      ),
      [['View lake.sales.north was created.']],
    );
    const reader = await service.client();
    const count = await value(reader, "SELECT count(*) FROM sales.orders WHERE region = 'north'");
    assert.equal(await value(reader, 'SELECT count(*) FROM sales.north'), count);
    assert.equal(
      await value(reader, 'SELECT count(*) FROM lake.SALES.North n JOIN sales.orders o USING (id)'),
      count,
    );
    assert.deepEqual(await rows(reader, 'DESCRIBE sales.north'), [
      ['id', 'BIGINT', 'YES', null],
      ['amount', 'DECIMAL(12,2)', 'YES', 'in euro'],
    ]);
    assert.deepEqual((await rows(reader, 'SHOW TABLES IN sales')).flat(), ['items', 'north', 'orders']);
    const explained = (await rows(reader, 'EXPLAIN SELECT amount FROM sales.north WHERE id = 9')).flat();
    assert.ok(
      explained.some((line) => /row groups: 1 of 10 planned/.test(String(line))),
      explained.join('\n'),
    );
  });

  it('reads other views, and the clock and the user of its reader', async () => {
    const client = await service.client();
    await client.update('CREATE VIEW sales."few, north" AS SELECT * FROM sales.north WHERE id < 30');
    await client.update(
      'CREATE VIEW sales.who AS SELECT current_user AS name, now() = now() AS same, count(*) AS n FROM sales."few, north", sales.north x WHERE x.id = 0',
    );
    assert.deepEqual(await rows(client, 'SELECT * FROM sales.who'), [[service.username, true, 10n]]);
    await client.update('CREATE VIEW sales.constant AS SELECT 42 AS answer');
    assert.deepEqual(await rows(client, 'SELECT * FROM sales.constant'), [[42]]);
    assert.equal(await client.update('CREATE TABLE sales.copied AS SELECT * FROM sales."few, north"'), 10n);
  });

  it('is replaced and dropped, and shares its name with no table', async () => {
    const client = await service.client();
    await client.update('CREATE VIEW sales.changing AS SELECT 1 AS a');
    await assert.rejects(rows(client, 'CREATE VIEW sales.changing AS SELECT 2 AS a'), {
      code: 'ALREADY_EXISTS',
    });
    await assert.rejects(rows(client, 'CREATE TABLE sales.changing (a INT)'), { code: 'ALREADY_EXISTS' });
    await assert.rejects(rows(client, 'CREATE VIEW sales.orders AS SELECT 2 AS a'), {
      code: 'ALREADY_EXISTS',
    });
    await assert.rejects(rows(client, 'CREATE OR REPLACE VIEW sales.orders AS SELECT 2 AS a'), {
      code: 'TABLE_NOT_FOUND',
    });
    await client.update("CREATE OR REPLACE VIEW sales.changing AS SELECT 'two' AS b");
    assert.deepEqual(await rows(client, 'SELECT b FROM sales.changing'), [['two']]);
    await client.update('CREATE VIEW IF NOT EXISTS sales.changing AS SELECT 3 AS c');
    assert.deepEqual(await rows(client, 'SELECT * FROM sales.changing'), [['two']]);
    await assert.rejects(rows(client, 'INSERT INTO sales.changing VALUES (1)'), { code: 'TABLE_NOT_FOUND' });
    await assert.rejects(rows(client, 'DROP TABLE sales.changing'), { code: 'TABLE_NOT_FOUND' });
    await client.update('DROP VIEW sales.changing');
    await assert.rejects(rows(client, 'SELECT * FROM sales.changing'), { code: 'TABLE_NOT_FOUND' });
    await client.update('DROP VIEW IF EXISTS sales.changing');
  });

  it('that cannot be read is not made, or says why when it is read', async () => {
    const client = await service.client();
    const refused: Readonly<Record<string, string>> = {
      'CREATE VIEW sales.v AS SELECT nope FROM sales.orders': 'BINDING_ERROR',
      'CREATE VIEW sales.v AS SELECT * FROM sales.missing': 'TABLE_NOT_FOUND',
      'CREATE VIEW sales.v AS SELECT getenv($$HOME$$)': 'FUNCTION_NOT_ALLOWED',
      'CREATE VIEW sales.v (a, b) AS SELECT 1': 'BINDING_ERROR',
      'CREATE VIEW sales.v AS SELECT $1': 'NOT_SUPPORTED',
      "SELECT * FROM sales.north AT (VERSION => 'main')": 'NOT_SUPPORTED',
    };
    for (const [sql, code] of Object.entries(refused)) await assert.rejects(rows(client, sql), { code }, sql);
    await client.update('CREATE VIEW sales.a AS SELECT 1 AS x');
    await client.update('CREATE VIEW sales.b AS SELECT * FROM sales.a');
    await client.update('CREATE OR REPLACE VIEW sales.a AS SELECT * FROM sales.b');
    await assert.rejects(rows(client, 'SELECT * FROM sales.a'), {
      code: 'BINDING_ERROR',
      message: /reads itself/,
    });
  });
});
