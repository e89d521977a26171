/**
 * A large table is read by the keys of a small one that it is joined with. What is answered is compared with DuckDB on the
 * same files, all of which it reads.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { pick, randomFrom } from '../random.js';
import { type DuckDbParser, openDuckDbParser, quoteText } from '../sql/duckdb-parser.js';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';

/** Thirty row groups; `k` and what is made of it follow the order of the rows, `mixed` does not. */
const large = `SELECT i::BIGINT AS id, k::INTEGER AS k, k::BIGINT AS wide, (k / 100.0)::DECIMAL(12, 2) AS amount,
    DATE '2020-01-01' + (k // 10)::INTEGER AS day, TIMESTAMP '2020-01-01' + INTERVAL (k) MINUTE AS moment,
    TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (k) MINUTE AS instant, printf('k%06d ', k) AS name,
    printf('%08x-0000-0000-0000-000000000000', k)::UUID AS code,
    CASE WHEN k % 100 = 5 THEN 'NaN'::DOUBLE ELSE k / 7 END AS ratio, (i * 7919 % 61440)::INTEGER AS mixed,
    (hash(i) >> 4)::BIGINT AS v, (hash(-i) >> 4)::BIGINT AS w
  FROM (SELECT i, CASE WHEN i % 13 > 0 THEN i // 3 END AS k FROM range(61440) r(i))`;

/** `x` says which rows are wanted: a few, some, or none; keys repeat, some are NULL, and some are nowhere else. */
const small = `SELECT i::BIGINT AS id, (i % 10)::INTEGER AS x, k::INTEGER AS k, k::BIGINT AS wide, k::SMALLINT AS narrow,
    (k / 100.0)::DECIMAL(10, 2) AS amount, DATE '2020-01-01' + (k // 10)::INTEGER AS day,
    TIMESTAMP '2020-01-01' + INTERVAL (k) MINUTE AS moment,
    TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (k) MINUTE AS instant, printf('k%06d ', k) AS name,
    printf('%08x-0000-0000-0000-000000000000', k)::UUID AS code,
    CASE WHEN k % 100 = 5 THEN 'NaN'::DOUBLE ELSE k / 7 END AS ratio, (k * 7919 % 61440)::INTEGER AS mixed,
    printf('t%d', i) AS tag
  FROM (SELECT i, CASE WHEN i % 17 > 0 THEN (i % 10) * 1900 + (i % 7) * 11 + i // 400 END AS k FROM range(800) r(i))`;

const middle = `SELECT (i % 40 * 500 + i // 40)::INTEGER AS k, (i % 40)::INTEGER AS kind, printf('m%d', i) AS tag FROM range(900) r(i)`;

/** Fewer than middle's rows, so that their keys lead to it, and from there to the large table. */
const kinds = `SELECT i::INTEGER AS kind, printf('kind %d', i) AS name FROM range(40) r(i)`;

const tables = { large, small, middle, kinds };

/** Files of which row groups were left out are not read in place, so that leaving more out makes a difference. */
const most = 'SELECT * FROM sales.large WHERE id >= 0 AND id < 59000';

let service: TestService;
let client: FlightClient;
let duckdb: DuckDbParser;
before(async () => {
  const queries = Object.entries(tables).map(([name, sql]) => [`sales.${name}`, sql]);
  service = await startService({
    tables: Object.fromEntries(queries),
    config: { 'query.join_keys_bytes': 1 },
  });
  client = await service.client();
  await client.update(`CREATE VIEW sales.most AS ${most}`);
  duckdb = openDuckDbParser();
  duckdb.execute("SET TimeZone = 'UTC'");
  // DuckDB 1.5.5 takes the keys of a join below ORDER BY with a LIMIT, where its threads read row groups by their bounds.
  duckdb.execute("SET disabled_optimizers = 'join_filter_pushdown,row_group_pruner'");
  duckdb.execute('CREATE SCHEMA sales');
  for (const [name, location] of service.locations) {
    const data = join(location, 'data');
    const files = readdirSync(data).map((file) => quoteText(join(data, file)));
    duckdb.execute(`CREATE VIEW ${name} AS SELECT * FROM read_parquet([${files.join(', ')}])`);
  }
  duckdb.execute(`CREATE VIEW sales.most AS ${most}`);
});
after(async () => {
  duckdb?.close();
  await service?.[Symbol.asyncDispose]();
});

/** One row that tells all rows of the query apart from others. */
function digest(sql: string): string {
  return `SELECT concat_ws('|', count(*), sum(a), min(b), max(b), count(b), bit_xor(hash(a, b))) FROM (${sql}) q(a, b)`;
}

interface Skipped {
  readonly rowGroups: number;
  readonly bytes: number;
}

/** Runs the query here and in DuckDB; answers what was not read of the tables for their keys alone. */
async function compare(sql: string): Promise<Skipped> {
  const before = await skipped();
  assert.equal(await value(client, digest(sql)), duckdb.query(digest(sql)), sql);
  const after = await skipped();
  return { rowGroups: after.rowGroups - before.rowGroups, bytes: after.bytes - before.bytes };
}

