/**
 * Statements that want less of a table than its rows: counts, extremes, any rows, first rows. What is left out by
 * metadata is compared with the same statements over a window, for which every row that passes is read.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { pick, randomFrom } from '../random.js';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';

/** Row groups by `id`; `day` and `moment` follow it, `region` and `amount` do not, `sparse` is NULL in whole row groups. */
const source = `SELECT i::BIGINT AS id, (i % 5000)::INTEGER AS small, ['north', 'south', 'east', 'Ångström'][i % 4 + 1] AS region,
    CASE WHEN i % 11 > 0 THEN (i / 100.0)::DECIMAL(12, 2) END AS amount,
    DATE '2024-01-01' + (i // 300)::INTEGER AS day, TIMESTAMP '2024-01-01' + INTERVAL (i) MINUTE AS moment,
    CASE WHEN i % 7 = 3 THEN 'NaN'::DOUBLE ELSE i / 3 END AS ratio,
    CASE WHEN i // 2048 NOT IN (2, 5) THEN i % 100 END AS sparse
  FROM range(20480) r(i)`;

const tables = ['sales.plain', 'sales.parted', 'sales.monthly'] as const;

let service: TestService;
let client: FlightClient;
before(async () => {
  service = await startService({ tables: { 'sales.plain': source } });
  client = await service.client();
  const copy = async (name: string, partitions: string) => {
    await value(
      client,
      `CREATE TABLE ${name} PARTITIONED BY (${partitions}) AS SELECT * FROM sales.plain WHERE id < 12000`,
    );
    await client.update(`INSERT INTO ${name} SELECT * FROM sales.plain WHERE id >= 12000`);
  };
  await copy('sales.parted', 'region, bucket(2, id)');
  await copy('sales.monthly', 'month(day)');
});
after(async () => await service[Symbol.asyncDispose]());

async function explain(sql: string): Promise<string> {
  return (await rows(client, `EXPLAIN ${sql}`)).flat().join('\n');
}

describe('a count', () => {
  it('of all rows reads no file', async () => {
    for (const table of tables)
      for (const sql of [`SELECT count(*) FROM ${table}`, `SELECT count(1) FROM ${table}`]) {
        assert.match(await explain(sql), /files: 0 of \d+ planned[\s\S]*rows answered by metadata: 20480/);
        assert.equal(await value(client, sql), 20480n);
      }
  });

  it('over whole partitions reads no file, and reads only those that a filter cuts', async () => {
    const whole = `SELECT count(*) FROM sales.monthly WHERE day >= DATE '2024-02-01' AND day < DATE '2024-03-01'`;
    assert.match(await explain(whole), /files: 0 of \d+ planned/);
    assert.equal(await value(client, whole), 8700n);
    const region = `SELECT count(*) FROM sales.parted WHERE region IN ('north', 'Ångström')`;
    assert.match(await explain(region), /files: 0 of \d+ planned/);
    assert.equal(await value(client, region), 10240n);
    const cut = `SELECT count(*) FROM sales.monthly WHERE day >= DATE '2024-02-20'`;
    assert.match(await explain(cut), /files: [1-3] of \d+ planned[\s\S]*rows answered by metadata/);
    assert.equal(await value(client, cut), 5480n);
  });

  it('within a larger statement is as it was', async () => {
    const sql = `SELECT (SELECT count(*) FROM sales.monthly) + (SELECT count(*) FROM sales.parted WHERE region = 'east'),
      EXISTS (SELECT 1 FROM sales.plain WHERE id < 100), count(*) FROM range(3) r(i), (SELECT 1 FROM sales.plain WHERE id < 2048)`;
    assert.deepEqual(await rows(client, sql), [[25600n, true, 6144n]]);
  });
});

describe('extremes', () => {
  it('of whole numbers and days are answered by footers, text and floats by the rows', async () => {
    const sql = 'SELECT min(id), max(id), min(day), max(amount), max(sparse), count(*) FROM sales.monthly';
    assert.match(await explain(sql), /files: 0 of \d+ planned/);
    await sameAsWindow(
      'sales.monthly',
      'min(id), max(id), min(day), max(amount), max(sparse), count(*)',
      'true',
    );
    assert.match(await explain('SELECT max(region) FROM sales.monthly'), /files: [1-9]\d* of/);
    assert.match(await explain('SELECT min(ratio) FROM sales.monthly'), /files: [1-9]\d* of/);
    assert.match(await explain('SELECT max(id), sum(id) FROM sales.monthly'), /files: [1-9]\d* of/);
  });
});

