/**
 * Statements in stages, with hosts of this process in the place of workers: what they answer is what one node answers,
 * whatever the splits, and whatever happens to the workers.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import type { FlightClient } from '@svc/flight';
import { createLocalExecutor, type FragmentExecutor } from '@svc/fragment-fn';
import { Int64 } from 'apache-arrow';
import { pick, randomFrom } from '../random.js';
import { tpchTableQueries } from '../sql/tpch-data.js';
import { parameterRow } from './support/parameters.js';
import { readTicket, rows, rowsOf } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/until.js';

const folder = path.resolve(import.meta.dirname, '../../../bench/tpch/queries');
const orders = 60_000;

let service: TestService;
let client: FlightClient;
/** Names of workers that are lost at their next split. */
const doomed = new Set<string>();
let open = 0;
let knownFallbacks = 0;

before(async () => {
  service = await startService({
    tables: tpchTableQueries('tpch', orders),
    config: {
      'fragments.split_bytes': 1_000_000,
      'fragments.distribute_bytes': 0,
      'query.max_concurrent': 8,
      'query.memory_limit': '256MiB',
    },
    openExecutors: ({ environmentOf }) => {
      const workers = ['worker a', 'worker b', 'worker c'].map((name) =>
        standIn(name, createLocalExecutor({ slots: 2, environment: environmentOf })),
      );
      return { workers: () => workers, lambda: () => undefined };
    },
  });
  client = await service.client();
  await rows(client, 'USE tpch');
});
after(async () => await service[Symbol.asyncDispose]());

/** Hosts of this process under a worker's name; its end can be told. */
function standIn(name: string, local: FragmentExecutor): FragmentExecutor {
  return {
    ...local,
    name,
    start: async (task, signal) => {
      const run = await local.start(task, signal);
      open += 1;
      const source = run.events[Symbol.asyncIterator]();
      let isOpen = true;
      const end = () => {
        if (isOpen) open -= 1;
        isOpen = false;
      };
      return {
        schema: run.schema,
        events: {
          [Symbol.asyncIterator]: () => ({
            async next() {
              try {
                const next = await source.next();
                if (doomed.delete(name)) {
                  if (next.done !== true && next.value.kind === 'message') next.value.message.release();
                  throw new QueryError('EXECUTOR_LOST', `${name} went away.`);
                }
                if (next.done === true) end();
                return next;
              } catch (error) {
                end();
                await source.return?.();
                throw error;
              }
            },
            async return() {
              end();
              await source.return?.();
              return { done: true, value: undefined };
            },
          }),
        },
      };
    },
  };
}

async function both(sql: string) {
  await rows(client, 'SET svc.execution = local');
  const local = await rows(client, sql);
  await rows(client, 'SET svc.execution = workers');
  const before = await service.metric('svc_fragment_splits_total{outcome="ended"}');
  const staged = await rows(client, sql);
  const splits = (await service.metric('svc_fragment_splits_total{outcome="ended"}')) - before;
  assert.equal(fellBack().length, knownFallbacks);
  return { local, staged, splits };
}

function fellBack() {
  return service.logRecords().filter(({ message }) => message === 'query runs on one node after all');
}

function sorted(table: readonly (readonly unknown[])[]): readonly string[] {
  return table
    .map((row) =>
      JSON.stringify(row, (_key, value: unknown) => {
        if (typeof value === 'bigint') return `${value}n`;
        return typeof value === 'number' ? Number(value.toPrecision(12)) : value;
      }),
    )
    .sort();
}

describe('TPC-H in stages', () => {
  let divided = 0;
  after(() => assert.ok(divided >= 16, `${divided} statements were divided into several splits`));
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.sql')))
    it(`${file} answers what one node answers`, async () => {
      const sql = readFileSync(path.join(folder, file), 'utf8');
      const { local, staged, splits } = await both(sql);
      assert.deepEqual(sorted(staged), sorted(local));
      assert.ok(splits > 0);
      if (splits > 1) divided += 1;
      assert.equal(open, 0);
    });
});

