import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { differenceOf, openStageOracle, type StageOracle } from './stage-oracle.js';
import { tpchRowCounts, tpchStatements, tpchTables } from './tpch-data.js';

const folder = path.resolve(import.meta.dirname, '../../../bench/tpch/queries');

describe('TPC-H in stages', () => {
  let oracle: StageOracle;
  before(() => {
    oracle = openStageOracle(tpchStatements(3000), tpchTables, tpchRowCounts);
  });
  after(() => oracle.close());

  for (const file of readdirSync(folder).sort())
    test(file, () => {
      const sql = readFileSync(path.join(folder, file), 'utf8');
      const expected = oracle.answer(sql);
      assert.ok(expected.rows.length > 0, 'answers rows');
      const isOrdered = /order by/.test(sql);
      for (const divided of [undefined, ...tpchTables.filter((table) => sql.includes(table))]) {
        const staged = oracle.stage(sql, {
          bytesOf: ({ stubFile }) => {
            const table = oracle.tableOf(stubFile);
            return table === divided ? 1e12 : (tpchRowCounts[table] ?? 0);
          },
        });
        if (staged.kind === 'whole') assert.fail(staged.reason);
        for (const splits of divided === undefined ? [1, 3, 7] : [3])
          assert.equal(
            differenceOf(expected, oracle.run(staged.plan, { splits }), { isOrdered }),
            undefined,
            `${divided} in ${splits}`,
          );
      }
    });

  test('scans nearly all rows in parts', () => {
    let [divided, all] = [0, 0];
    for (const file of readdirSync(folder)) {
      const staged = oracle.stage(readFileSync(path.join(folder, file), 'utf8'), {
        bytesOf: ({ stubFile }) => (tpchRowCounts[oracle.tableOf(stubFile)] ?? 0) * 100,
        readWholeBytes: 1 << 20,
      });
      if (staged.kind === 'whole') assert.fail(`${file}: ${staged.reason}`);
      const { plan } = staged;
      const rowsOf = (name: string) =>
        tpchRowCounts[oracle.tableOf(plan.scans.find((scan) => scan.name === name)?.stubFile ?? '')] ?? 0;
      for (const { split, scans } of plan.stages) {
        const rows = split === undefined ? 0 : rowsOf(split);
        divided += rows;
        all += scans.reduce((sum, name) => sum + rowsOf(name), rows);
      }
    }
    assert.ok(divided >= 0.95 * all, `${divided} of ${all} rows`);
  });
});