async function skipped(): Promise<Skipped> {
  return {
    rowGroups: await service.metric('svc_scan_row_groups_total{outcome="pruned"}'),
    bytes: await service.metric('svc_scan_join_key_bytes_total'),
  };
}

async function explain(sql: string): Promise<string> {
  return (await rows(client, `EXPLAIN ${sql}`)).flat().join('\n');
}

describe('a table that is joined with a few rows of a small one', () => {
  it('is read where these rows have their keys', async () => {
    const sql = 'SELECT l.v + l.w, s.tag FROM sales.most l JOIN sales.small s ON l.k = s.k WHERE s.id = 13';
    assert.match(await explain(sql), /less when it runs: k among the keys of lake\.sales\.small\.k/);
    const { rowGroups, bytes } = await compare(sql);
    assert.equal(rowGroups, 29);
    assert.ok(bytes > 900_000, String(bytes));
  });

  it('is not read at all where there are no such rows', async () => {
    const read = 'svc_scan_row_groups_total{outcome="read"}';
    const before = await service.metric(read);
    const sql =
      'SELECT l.v + l.w, s.tag FROM sales.most l, sales.small s WHERE l.k = s.k AND s.id = 17 AND s.x = 8';
    const { rowGroups } = await compare(sql);
    assert.equal(rowGroups, 30);
    assert.equal((await service.metric(read)) - before, 1);
  });
});

describe('rows that are picked below a join', () => {
  for (const picked of [
    'SELECT * FROM sales.most ORDER BY id LIMIT 30000',
    'SELECT DISTINCT ON (id // 1000) * FROM sales.most ORDER BY id // 1000, v',
  ])
    it(`are the same ones as without it: ${picked}`, async () => {
      const sql = `SELECT concat_ws('|', count(*), sum(l.id)) FROM (${picked}) l JOIN (SELECT * FROM sales.small WHERE tag LIKE 't70%') s ON l.day = s.day`;
      const expected = duckdb.query(sql);
      for (let run = 0; run < 4; run += 1) assert.equal(await value(client, sql), expected);
    });
});

describe('keys of a small table', () => {
  const pruned = async (sql: string) => (await compare(sql)).rowGroups;

  it('are found through USING, IN, EXISTS, and in either order', async () => {
    for (const sql of [
      'SELECT l.v + l.w, s.tag FROM sales.small s JOIN sales.most l USING (k) WHERE s.id = 13',
      'SELECT v + w, name FROM sales.most WHERE k IN (SELECT k FROM sales.small WHERE id = 13)',
      'SELECT v + w, name FROM sales.most l WHERE EXISTS (SELECT 1 FROM sales.small s WHERE s.k = l.k AND s.id = 13)',
      'SELECT s.a, t.tag FROM (SELECT k, sum(v + w) AS a FROM sales.most GROUP BY k) s JOIN sales.small t USING (k) WHERE t.id = 13',
    ])
      assert.equal(await pruned(sql), 29, sql);
  });

  it('lead through a table between them', async () => {
    const sql = `SELECT l.v + l.w, m.tag FROM sales.most l JOIN sales.middle m ON l.k = m.k
      JOIN sales.kinds USING (kind) WHERE kinds.name = 'kind 7'`;
    assert.match(await explain(sql), /less when it runs: k among the keys of lake\.sales\.middle\.k/);
    assert.ok((await pruned(sql)) >= 28);
  });

  it('say nothing of rows that are answered without a match', async () => {
    for (const sql of [
      'SELECT l.v + l.w, s.tag FROM sales.most l LEFT JOIN sales.small s ON l.k = s.k AND s.id = 13',
      'SELECT l.v + l.w, s.tag FROM sales.most l FULL JOIN (SELECT * FROM sales.small WHERE id = 13) s ON l.k = s.k',
      'SELECT v + w, name FROM sales.most WHERE k NOT IN (SELECT k FROM sales.small WHERE id = 13)',
      'SELECT v + w, name FROM sales.most WHERE (k IN (SELECT k FROM sales.small WHERE id = 13)) IS NOT TRUE',
    ]) {
      assert.doesNotMatch(await explain(sql), /less when it runs/, sql);
      assert.equal((await compare(sql)).bytes, 0, sql);
    }
  });

  it('are not looked for where they would leave nothing out', async () => {
    for (const sql of [
      'SELECT l.v + l.w, s.tag FROM sales.most l JOIN sales.small s ON l.mixed = s.mixed WHERE s.id = 13',
      'SELECT l.v + l.w, s.tag FROM sales.most l JOIN sales.small s ON l.ratio = s.ratio WHERE s.id = 13',
      'SELECT l.v + l.w, s.tag FROM sales.most l JOIN sales.small s ON l.k + 1 = s.k WHERE s.id = 13',
      'SELECT l.v + l.w, s.tag FROM sales.most l JOIN sales.small s ON l.name COLLATE NOCASE = s.name WHERE s.id = 13',
    ])
      assert.doesNotMatch(await explain(sql), /less when it runs/, sql);
  });
});

const seed = 20_261_123;

