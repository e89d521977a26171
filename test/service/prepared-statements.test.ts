/** Prepared statements with parameters. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import * as arrow from 'apache-arrow';
import { type Parameter, parameterRow } from './support/parameters.js';
import { readTicket, rows, rowsOf } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { commitSnapshotOf, standardTables } from './support/tables.js';

let service: TestService;
let client: FlightClient;
before(async () => {
  service = await startService({
    tables: {
      ...standardTables,
      'sales.evolving': 'SELECT 1::BIGINT AS id',
      'sales.evolved': "SELECT 1::BIGINT AS id, 'x' AS name",
    },
  });
  client = await service.client();
});
after(async () => await service[Symbol.asyncDispose]());

const long = new arrow.Int64();
const text = new arrow.Utf8();

describe('a parameter', () => {
  const day = Date.UTC(2024, 1, 29);
  const values: readonly (readonly [name: string, parameter: Parameter, asText: string])[] = [
    ['BOOLEAN', [new arrow.Bool(), true], 'BOOLEAN true'],
    ['TINYINT', [new arrow.Int8(), -5], 'TINYINT -5'],
    ['SMALLINT', [new arrow.Int16(), -500], 'SMALLINT -500'],
    ['INTEGER', [new arrow.Int32(), -(2 ** 31)], 'INTEGER -2147483648'],
    ['BIGINT', [long, 2n ** 63n - 1n], 'BIGINT 9223372036854775807'],
    ['the smallest BIGINT', [long, -(2n ** 63n)], 'BIGINT -9223372036854775808'],
    ['UTINYINT', [new arrow.Uint8(), 255], 'UTINYINT 255'],
    ['UBIGINT', [new arrow.Uint64(), 2n ** 64n - 1n], 'UBIGINT 18446744073709551615'],
    ['FLOAT', [new arrow.Float32(), 1.5], 'FLOAT 1.5'],
    ['DOUBLE', [new arrow.Float64(), 1e300], 'DOUBLE 1e+300'],
    ['NaN', [new arrow.Float64(), Number.NaN], 'DOUBLE nan'],
    ['infinity', [new arrow.Float64(), Number.NEGATIVE_INFINITY], 'DOUBLE -inf'],
    ['VARCHAR', [text, "it's 💥; --"], "VARCHAR it's 💥; --"],
    ['empty VARCHAR', [text, ''], 'VARCHAR '],
    ['large VARCHAR', [new arrow.LargeUtf8(), 'x'], 'VARCHAR x'],
    ['dictionary of VARCHAR', [new arrow.Dictionary(text, new arrow.Int32()), 'a'], 'VARCHAR a'],
    ['BLOB', [new arrow.Binary(), Uint8Array.of(0, 255)], 'BLOB \\x00\\xFF'],
    ['DATE', [new arrow.DateDay(), new Date(day)], 'DATE 2024-02-29'],
    ['DATE in milliseconds', [new arrow.DateMillisecond(), new Date(-86_400_000)], 'DATE 1969-12-31'],
    ['TIME', [new arrow.TimeMicrosecond(), 3_600_000_001n], 'TIME 01:00:00.000001'],
    ['TIMESTAMP', [new arrow.TimestampMicrosecond(), day], 'TIMESTAMP 2024-02-29 00:00:00'],
    ['TIMESTAMP_MS', [new arrow.TimestampMillisecond(), day], 'TIMESTAMP_MS 2024-02-29 00:00:00'],
    [
      'TIMESTAMPTZ',
      [new arrow.TimestampMicrosecond('UTC'), day],
      'TIMESTAMP WITH TIME ZONE 2024-02-29 00:00:00+00',
    ],
    ['INTERVAL', [new arrow.DurationMicrosecond(), 5n], 'INTERVAL 00:00:00.000005'],
    ['list', [new arrow.List(new arrow.Field('l', new arrow.Int32())), [1, 2]], 'INTEGER[] [1, 2]'],
  ];
  for (const [name, parameter, asText] of values) {
    it(`arrives with its type and value: ${name}`, async () => {
      assert.deepEqual(
        await run("SELECT typeof(p) || ' ' || p::VARCHAR FROM (SELECT $1 AS p)", [parameter]),
        [[asText]],
      );
    });
  }

  it('may be NULL, of a type or of none', async () => {
    assert.deepEqual(
      await run('SELECT $1 IS NULL, $2 IS NULL', [
        [long, null],
        [new arrow.Null(), null],
      ]),
      [[true, true]],
    );
  });

  it('may hold NUL, which a text of SQL may not', async () => {
    assert.deepEqual(await run('SELECT length($1::VARCHAR)', [[text, 'a\0b']]), [[3n]]);
    assert.deepEqual(await run('SELECT count(*) FROM sales.orders WHERE region > $1', [[text, 'a\0b']]), [
      [20_480n],
    ]);
  });

  it('is data and never SQL', async () => {
    const hostile = "x'; ATTACH ':memory:' AS m; --";
    assert.deepEqual(await run('SELECT $1', [[text, hostile]]), [[hostile]]);
    assert.deepEqual(await run('SELECT count(*) FROM sales.orders WHERE region = $1', [[text, hostile]]), [
      [0n],
    ]);
    await assert.rejects(run('SELECT * FROM read_text($1)', [[text, '/etc/passwd']]), {
      code: 'FUNCTION_NOT_ALLOWED',
    });
  });

  it('has its type in the parameter schema where the statement tells it', async () => {
    const { parameterSchema } = await client.prepare(
      'SELECT * FROM sales.orders WHERE id > ? AND region = ? LIMIT ?',
    );
    const fields = arrow.tableFromIPC(parameterSchema).schema.fields;
    assert.deepEqual(
      fields.map(({ type }) => String(type)),
      ['Int64', 'Utf8', 'Int64'],
    );
  });
});

describe('a filter on a parameter', () => {
  const filters: readonly (readonly [
    condition: string,
    parameters: readonly Parameter[],
    literal: string,
  ])[] = [
    ['id > ?', [[long, 20_000n]], 'id > 20000'],
    ['id > ?', [[new arrow.Float64(), 20_000.5]], 'id > 20000.5'],
    ['id = ?', [[text, '77']], "id = '77'"],
    ['id < ?', [[new arrow.Float64(), Number.NaN]], "id < 'nan'::DOUBLE"],
    ['id > ?', [[long, -(2n ** 63n)]], 'id > -9223372036854775808'],
    [
      'id BETWEEN ? AND ?',
      [
        [long, 5n],
        [long, 2100n],
      ],
      'id BETWEEN 5 AND 2100',
    ],
    ['amount = ?', [[new arrow.Float64(), 12.34]], 'amount = 12.34'],
    ['ordered >= ?', [[new arrow.DateDay(), new Date('2024-12-20')]], "ordered >= DATE '2024-12-20'"],
    ['ordered < ?', [[text, '2024-01-03']], "ordered < '2024-01-03'"],
    [
      'ordered < ?',
      [[new arrow.TimestampMicrosecond(), Date.UTC(2024, 0, 3, 12)]],
      "ordered < TIMESTAMP '2024-01-03 12:00:00'",
    ],
    [
      'region IN (?, ?)',
      [
        [text, 'north'],
        [text, 'nowhere'],
      ],
      "region IN ('north', 'nowhere')",
    ],
    ['region LIKE ?', [[text, 'so%']], "region LIKE 'so%'"],
    ['id > ?', [[long, null]], 'id > NULL'],
    ['id IS NOT DISTINCT FROM ?', [[long, null]], 'id IS NOT DISTINCT FROM NULL'],
    ['id % ? = 0', [[long, 1000n]], 'id % 1000 = 0'],
  ];
  for (const [condition, parameters, literal] of filters) {
    it(`keeps the rows that a constant keeps: ${literal}`, async () => {
      const sql = (filter: string) =>
        `SELECT count(*), sum(id), min(region) FROM sales.orders WHERE ${filter}`;
      assert.deepEqual(await run(sql(condition), parameters), await rows(client, sql(literal)));
    });
  }

  it('prunes as a constant does', async () => {
    const before = await service.metric('svc_scan_row_groups_total{outcome="pruned"}');
    await run('SELECT count(*) FROM sales.orders WHERE id > ?', [[long, 20_470n]]);
    const after = await service.metric('svc_scan_row_groups_total{outcome="pruned"}');
    assert.equal(after - before, 9);
  });
});

describe('a prepared statement', () => {
  it('runs again with other parameters, which stay until they are bound anew', async () => {
    const { handle } = await client.prepare('SELECT count(*) FROM sales.orders WHERE id < ?');
    const counts: unknown[] = [];
    for (const parameter of [10n, 20n]) {
      const bound = await client.bind(handle, parameterRow([[long, parameter]]));
      for (let run = 0; run < 2; run += 1) counts.push(await runHandle(bound));
    }
    assert.deepEqual(counts, [[[10n]], [[10n]], [[20n]], [[20n]]]);
  });

  it('without parameters runs as it is', async () => {
    const { handle, parameterSchema, datasetSchema } = await client.prepare('SELECT 1 AS one');
    assert.deepEqual(arrow.tableFromIPC(parameterSchema).schema.fields, []);
    assert.deepEqual(
      arrow.tableFromIPC(datasetSchema).schema.fields.map(({ name }) => name),
      ['one'],
    );
    assert.deepEqual(await runHandle(handle), [[1]]);
  });

  it('can be any statement that answers rows', async () => {
    assert.deepEqual(await run("SHOW TABLES IN sales LIKE 'it%'", []), [['items']]);
    assert.deepEqual(await run('DESCRIBE sales.items', []), await rows(client, 'DESCRIBE sales.items'));
  });

  it('says which parameters are missing or too many', async () => {
    const invalid = (message: RegExp) => ({ code: 'INVALID_PARAMETER', message });
    await assert.rejects(run('SELECT ?, ?', [[long, 1n]]), invalid(/has 2 parameters; 1 were bound/));
    await assert.rejects(run('SELECT 1', [[long, 1n]]), invalid(/has 0 parameters; 1 were bound/));
    await assert.rejects(
      runHandle((await client.prepare('SELECT ?')).handle),
      invalid(/1 parameters; 0 were/),
    );
    await assert.rejects(rows(client, 'SELECT ?'), invalid(/1 parameters; 0 were/));
  });

  it('says which value is not right', async () => {
    await assert.rejects(run('SELECT * FROM sales.orders WHERE ordered > ?', [[text, 'no date']]), {
      code: 'EVALUATION_ERROR',
      message: /no date/,
    });
  });

  it('may answer two columns of one name', async () => {
    assert.deepEqual(
      await run(
        'SELECT a.order_id, b.* FROM sales.items a JOIN sales.items b USING (order_id) WHERE order_id = ?',
        [[long, 1n]],
      ),
      await rows(client, 'SELECT order_id, * FROM sales.items WHERE order_id = 1'),
    );
  });

  it('must be prepared again when its tables have changed its result', async () => {
    const { handle } = await client.prepare('SELECT * FROM sales.evolving');
    const { handle: unchanged } = await client.prepare('SELECT id FROM sales.evolving');
    assert.deepEqual(await runHandle(handle), [[1n]]);
    const location = (table: string) => service.locations.get(table) ?? '';
    await commitSnapshotOf(location('sales.evolving'), location('sales.evolved'));
    await assert.rejects(client.planPrepared(handle), { code: 'RESULT_SCHEMA_CHANGED', message: /prepare/i });
    assert.deepEqual(await runHandle(unchanged), [[1n]]);
    assert.deepEqual(await run('SELECT * FROM sales.evolving', []), [[1n, 'x']]);
  });
});

async function run(sql: string, parameters: readonly Parameter[]) {
  const { handle } = await client.prepare(sql);
  const bound = parameters.length === 0 ? handle : await client.bind(handle, parameterRow(parameters));
  return await runHandle(bound);
}

async function runHandle(handle: Uint8Array) {
  const { tickets } = await client.planPrepared(handle);
  return rowsOf(await readTicket(client, tickets[0]));
}