describe('other statements in stages', () => {
  const statements = [
    `SELECT count(*), min(l_shipdate), now() IS NOT NULL FROM lineitem WHERE l_shipdate < today()`,
    `SELECT count(*) FROM lineitem`,
    `SELECT l_orderkey, l_linenumber FROM lineitem WHERE l_quantity > 49 ORDER BY ALL LIMIT 20 OFFSET 5`,
    `SELECT DISTINCT l_shipmode, l_shipinstruct FROM lineitem`,
    `SELECT l_shipmode, count(DISTINCT l_suppkey), median(l_quantity) FROM lineitem GROUP BY ALL`,
    `SELECT * FROM (SELECT l_shipmode, l_orderkey, row_number() OVER (PARTITION BY l_shipmode ORDER BY l_orderkey, l_linenumber) r FROM lineitem) WHERE r <= 3`,
    `SELECT l_shipmode AS "a ""b", 'x' || count(*) AS "Straße" FROM lineitem GROUP BY ALL`,
    `SELECT sum(l_quantity) FROM lineitem WHERE false`,
    `SELECT count(*), sum(l_tax) FROM lineitem WHERE l_orderkey < 0`,
    `SELECT o_orderstatus, count(*) FROM orders WHERE EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey AND l_tax > 0.05) GROUP BY ALL`,
    `SELECT count(*) FROM orders WHERE o_orderkey NOT IN (SELECT l_orderkey FROM lineitem WHERE l_quantity > 40)`,
    `WITH big AS (SELECT l_orderkey k, sum(l_quantity) q FROM lineitem GROUP BY 1) SELECT count(*), max(a.q) FROM big a JOIN big b ON a.k = b.k + 1`,
    `SELECT n_name, count(c_custkey) FROM nation LEFT JOIN customer ON n_nationkey = c_nationkey AND c_acctbal > 9000 GROUP BY ALL`,
    `SELECT l_orderkey FROM lineitem WHERE l_tax = 0.08 UNION ALL SELECT o_orderkey FROM orders WHERE o_orderstatus = 'P'`,
    `SELECT l_shipmode, sum(l_extendedprice * (1 - l_discount)), avg(l_tax), stddev(l_quantity) FROM lineitem GROUP BY ROLLUP (l_shipmode)`,
    `SELECT (SELECT max(o_totalprice) FROM orders), avg(l_quantity) FROM lineitem WHERE l_partkey < (SELECT avg(p_partkey) FROM part)`,
    `SELECT timestamptz '2024-06-01 12:00:00+00' + INTERVAL 1 DAY, count(*) FROM lineitem WHERE l_shipdate > DATE '1995-01-01'`,
  ];
  for (const sql of statements)
    it(sql, async () => {
      await rows(client, `SET TimeZone = 'Asia/Kolkata'`);
      const { local, staged } = await both(sql);
      assert.deepEqual(
        sql.includes('ORDER BY ALL') ? staged : sorted(staged),
        sql.includes('ORDER BY ALL') ? local : sorted(local),
      );
      assert.equal(open, 0);
    });

  it('with a parameter', async () => {
    const { handle } = await client.prepare(
      'SELECT count(*), sum(l_extendedprice) FROM lineitem WHERE l_quantity < $1',
    );
    const answers: (readonly string[])[] = [];
    for (const place of ['local', 'workers']) {
      await rows(client, `SET svc.execution = ${place}`);
      const bound = await client.bind(handle, parameterRow([[new Int64(), 17n]]));
      const { tickets } = await client.planPrepared(bound);
      answers.push(sorted(rowsOf(await readTicket(client, tickets[0]))));
    }
    assert.deepEqual(answers[0], answers[1]);
  });
});

/** Of several splits. */
const wide = `SELECT l_shipmode, count(*), sum(l_extendedprice), max(l_orderkey), min(l_partkey), max(l_suppkey), max(l_shipdate),
  max(l_commitdate), max(l_receiptdate) FROM lineitem GROUP BY ALL`;

