/**
 * Statements over tables with policies in stages, with hosts of this process in the place of workers and functions: they answer
 * what one node answers, and are divided like others.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { createLocalExecutor } from '@svc/fragment-fn';
import { rows } from '../service/support/results.js';
import { startService, type TestService } from '../service/support/service.js';
import { tpchTableQueries } from '../sql/tpch-data.js';

const folder = path.resolve(import.meta.dirname, '../../../bench/tpch/queries');
const orders = 30_000;

let service: TestService;
let client: FlightClient;

before(async () => {
  service = await startService({
    tables: {
      'tpch.seen': "SELECT i::BIGINT AS key, 'local' AS who FROM range(0, 60000, 3) r(i)",
      ...tpchTableQueries('tpch', orders),
    },
    config: {
      'fragments.split_bytes': 1_000_000,
      'fragments.distribute_bytes': 0,
      'query.max_concurrent': 8,
      'query.memory_limit': '256MiB',
    },
    openExecutors: ({ environmentOf }) => {
      const local = createLocalExecutor({ slots: 2, environment: environmentOf });
      const workers = ['worker a', 'worker b'].map((name) => ({ ...local, name }));
      return { workers: () => workers, lambda: () => ({ ...local, name: 'function', kind: 'lambda' }) };
    },
  });
  client = await service.client();
  await rows(client, 'USE tpch');
});
after(async () => await service[Symbol.asyncDispose]());

/** Behind a barrier wherever the statement or the policy asks for one. */
const policies: Readonly<Record<string, readonly string[]>> = {
  compared: ['lineitem ROW FILTER (l_orderkey > 100)', "orders ROW FILTER (o_orderstatus <> 'P')"],
  computed: [
    'lineitem ROW FILTER (l_orderkey % 3 <> 1)',
    "lineitem COLUMN MASK l_comment (left(l_comment, 2) || '…')",
    "orders ROW FILTER (lower(o_orderstatus) <> 'p')",
    "customer COLUMN MASK c_phone ('1' || right(c_phone, 4))",
  ],
  mapped: [
    "lineitem ROW FILTER (l_orderkey IN (SELECT m.key FROM tpch.seen m WHERE m.who = 'local'))",
    "orders ROW FILTER (EXISTS (SELECT 1 FROM tpch.seen m WHERE m.key = o_orderkey AND m.who = 'local'))",
    "customer ROW FILTER (c_custkey <= (SELECT max(m.key) FROM tpch.seen m WHERE m.who = 'local'))",
  ],
};

function fellBack(): number {
  return service.logRecords().filter(({ message }) => message === 'query runs on one node after all').length;
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

for (const [kind, rules] of Object.entries(policies))
  describe(`TPC-H over tables with policies, ${kind}`, () => {
    let divided = 0;
    before(async () => {
      for (const [index, rule] of rules.entries())
        await client.update(`CREATE POLICY ${kind}${index} ON TABLE tpch.${rule} TO admin`);
    });
    after(async () => {
      for (const index of rules.keys()) await client.update(`DROP POLICY ${kind}${index}`);
      assert.ok(divided >= 18, `${divided} statements had several splits`);
    });

    for (const file of readdirSync(folder).filter((name) => name.endsWith('.sql')))
      it(`${file} answers what one node answers`, async () => {
        const sql = readFileSync(path.join(folder, file), 'utf8');
        await rows(client, 'SET svc.execution = local');
        const local = await rows(client, sql);
        // Some of them where only functions run, for which nothing is run whole.
        const place = file < 'q04' ? 'lambda' : 'workers';
        await rows(client, `SET svc.execution = ${place}`);
        const before = await service.metric('svc_fragment_splits_total{outcome="ended"}');
        assert.deepEqual(sorted(await rows(client, sql)), sorted(local));
        const splits = (await service.metric('svc_fragment_splits_total{outcome="ended"}')) - before;
        assert.ok(splits > 0);
        if (splits > 1) divided += 1;
        assert.equal(fellBack(), 0);
      });
  });
