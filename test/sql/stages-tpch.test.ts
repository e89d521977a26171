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
});
