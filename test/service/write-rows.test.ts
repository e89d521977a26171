/** CREATE TABLE AS and INSERT, as a client sees them. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { standardTables } from './support/tables.js';
import { until } from './support/until.js';

let service: TestService;
before(async () => {
  service = await startService({ tables: standardTables });
});
after(async () => await service[Symbol.asyncDispose]());

/** Parquet files below the catalog, wherever they are. */
async function dataFiles(table: string): Promise<readonly string[]> {
  const folder = join(service.catalogPath, ...table.split('.'), 'data');
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter((name) => name.endsWith('.parquet') || name.endsWith('.tmp'));
}

describe('CREATE TABLE AS', () => {
  it('makes a table with the rows of the query, partitioned, and tells how many there are', async () => {
    const client = await service.client();
    const sql = `CREATE TABLE sales.by_region PARTITIONED BY (region, month(ordered), bucket(4, id))
      AS SELECT *, id % 2 = 0 AS even, [id, NULL] AS list FROM sales.orders`;
    assert.deepEqual(await rows(client, sql), [['Table lake.sales.by_region was created with 20480 rows.']]);
    assert.deepEqual(
      await rows(client, 'SELECT count(*), sum(id), min(ordered) FROM sales.by_region'),
      await rows(client, 'SELECT count(*), sum(id), min(ordered) FROM sales.orders'),
    );
    assert.equal(
      await value(
        client,
        'SELECT count(*) FROM (SELECT id, region, amount, ordered FROM sales.orders EXCEPT ALL SELECT id, region, amount, ordered FROM sales.by_region)',
      ),
      0n,
    );
    const explained = (
      await rows(
        client,
        "EXPLAIN SELECT * FROM sales.by_region WHERE region = 'north' AND ordered = DATE '2024-03-05'",
      )
    ).flat();
    assert.ok(
      explained.some((line) => /files: 4 of 144 planned/.test(String(line))),
      explained.join('\n'),
    );
  });

  it('without rows makes an empty table', async () => {
    const client = await service.client();
    assert.equal(
      await client.update("CREATE TABLE sales.none AS SELECT 1::TINYINT AS a, 'x' AS b WHERE false"),
      0n,
    );
    assert.deepEqual(await rows(client, 'DESCRIBE sales.none'), [
      ['a', 'INTEGER', 'YES', null],
      ['b', 'VARCHAR', 'YES', null],
    ]);
    assert.deepEqual(await rows(client, 'SELECT * FROM sales.none'), []);
  });

  it('leaves nothing behind when the query fails, or the name is taken', async () => {
    const client = await service.client();
    await assert.rejects(
      rows(client, 'CREATE TABLE sales.bad AS SELECT CAST(region AS INTEGER) AS r FROM sales.orders'),
      { code: 'EVALUATION_ERROR' },
    );
    await assert.rejects(rows(client, 'CREATE TABLE sales.orders AS SELECT 1 AS a'), {
      code: 'ALREADY_EXISTS',
    });
    await assert.rejects(rows(client, "CREATE TABLE sales.bad AS SELECT INTERVAL '1 day' AS i"), {
      code: 'NOT_SUPPORTED',
      message: /"i".*INTERVAL/,
    });
    await assert.rejects(rows(client, "CREATE TABLE sales.bad AS SELECT * FROM '/etc/passwd'"), {
      code: 'TABLE_REFERENCE_NOT_ALLOWED',
    });
    await assert.rejects(rows(client, 'DESCRIBE sales.bad'), { code: 'TABLE_NOT_FOUND' });
    assert.deepEqual(await dataFiles('sales.bad'), []);
  });
});

describe('a statement that writes and is cancelled', () => {
  it('leaves neither a table nor a file, and the engine is free for the next', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.kept (i BIGINT)');
    for (const sql of [
      'CREATE TABLE sales.gone PARTITIONED BY (p) AS SELECT i, i % 5 AS p FROM range(4000000000) r(i)',
      'INSERT INTO sales.kept SELECT i FROM range(4000000000) r(i)',
    ]) {
      const stop = new AbortController();
      const running = client.update(sql, { signal: stop.signal });
      const isCancelled = assert.rejects(running, { code: 'CANCELLED' });
      await until('the statement runs', async () => (await service.metric('svc_active_queries')) > 0);
      await new Promise((resolve) => setTimeout(resolve, 300));
      stop.abort();
      await isCancelled;
      await until('the statement has ended', async () => (await service.metric('svc_active_queries')) === 0);
    }
    await until(
      'no file is left',
      async () => (await dataFiles('sales.gone')).length + (await dataFiles('sales.kept')).length === 0,
    );
    await assert.rejects(rows(client, 'DESCRIBE sales.gone'), { code: 'TABLE_NOT_FOUND' });
    assert.equal(await client.update('INSERT INTO sales.kept VALUES (1)'), 1n);
    assert.deepEqual(await rows(client, 'SELECT * FROM sales.kept'), [[1n]]);
  });
});

