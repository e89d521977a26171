/**
 * Attacks on statements in stages, with hosts of this process in the place of workers: what is hidden changes no answer, wherever
 * the parts of a statement run.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLocalExecutor } from '@svc/fragment-fn';
import { joinAttacks } from './attacks/joins.js';
import { predicateAttacks } from './attacks/predicates.js';
import { shapeAttacks } from './attacks/shapes.js';
import { generateStatement } from './generate/statement-generator.js';
import { attack } from './support/attack.js';
import { differenceText } from './support/difference-text.js';
import { rowFilters } from './support/policies.js';
import { opened, openTwoWorlds, type TwoWorlds } from './support/two-worlds.js';

const generated = Array.from({ length: 60 }, (_, seed) => attack(`seed ${seed}`, generateStatement(seed)));
const attacks = [...joinAttacks, ...predicateAttacks, ...shapeAttacks, ...generated];
const filters = rowFilters.filter(({ name }) => name === 'modulo' || name === 'mapped');

let two: TwoWorlds | undefined;
before(async () => {
  two = await openTwoWorlds({
    filters,
    service: {
      openExecutors: ({ environmentOf }) => {
        const workers = ['worker a', 'worker b'].map((name) => ({
          ...createLocalExecutor({ slots: 2, environment: environmentOf }),
          name,
        }));
        return { workers: () => workers, lambda: () => undefined };
      },
    },
  });
});
after(async () => await two?.[Symbol.asyncDispose]());

/** Parts of a statement may end in any order. */
const onWorkers = { settings: ['SET svc.execution = workers'], isReordered: true };

describe('what is hidden changes no answer of statements in stages', () => {
  // Each attack behind one of the filters, in turn.
  for (const [place, { name }] of filters.entries())
    it(`behind ${name}`, async (context) => {
      const { services, compare } = opened(two);
      const splitsOf = async () =>
        await Promise.all(
          services.map((service) => service.metric('svc_fragment_splits_total{outcome="ended"}')),
        );
      const before = await splitsOf();
      const differences: string[] = [];
      const share = attacks.filter((_each, index) => index % filters.length === place);
      for (const each of share) {
        const { difference } = await compare(name, each, onWorkers);
        if (difference === undefined) continue;
        differences.push(difference.attack);
        context.diagnostic(differenceText(difference));
      }
      assert.deepEqual(differences, []);
      for (const [index, splits] of (await splitsOf()).entries())
        assert.ok(splits - (before[index] ?? 0) > share.length / 2, 'most of them are divided');
    });
});

describe('what is told of statements in stages', () => {
  it('is not where and how they run, nor what policies say', async () => {
    const explain = 'EXPLAIN SELECT sum(k) FROM people WHERE ssn::INTEGER > 3';
    const { answer } = await opened(two).compare('modulo', attack('reads the plan', explain), onWorkers);
    assert.match(answer.said, /Runs on this node or on workers, whole or in stages: which is not said/);
    assert.doesNotMatch(answer.said, /% 2|OFFSET|stage_|scan_|bytes|splits/);
  });

  it('has no values where an expression fails on a worker, and neither has the log', async () => {
    const failing = attack('makes it fail', "SELECT sum(('x' || ssn)::INTEGER) FROM people");
    const { answer, difference } = await opened(two).compare('modulo', failing, onWorkers);
    assert.equal(difference, undefined);
    assert.match(answer.said, /^EVALUATION_ERROR: .*Which one is not said/);
    for (const service of opened(two).services) {
      const records = service.logRecords();
      assert.ok(records.some(({ message }) => message === 'query runs on one node after all'));
      assert.doesNotMatch(JSON.stringify(records), /Could not convert|secret-\d/);
    }
  });
});
