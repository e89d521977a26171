/**
 * Generated statements against two services: whatever the policies hide changes no answer. POLICY_STATEMENTS and POLICY_SEED say
 * how many are made, and from which seed on.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { attack } from '../support/attack.js';
import { differenceText } from '../support/difference-text.js';
import { rowFilters } from '../support/policies.js';
import { opened, openTwoWorlds, type TwoWorlds } from '../support/two-worlds.js';
import { generateStatement } from './statement-generator.js';

const { POLICY_STATEMENTS = '500', POLICY_SEED = '1' } = process.env;
const count = Number(POLICY_STATEMENTS);
const firstSeed = Number(POLICY_SEED);
/** Of fewer nothing is said but whether they are answered alike. */
const enough = 20;

let two: TwoWorlds | undefined;
before(async () => {
  two = await openTwoWorlds({ filters: rowFilters });
});
after(async () => await two?.[Symbol.asyncDispose]());

describe(`${count} generated statements, seeds from ${firstSeed}`, () => {
  for (const [index, { name }] of rowFilters.entries())
    it(`are answered alike behind ${name}`, async (context) => {
      const failed: number[] = [];
      let answered = 0;
      let asked = 0;
      for (let seed = firstSeed; seed < firstSeed + count; seed++) {
        if (seed % rowFilters.length !== index) continue;
        const { difference, answer } = await opened(two).compare(
          name,
          attack(`seed ${seed}`, generateStatement(seed)),
        );
        asked += 1;
        if (!/^[A-Z_]+: /.test(answer.said)) answered += 1;
        if (difference === undefined) continue;
        failed.push(seed);
        context.diagnostic(differenceText(difference));
      }
      context.diagnostic(`${answered} of ${asked} answered rows`);
      assert.deepEqual(failed, [], 'these seeds');
      assert.ok(asked < enough || answered > asked / 2, 'most of them answer rows');
    });
});
