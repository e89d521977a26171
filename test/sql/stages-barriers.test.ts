/** Generated queries over views that end in a barrier, as tables with policies are read: in stages they answer as by themselves. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { generatedTableStatements, generatedTables, generateQuery } from './query-generator.js';
import { differenceOf, openStageOracle, type StageOracle } from './stage-oracle.js';

/** STAGE_QUERIES and STAGE_SEED say how many queries are made, and from which seed on. */
const { STAGE_QUERIES = '100', STAGE_SEED = '1' } = process.env;
const queryCount = Number(STAGE_QUERIES);
const firstSeed = Number(STAGE_SEED);
const mostRows = 10_000;

const hidden = (table: string) => `hidden_${table}`;

/** What policies say: something computed, a mapping table in three ways, and a mask. */
const views: readonly string[] = [
  `CREATE VIEW a AS SELECT id, k, v, d, f, upper(s) AS s, t, b FROM ${hidden('a')} WHERE id % 4 <> 1 OFFSET 0`,
  `CREATE VIEW b AS SELECT * FROM ${hidden('b')} AS x WHERE EXISTS (SELECT 1 FROM ${hidden('a')} m WHERE m.k = x.k) OFFSET 0`,
  `CREATE VIEW c AS SELECT * FROM ${hidden('c')} WHERE id <= (SELECT avg(m.id) FROM ${hidden('b')} m WHERE m.v > 0) OFFSET 0`,
  `CREATE VIEW e AS SELECT * FROM ${hidden('e')} WHERE k IN (SELECT m.k FROM ${hidden('c')} m) OFFSET 0`,
];

let oracle: StageOracle;
before(() => {
  const tables = generatedTables.map(hidden);
  const renamed = generatedTables.map((table) => `ALTER TABLE ${table} RENAME TO ${hidden(table)}`);
  oracle = openStageOracle([...generatedTableStatements, ...renamed], tables, {}, views);
});
after(() => oracle.close());

describe(`${queryCount} generated queries over barriers, seeds from ${firstSeed}`, () => {
  test('answer in stages as by themselves', (context) => {
    const differences: string[] = [];
    let [equal, whole] = [0, 0];
    for (let seed = firstSeed; seed < firstSeed + queryCount; seed++) {
      const query = generateQuery(seed);
      const outcome = outcomeOf(seed, query);
      if (outcome === 'whole') whole += 1;
      else if (outcome === undefined) equal += 1;
      else if (outcome !== 'too large') differences.push(`seed ${seed}: ${outcome}\n${query.sql}`);
    }
    context.diagnostic(`${equal} equal, ${whole} on one node`);
    assert.deepEqual(differences, []);
    assert.ok(equal > queryCount / 2, 'most of them are in stages');
  });
});

/** Undefined: equal. */
function outcomeOf(seed: number, { sql, isOrdered }: ReturnType<typeof generateQuery>): string | undefined {
  let expected: ReturnType<StageOracle['answer']>;
  try {
    if (sql.split('CROSS JOIN').length > 2 || oracle.rowCount(sql) > mostRows) return 'too large';
    expected = oracle.answer(sql);
  } catch {
    return 'too large';
  }
  const staged = oracle.stage(sql, { levelOfScan: () => 1 });
  if (staged.kind === 'whole') return 'whole';
  const found = oracle.run(staged.plan, { splits: [1, 3, 7][seed % 3] ?? 1 });
  return differenceOf(expected, found, { isOrdered, tolerance: /stddev|var_pop/.test(sql) ? 1e-9 : 1e-12 });
}