describe('INSERT', () => {
  it('appends rows by position and by name, and each snapshot stays readable', async () => {
    const client = await service.client();
    await client.update(
      'CREATE TABLE sales.notes (id BIGINT NOT NULL, text VARCHAR, moment TIMESTAMPTZ, price DECIMAL(10, 2))',
    );
    assert.equal(
      await client.update(
        "INSERT INTO sales.notes VALUES (1, 'one', '2024-01-01 00:00:00+00', 1.5), (2, NULL, NULL, NULL)",
      ),
      2n,
    );
    assert.equal(
      await client.update("INSERT INTO sales.notes (text, id) SELECT 'n' || i, i + 10 FROM range(3) r(i)"),
      3n,
    );
    assert.deepEqual(await rows(client, 'SELECT id, text, price::VARCHAR FROM sales.notes ORDER BY id'), [
      [1n, 'one', '1.50'],
      [2n, null, null],
      [10n, 'n0', null],
      [11n, 'n1', null],
      [12n, 'n2', null],
    ]);
    assert.equal(await client.update('INSERT INTO sales.notes SELECT * FROM sales.notes WHERE false'), 0n);
    assert.equal(
      await client.update('INSERT INTO sales.notes SELECT id + 100, text, moment, price FROM sales.notes'),
      5n,
    );
    assert.equal(await value(client, 'SELECT count(*) FROM sales.notes'), 10n);
  });

  it('refuses rows that the table cannot have, naming the column, and leaves no file behind', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.strict (id INT NOT NULL, day DATE)');
    const refused: Readonly<Record<string, readonly [code: string, message: RegExp]>> = {
      "INSERT INTO sales.strict VALUES ('x', NULL)": ['EVALUATION_ERROR', /x/],
      'INSERT INTO sales.strict VALUES (NULL, NULL)': ['EVALUATION_ERROR', /"id"/],
      'INSERT INTO sales.strict VALUES (9999999999, NULL)': ['EVALUATION_ERROR', /9999999999/],
      'INSERT INTO sales.strict (day) VALUES (NULL)': ['BINDING_ERROR', /"id"/],
      'INSERT INTO sales.strict (id, dya) VALUES (1, 2)': ['BINDING_ERROR', /"dya"; did you mean "day"\?/],
      'INSERT INTO sales.strict VALUES (1)': ['BINDING_ERROR', /1 columns.*2 columns/],
      'INSERT INTO sales.missing VALUES (1)': ['TABLE_NOT_FOUND', /missing/],
      'INSERT INTO sales.strict SELECT * FROM read_csv($$/etc/passwd$$)': [
        'FUNCTION_NOT_ALLOWED',
        /read_csv/,
      ],
    };
    for (const [sql, [code, message]] of Object.entries(refused))
      await assert.rejects(rows(client, sql), { code, message }, sql);
    assert.deepEqual(await dataFiles('sales.strict'), []);
    assert.equal(await value(client, 'SELECT count(*) FROM sales.strict'), 0n);
  });

  it('into a table that is dropped meanwhile says so and leaves nothing of its name', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.dropped (i BIGINT)');
    const insert = client.update('INSERT INTO sales.dropped SELECT i FROM range(20000000) r(i)');
    const isTold = assert.rejects(insert, (error: { code?: string }) =>
      ['COMMIT_CONFLICT', 'TABLE_NOT_FOUND'].includes(error.code ?? ''),
    );
    await until('the statement runs', async () => (await service.metric('svc_active_queries')) > 0);
    await client.update('DROP TABLE sales.dropped');
    await isTold;
    assert.equal(await client.update('CREATE TABLE sales.dropped AS SELECT 1 AS a'), 1n);
  });

  it('takes columns by their names', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.named (id BIGINT NOT NULL, text VARCHAR, day DATE)');
    await client.update("INSERT INTO sales.named BY NAME SELECT 'x' AS TEXT, 1 AS id");
    await client.update("INSERT INTO sales.named BY POSITION SELECT 2, 'y', NULL");
    assert.deepEqual(await rows(client, 'SELECT id, text, day FROM sales.named ORDER BY id'), [
      [1n, 'x', null],
      [2n, 'y', null],
    ]);
    const refused: Readonly<Record<string, RegExp>> = {
      'INSERT INTO sales.named BY NAME SELECT 1 AS id, 2 AS nope': /no column "nope"/,
      "INSERT INTO sales.named BY NAME SELECT 'x' AS text": /"id" of lake.sales.named must not be null/,
      'INSERT INTO sales.named BY NAME SELECT 1 AS id, 2 AS ID': /"ID" is twice/,
    };
    for (const [sql, message] of Object.entries(refused))
      await assert.rejects(client.update(sql), { code: 'BINDING_ERROR', message }, sql);
  });

  it('of many clients at once loses nothing', async () => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => service.client()));
    const [first] = clients;
    await first?.update('CREATE TABLE sales.together (writer INT, n INT)');
    await Promise.all(
      clients.map(async (client, writer) => {
        for (let n = 0; n < 3; n++)
          await client.update(`INSERT INTO sales.together VALUES (${writer}, ${n})`);
      }),
    );
    assert.ok(first);
    assert.equal(await value(first, 'SELECT count(DISTINCT (writer, n)) FROM sales.together'), 12n);
  });

  it('is prepared, and takes parameters', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.bound (a BIGINT, b VARCHAR)');
    const { handle, isUpdate } = await client.prepare("INSERT INTO sales.bound SELECT 7, 'seven'");
    assert.equal(isUpdate, true);
    assert.equal(await client.updatePrepared(handle), 1n);
    assert.equal(await client.updatePrepared(handle), 1n);
    assert.deepEqual(await rows(client, 'SELECT * FROM sales.bound'), [
      [7n, 'seven'],
      [7n, 'seven'],
    ]);
    await assert.rejects(client.update('SELECT 1'), { code: 'INVALID_ARGUMENT' });
  });
});
