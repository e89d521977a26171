/** SHOW, DESCRIBE, EXPLAIN, USE, SET and RESET, which the coordinator answers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { standardTables } from './support/tables.js';

let service: TestService;
before(async () => {
  service = await startService({
    tables: { ...standardTables, 'Other_1.t': 'SELECT 1 AS a', 'samplesXa.b': 'SELECT 1 AS a' },
  });
});
after(async () => await service[Symbol.asyncDispose]());

describe('SHOW', () => {
  it('lists catalogs, schemas and tables, with LIKE', async () => {
    const client = await service.client();
    const names = async (sql: string) => (await rows(client, sql)).flat();
    assert.deepEqual(await names('SHOW CATALOGS'), ['lake']);
    assert.deepEqual(await names('SHOW SCHEMAS'), ['Other_1', 'sales', 'samplesXa']);
    assert.deepEqual(await names("SHOW SCHEMAS IN lake LIKE 'sa%'"), ['sales', 'samplesXa']);
    assert.deepEqual(await names("SHOW SCHEMAS LIKE 'Other!_1' ESCAPE '!'"), ['Other_1']);
    assert.deepEqual(await names('SHOW TABLES'), ['Other_1.t', 'sales.items', 'sales.orders', 'samplesXa.b']);
    assert.deepEqual(await names('SHOW TABLES IN sales'), ['items', 'orders']);
    assert.deepEqual(await names('SHOW TABLES FROM lake.sales'), ['items', 'orders']);
    assert.deepEqual(await names("SHOW TABLES IN sales LIKE '_tems'"), ['items']);
    await rows(client, 'USE sales');
    assert.deepEqual(await names('SHOW TABLES'), ['items', 'orders']);
  });
});

describe('DESCRIBE', () => {
  it('lists the columns of a table and of a query in the same words', async () => {
    const client = await service.client();
    const columns = [
      ['id', 'BIGINT', 'YES', null],
      ['region', 'VARCHAR', 'YES', null],
      ['amount', 'DECIMAL(12,2)', 'YES', null],
      ['ordered', 'DATE', 'YES', null],
    ];
    assert.deepEqual(await rows(client, 'DESCRIBE sales.orders'), columns);
    assert.deepEqual(await rows(client, 'DESC lake.sales.orders'), columns);
    assert.deepEqual(await rows(client, 'DESCRIBE SELECT * FROM sales.orders'), columns);
  });
});

describe('EXPLAIN', () => {
  it('says what is read and what is not, without reading it', async () => {
    const client = await service.client();
    const plan = await rows(
      client,
      "EXPLAIN SELECT sum(amount) FROM sales.orders WHERE id > 19000 AND region = 'east'",
    );
    const text = plan.flat().join('\n');
    assert.match(text, /^Runs on one node as one fragment$/m);
    assert.match(text, /^Scan lake\.sales\.orders \(snapshot \d+\)$/m);
    assert.match(text, /^ {2}columns: .*amount.* \(of 4\)$/m);
    assert.match(text, /^ {2}filters: .*id > 19000/m);
    assert.match(text, /^ {2}files: 1 of 1 planned, 0 pruned$/m);
    assert.match(text, /^ {2}row groups: 1 of 10 planned, 9 pruned by statistics/m);
    const [, planned = '', total = ''] = /^ {2}bytes: (\d+) of (\d+) planned$/m.exec(text) ?? [];
    assert.ok(Number(planned) > 0 && Number(planned) < Number(total) / 5, text);
  });

  it('says that a filter no row can pass reads nothing', async () => {
    const client = await service.client();
    const plan = (await rows(client, 'EXPLAIN SELECT * FROM sales.orders WHERE id < 0')).flat().join('\n');
    assert.match(plan, /row groups: 0 of \d+ planned|files: 0 of 1 planned, 1 pruned/);
    assert.deepEqual(await rows(client, 'SELECT * FROM sales.orders WHERE id < 0'), []);
  });
});

describe('USE', () => {
  it('resolves unqualified names from then on, and only when the place exists', async () => {
    const client = await service.client();
    await assert.rejects(value(client, 'SELECT count(*) FROM items'), {
      code: 'SCHEMA_NOT_FOUND',
      message: /say USE schema first/,
    });
    assert.deepEqual(await rows(client, 'USE sales'), [['USE lake.sales']]);
    assert.equal(await value(client, 'SELECT count(*) FROM items'), 4096n);
    await assert.rejects(rows(client, 'USE nowhere'), { code: 'SCHEMA_NOT_FOUND' });
    await assert.rejects(rows(client, 'USE nowhere.sales'), { code: 'CATALOG_NOT_FOUND' });
    assert.equal(await value(client, 'SELECT count(*) FROM items'), 4096n);
    assert.deepEqual(await rows(client, 'USE lake'), [['USE lake']]);
    await assert.rejects(value(client, 'SELECT count(*) FROM items'), { code: 'SCHEMA_NOT_FOUND' });
  });

  it('has its effect when it is planned, once, and none when it is prepared', async () => {
    const client = await service.client();
    const { handle } = await client.prepare('USE sales');
    await assert.rejects(value(client, 'SELECT count(*) FROM items'), { code: 'SCHEMA_NOT_FOUND' });
    await client.planPrepared(handle);
    assert.equal(await value(client, 'SELECT count(*) FROM items'), 4096n);
  });
});

describe('SET and RESET', () => {
  it('change the time zone of the session', async () => {
    const client = await service.client();
    const midnight = "SELECT TIMESTAMPTZ '2024-01-01 00:00:00+00'::VARCHAR";
    assert.equal(await value(client, midnight), '2024-01-01 00:00:00+00');
    await rows(client, "SET TimeZone = 'Asia/Kathmandu'");
    assert.equal(await value(client, midnight), '2024-01-01 05:45:00+05:45');
    assert.equal(await value(client, `${midnight} FROM sales.items LIMIT 1`), '2024-01-01 05:45:00+05:45');
    await rows(client, "SET TIME ZONE 'America/New_York'");
    assert.equal(await value(client, midnight), '2023-12-31 19:00:00-05');
    await rows(client, 'RESET TimeZone');
    assert.equal(await value(client, midnight), '2024-01-01 00:00:00+00');
  });

  it('lower and restore the limits of the session', async () => {
    const client = await service.client();
    await rows(client, 'SET svc.max_result_bytes = 10000');
    await assert.rejects(rows(client, 'SELECT * FROM sales.orders'), {
      code: 'RESULT_TOO_LARGE',
      message: /10000 bytes/,
    });
    assert.equal(await value(client, 'SELECT count(*) FROM sales.orders'), 20_480n);
    await rows(client, 'RESET svc.max_result_bytes');
    assert.equal((await rows(client, 'SELECT * FROM sales.orders')).length, 20_480);
  });
});

describe('names', () => {
  it('that are wrong are answered with near ones', async () => {
    const client = await service.client();
    await assert.rejects(rows(client, 'SELECT * FROM sales.order'), {
      code: 'TABLE_NOT_FOUND',
      message: /"orders"/,
    });
    await assert.rejects(rows(client, 'SELECT * FROM sale.orders'), {
      code: 'SCHEMA_NOT_FOUND',
      message: /"sales"/,
    });
    await assert.rejects(rows(client, 'SELECT * FROM lak.sales.orders'), {
      code: 'CATALOG_NOT_FOUND',
      message: /"lake"/,
    });
    await assert.rejects(rows(client, 'SELECT amont FROM sales.orders'), {
      code: 'BINDING_ERROR',
      message: /amount/,
    });
  });

  it('differ by nothing but their spelling', async () => {
    const client = await service.client();
    assert.equal(await value(client, 'SELECT count(*) FROM LAKE.Sales.ORDERS'), 20_480n);
    assert.equal(
      await value(client, 'SELECT count(*) FROM sales.items a JOIN SALES.Items b USING (order_id)'),
      4096n,
    );
  });
});