describe('LIMIT', () => {
  it('stops at the files that have enough rows', async () => {
    assert.match(await explain('SELECT * FROM sales.monthly LIMIT 10'), /files: 1 of \d+ planned/);
    assert.equal((await rows(client, 'SELECT id FROM sales.monthly LIMIT 10')).length, 10);
    const few = `SELECT id FROM sales.monthly WHERE day >= DATE '2024-01-05' LIMIT 3 OFFSET 2`;
    assert.match(await explain(few), /files: [12] of \d+ planned/);
    assert.equal((await rows(client, few)).length, 3);
    assert.equal((await rows(client, `SELECT id FROM sales.monthly WHERE small = 7 LIMIT 100`)).length, 5);
  });

  it('with an order reads only what may come first', async () => {
    const last = 'SELECT id FROM sales.monthly ORDER BY moment DESC LIMIT 3';
    assert.match(await explain(last), /files: 1 of \d+ planned/);
    assert.deepEqual(await rows(client, last), [[20479n], [20478n], [20477n]]);
  });
});

async function sameAsWindow(table: string, list: string, condition: string): Promise<void> {
  const all = `(SELECT *, row_number() OVER () AS position FROM ${table} WHERE ${condition})`;
  assert.deepEqual(
    await rows(client, `SELECT ${list} FROM ${table} WHERE ${condition}`),
    await rows(client, `SELECT ${list} FROM ${all} WHERE position > 0`),
    `${list} of ${table} where ${condition}`,
  );
}

const seed = 20_261_122;
const rounds = 20;

describe(`generated statements (seed ${seed})`, () => {
  it('count and find extremes as if every row were read', async () => {
    const random = randomFrom(seed);
    for (let round = 0; round < rounds; round++) {
      const list = [
        'count(*)',
        'count(*), min(id), max(small)',
        'min(day), max(moment), min(amount)',
        'max(sparse)',
      ];
      await sameAsWindow(pick(tables, random), pick(list, random), condition(random));
    }
  });

  it('answer the first rows in an order as if every row were read', async () => {
    const random = randomFrom(seed + 1);
    for (let round = 0; round < rounds; round++) {
      const table = pick(tables, random);
      const column = pick(['id', 'small', 'region', 'amount', 'day', 'moment', 'ratio', 'sparse'], random);
      const order = `${column} ${pick(['ASC', 'DESC'], random)} NULLS ${pick(['FIRST', 'LAST'], random)}, id`;
      const limit = pick([1, 3, 100, 2500, 30_000], random);
      const where = condition(random);
      const all = `(SELECT *, row_number() OVER (ORDER BY ${order}) AS position FROM ${table} WHERE ${where})`;
      assert.deepEqual(
        await rows(
          client,
          `SELECT id FROM ${table} WHERE ${where} ORDER BY ${order} LIMIT ${limit} OFFSET 2`,
        ),
        await rows(
          client,
          `SELECT id FROM ${all} WHERE position > 2 AND position <= ${limit + 2} ORDER BY position`,
        ),
        `${table} where ${where} order by ${order} limit ${limit}`,
      );
    }
  });

  it('answer so many rows that pass, none of them twice', async () => {
    const random = randomFrom(seed + 2);
    for (let round = 0; round < rounds / 2; round++) {
      const [table, where, limit] = [
        pick(tables, random),
        condition(random),
        pick([1, 50, 5000, 30_000], random),
      ];
      const answered = await rows(client, `SELECT id FROM ${table} WHERE ${where} LIMIT ${limit}`);
      const ids = new Set(answered.flat());
      assert.equal(ids.size, answered.length);
      const passing = new Set((await rows(client, `SELECT id FROM ${table} WHERE ${where}`)).flat());
      assert.equal(ids.size, Math.min(limit, passing.size), `${table} where ${where} limit ${limit}`);
      for (const id of ids) assert.ok(passing.has(id));
    }
  });
});

function condition(random: () => number): string {
  const simple = () =>
    pick(
      [
        () => `id ${pick(['<', '>=', '<>', '='], random)} ${Math.floor(random() * 22_000)}`,
        () => `small BETWEEN ${Math.floor(random() * 3000)} AND 4000`,
        () =>
          `region ${pick(["= 'east'", "IN ('north', 'south')", "<> 'Ångström'", "> 'e'", "LIKE 'n%'"], random)}`,
        () => `amount ${pick(['IS NULL', 'IS NOT NULL', '> 100', '<= 57.5'], random)}`,
        () => `day ${pick(['<', '>='], random)} DATE '2024-01-01' + ${Math.floor(random() * 75)}`,
        () =>
          `moment ${pick(['<', '>='], random)} TIMESTAMP '2024-01-01' + INTERVAL ${Math.floor(random() * 21_000)} MINUTE`,
        () => `ratio ${pick(['> 5000', '<= 1000', "= 'NaN'::DOUBLE"], random)}`,
        () => `sparse ${pick(['IS NULL', 'IS NOT NULL', '< 100', '>= 0'], random)}`,
        () => 'true',
      ],
      random,
    )();
  const form = random();
  if (form < 0.4) return simple();
  return `(${simple()} ${form < 0.8 ? 'AND' : 'OR'} ${simple()})`;
}