describe(`generated joins (seed ${seed})`, () => {
  it('answer as if all of their tables were read', async () => {
    const random = randomFrom(seed);
    let narrowed = 0;
    for (const join of joins) {
      const { bytes } = await compare(join(random));
      if (bytes > 0) narrowed += 1;
    }
    assert.ok(narrowed > joins.length / 5, `${narrowed} of ${joins.length}`);
  });
});

const keys = [
  ...['k', 'wide', 'amount', 'day', 'moment', 'instant', 'name', 'code', 'ratio', 'mixed'].map((key) => [
    key,
    key,
  ]),
  ['wide', 'k'],
  ['k', 'wide'],
  ['k', 'narrow'],
  ['wide', 'narrow'],
] as const;

const conditions = [
  's.x = 3',
  's.id < 4',
  "s.tag = 't7'",
  's.x IN (1, 2)',
  's.k > 17000',
  "s.tag LIKE 't70%'",
  's.id = -1',
  'true',
];

const joins = Array.from(
  { length: forms(() => 0.5).length },
  (_none, index) => (random: () => number) => forms(random)[index] ?? '',
);

/** One statement of each form, about a key and a condition of chance. */
function forms(random: () => number): readonly string[] {
  const [left = '', right = ''] = pick(keys, random);
  const condition = pick(conditions, random);
  const equal = `l.${left} = s.${right}`;
  const wanted = `(SELECT * FROM sales.small s WHERE ${condition}) s`;
  const both = 'SELECT l.v + l.w, s.tag FROM';
  const [one, other] = [
    'SELECT l.v + l.w, l.name FROM sales.most l WHERE',
    `SELECT s.id, s.tag FROM ${wanted} WHERE`,
  ];
  return [
    `${both} sales.most l JOIN sales.small s ON ${equal} WHERE ${condition}`,
    `${both} sales.small s, sales.most l WHERE ${condition} AND ${equal} AND l.v % 2 = 0`,
    `${both} sales.most l RIGHT JOIN ${wanted} ON ${equal}`,
    `${both} ${wanted} LEFT JOIN sales.most l ON ${equal} AND (l.v + l.w) % 3 > 0`,
    `${both} sales.most l JOIN ${wanted} ON ${equal} AND l.v % 100 > s.x`,
    `${both} (SELECT ${left}, sum(v) AS v, max(w) AS w FROM sales.most GROUP BY ${left}) l JOIN ${wanted} ON ${equal}`,
    `${both} (SELECT DISTINCT ${left}, v, w FROM sales.most) l JOIN ${wanted} ON ${equal}`,
    `${both} sales.most l LEFT JOIN sales.middle m ON l.k = m.k JOIN ${wanted} ON ${equal} AND m.kind IS NULL`,
    `${both} sales.most l JOIN sales.middle m ON l.k = m.k JOIN ${wanted} ON ${equal} WHERE m.kind < 20`,
    `WITH s AS MATERIALIZED (SELECT * FROM ${wanted}) ${both} sales.most l JOIN s ON ${equal}`,
    `${one} l.${left} IN (SELECT s.${right} FROM ${wanted})`,
    `${one} EXISTS (SELECT 1 FROM ${wanted} WHERE ${equal})`,
    `SELECT l.v + l.w, (SELECT max(s.tag) FROM ${wanted} WHERE ${equal}) FROM sales.most l`,
    `${other} EXISTS (SELECT 1 FROM sales.most l WHERE ${equal} AND (l.v + l.w) % 3 = 0)`,
    `${other} NOT EXISTS (SELECT 1 FROM sales.most l WHERE ${equal} AND (l.v + l.w) % 3 = 0)`,
    `${other} s.${right} NOT IN (SELECT l.${left} FROM sales.most l WHERE (l.v + l.w) % 3 = 0 AND l.k IS NOT NULL)`,
    // What needs all rows of the large table comes last: these are in the cache then, and keys save nothing more.
    `${both} sales.most l LEFT JOIN ${wanted} ON ${equal}`,
    `${both} sales.most l FULL JOIN ${wanted} ON ${equal}`,
    `${both} sales.most l ASOF JOIN ${wanted} ON ${equal} AND l.v >= s.id`,
    `${both} sales.most l JOIN ${wanted} ON l.${left} IS NOT DISTINCT FROM s.${right}`,
    `${both} (SELECT * FROM sales.most ORDER BY id LIMIT 30000) l JOIN ${wanted} ON ${equal}`,
    `${both} (SELECT * FROM sales.most UNION ALL SELECT * FROM sales.most) l JOIN ${wanted} ON ${equal}`,
    `${both} sales.most l JOIN sales.most o ON l.id = o.id JOIN ${wanted} ON o.${left} = s.${right}`,
    `${both} (SELECT ${left}, v, row_number() OVER (ORDER BY id) AS w FROM sales.most) l JOIN ${wanted} ON ${equal}`,
    `${one} l.${left} NOT IN (SELECT s.${right} FROM ${wanted})`,
    `${one} NOT EXISTS (SELECT 1 FROM ${wanted} WHERE ${equal})`,
    `${one} EXISTS (SELECT 1 FROM ${wanted} WHERE ${equal}) OR l.v % 50 = 0`,
  ];
}
