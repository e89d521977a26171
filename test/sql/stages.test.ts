import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { randomFrom } from '../random.js';
import { generatedTableStatements, generatedTables, generateQuery } from './query-generator.js';
import { differenceOf, openStageOracle, type StageOracle } from './stage-oracle.js';

/** STAGE_QUERIES and STAGE_SEED say how many queries are made, and from which seed on. */
const { STAGE_QUERIES = '500', STAGE_SEED = '1' } = process.env;
const queryCount = Number(STAGE_QUERIES);
const firstSeed = Number(STAGE_SEED);
const perTest = 100;
/** A join of everything with everything only takes time: so much that its rows cannot even be counted where it is read again. */
const mostRows = 10_000;
const mostCrossJoins = 1;

describe('generated queries in stages', () => {
  let oracle: StageOracle;
  before(() => {
    oracle = openStageOracle(generatedTableStatements, generatedTables);
  });
  after(() => oracle.close());

  for (let first = firstSeed; first < firstSeed + queryCount; first += perTest) {
    const last = Math.min(first + perTest, firstSeed + queryCount) - 1;
    test(`answer as by themselves: seeds ${first} to ${last}`, (context) =>
      compare(oracle, first, last, context));
  }
});

function compare(oracle: StageOracle, first: number, last: number, context: TestContext): void {
  const differences: string[] = [];
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  for (let seed = first; seed <= last; seed++) {
    const query = generateQuery(seed);
    let outcome: Outcome;
    try {
      outcome = outcomeOf(oracle, seed, query);
    } catch (error) {
      outcome = { kind: 'different', what: String(error).slice(0, 300) };
    }
    count(outcome.kind === 'whole' ? `on one node for ${outcome.what}` : outcome.kind);
    if (outcome.kind === 'different') differences.push(`seed ${seed}: ${outcome.what}\n${query.sql}`);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  context.diagnostic(sorted.map(([what, times]) => `${times} ${what}`).join(', '));
  assert.deepEqual(differences, []);
  assert.ok((counts.get('equal') ?? 0) > (last - first) / 2, 'most of them are in stages');
}

type Outcome =
  | { readonly kind: 'equal' | 'too large' | 'failing by itself' }
  | { readonly kind: 'different' | 'whole'; readonly what: string };

function outcomeOf(oracle: StageOracle, seed: number, query: ReturnType<typeof generateQuery>): Outcome {
  const { sql, isOrdered } = query;
  const random = randomFrom(seed * 31 + 5);
  let expected: ReturnType<typeof oracle.answer>;
  try {
    const crossJoins = sql.split('CROSS JOIN').length - 1;
    if (sql.includes('WITH ') && crossJoins > mostCrossJoins) return { kind: 'too large' };
    if (oracle.rowCount(sql) > mostRows) return { kind: 'too large' };
    expected = oracle.answer(sql);
  } catch {
    return { kind: 'failing by itself' };
  }
  const sizes = new Map(generatedTables.map((table) => [table, 1 + Math.floor(random() * 1000)]));
  const staged = oracle.stage(sql, {
    bytesOf: ({ stubFile }) => sizes.get(oracle.tableOf(stubFile)) ?? 0,
    readWholeBytes: random() < 0.6 ? 0 : 300,
    mayBroadcastBytes: random() < 0.7 ? Number.POSITIVE_INFINITY : random() < 0.5 ? 0 : 700,
  });
  if (staged.kind === 'whole') return { kind: 'whole', what: staged.reason };
  const found = oracle.run(staged.plan, { splits: [1, 3, 7][seed % 3] ?? 1 });
  const what = differenceOf(expected, found, {
    isOrdered,
    tolerance: /stddev|var_pop/.test(sql) ? 1e-9 : 1e-12,
  });
  return what === undefined ? { kind: 'equal' } : { kind: 'different', what };
}
