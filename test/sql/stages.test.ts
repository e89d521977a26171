import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { randomFrom } from '../random.js';
import { generatedTableStatements, generatedTables, generateQuery } from './query-generator.js';
import { differenceOf, openStageOracle, type StageOracle } from './stage-oracle.js';

/** STAGE_QUERIES and STAGE_SEED say how many queries are made, and from which seed on. */
const queryCount = Number(process.env['STAGE_QUERIES'] ?? 500);
const firstSeed = Number(process.env['STAGE_SEED'] ?? 1);

describe('queries in stages', () => {
  let oracle: StageOracle;
  before(() => {
    oracle = openStageOracle(generatedTableStatements, generatedTables);
  });
  after(() => oracle.close());

  test(`answer as one query does: ${queryCount} generated ones from seed ${firstSeed}`, (context) => {
    const differences: string[] = [];
    const reasons = new Map<string, number>();
    let [staged, failing, large] = [0, 0, 0];
    for (let seed = firstSeed; seed < firstSeed + queryCount; seed++) {
      const { sql, isOrdered } = generateQuery(seed);
      const random = randomFrom(seed * 31 + 5);
      let expected: ReturnType<typeof oracle.answer>;
      try {
        if (oracle.rowCount(sql) > 10_000) {
          large += 1;
          continue;
        }
        expected = oracle.answer(sql);
      } catch (error) {
        failing += 1;
        reasons.set(`fails: ${String(error).slice(0, 160)}`, (reasons.get(`fails: ${String(error).slice(0, 160)}`) ?? 0) + 1);
        continue;
      }
      try {
        const sizes = new Map(generatedTables.map((table) => [table, 1 + Math.floor(random() * 1000)]));
        const found = oracle.stage(sql, {
          bytesOf: ({ stubFile }) => sizes.get(oracle.tableOf(stubFile)) ?? 0,
          readWholeBytes: random() < 0.5 ? 0 : 300,
          mayBroadcastBytes: random() < 0.7 ? Number.POSITIVE_INFINITY : random() < 0.5 ? 0 : 700,
        });
        if (found.kind === 'whole') {
          reasons.set(found.reason, (reasons.get(found.reason) ?? 0) + 1);
          continue;
        }
        staged += 1;
        const splits = [1, 3, 7][seed % 3] ?? 1;
        const difference = differenceOf(expected, oracle.run(found.plan, { splits }), { isOrdered, tolerance: 1e-9 });
        if (difference !== undefined) differences.push(`seed ${seed}: ${difference}\n${sql}`);
      } catch (error) {
        differences.push(`seed ${seed}: ${String(error).slice(0, 300)}\n${sql}`);
      }
    }
    const whole = [...reasons].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${count} × ${reason}`);
    context.diagnostic(`${staged} of ${queryCount} in stages, ${failing} that fail, ${large} with too many rows; on one node:\n${whole.join('\n')}`);
    assert.deepEqual(differences, []);
  });
});