describe('faults', () => {
  const sql = wide;

  it('what a lost worker had not ended runs elsewhere', async () => {
    for (const lost of [['worker a'], ['worker b', 'worker c']]) {
      for (const name of lost) doomed.add(name);
      const { local, staged } = await both(sql);
      assert.deepEqual(sorted(staged), sorted(local));
      doomed.clear();
      assert.equal(open, 0);
    }
  });

  it('workers that come and go change no answer while one lives', async () => {
    const random = randomFrom(7);
    const { local } = await both(sql);
    await rows(client, 'SET svc.execution = workers');
    for (let run = 0; run < 25; run++) {
      const timer = setInterval(() => doomed.add(pick(['worker a', 'worker b'], random)), 5 + random() * 60);
      try {
        assert.deepEqual(sorted(await rows(client, sql)), sorted(local), `run ${run}`);
      } finally {
        clearInterval(timer);
        doomed.clear();
      }
      assert.equal(open, 0);
    }
    assert.equal(fellBack().length, knownFallbacks);
  });

  it('a value that cannot be computed is said as one node says it', async () => {
    const failing = `SELECT sum((l_shipmode || l_linenumber)::INTEGER) FROM lineitem`;
    await rows(client, 'SET svc.execution = local');
    const local = await rows(client, failing).catch((error: unknown) => QueryError.from(error).message);
    await rows(client, 'SET svc.execution = workers');
    const staged = await rows(client, failing).catch((error: unknown) => QueryError.from(error).message);
    assert.equal(staged, local);
    assert.deepEqual(
      fellBack().map((record) => record.error_code),
      ['EVALUATION_ERROR'],
    );
    knownFallbacks += 1;
  });
});

describe('where a query runs', () => {
  const sql = wide;
  const explain = async (text: string) => (await rows(client, text)).flat().join('\n');

  it('is said by EXPLAIN, with its stages', async () => {
    await rows(client, 'SET svc.execution = workers');
    const text = await explain(`EXPLAIN ${sql}`);
    assert.match(text, /^Runs in 2 stages on workers: svc.execution is workers$/m);
    assert.match(
      text,
      /^Stage stage_1, \d+ splits of \d+ bytes in all, on workers\n {2}divides: scan_1 \(lake.tpch.lineitem/m,
    );
    assert.match(text, /^Stage answer, on this node\n {2}rows of: stage_1\n {2}SQL: SELECT/m);
    assert.match(text, /^Model of Lambda: \d+ invocations/m);
    await rows(client, 'SET svc.execution = auto');
    assert.match(await explain(`EXPLAIN ${sql}`), /one fragment: its files are on this machine$/m);
    await rows(client, 'SET svc.execution = local');
    assert.match(await explain(`EXPLAIN ${sql}`), /one fragment: svc.execution is local$/m);
  });

  it('is what EXPLAIN ANALYZE has run', async () => {
    await rows(client, 'SET svc.execution = workers');
    const text = await explain(`EXPLAIN ANALYZE ${sql}`);
    assert.match(text, /^Ran in [\d.]+ ms: 5 rows/m);
    assert.match(text, /^ {2}worker [abc]: \d+ fragments, \d+ splits ended, 0 sent before/m);
    await rows(client, 'SET svc.execution = local');
    assert.match(
      await explain(`EXPLAIN ANALYZE ${sql}`),
      /^Ran in [\d.]+ ms: 5 rows[\s\S]*one fragment: svc.execution is local$/m,
    );
  });

  it('is refused where nobody is', async () => {
    await rows(client, 'SET svc.execution = lambda');
    await assert.rejects(rows(client, sql), /No function can be reached/);
    await assert.rejects(rows(client, 'SET svc.execution = elsewhere'), /svc.execution must be one of/);
    await rows(client, 'RESET svc.execution');
    assert.equal((await rows(client, sql)).length, 5);
  });

  it('is one node for what no table of files answers', async () => {
    await rows(client, 'SET svc.execution = workers');
    assert.deepEqual(await rows(client, 'SELECT 1'), [[1]]);
    assert.match(
      await explain('EXPLAIN SELECT count(*) FROM information_schema.tables'),
      /made by the coordinator$/m,
    );
  });

  it('may be given up by the client', async () => {
    await rows(client, 'SET svc.execution = workers');
    const { tickets } = await client.planStatement('SELECT * FROM lineitem WHERE l_quantity > 1');
    const [ticket] = tickets;
    assert.ok(ticket);
    for await (const _message of client.read(ticket)) break;
    await until(
      'no task runs',
      async () => open === 0 && (await service.metric('svc_fragment_tasks_running')) === 0,
    );
  });
});
