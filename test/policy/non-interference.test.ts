/**
 * Non-interference: two services whose tables differ in hidden rows and values, the same policies, the same user. Each attack
 * must be answered in the same words and bytes (test/policy/README.md).
 *
 * POLICY_FILTERS names the forms of filters that the attacks are made under: `all`, or some of `policies.ts`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { allAttacks } from './attacks/all-attacks.js';
import { openLeaks } from './attacks/open-leaks.js';
import { differenceText } from './support/difference-text.js';
import { rowFilters } from './support/policies.js';
import { opened, openTwoWorlds, type TwoWorlds } from './support/two-worlds.js';

const { POLICY_FILTERS = 'equal,modulo,mapped' } = process.env;
const filters = rowFilters.filter(
  ({ name }) => POLICY_FILTERS === 'all' || POLICY_FILTERS.split(',').includes(name),
);

let two: TwoWorlds | undefined;
before(async () => {
  two = await openTwoWorlds({ filters });
});
after(async () => await two?.[Symbol.asyncDispose]());

describe('what is hidden changes no answer', () => {
  it('there are at least 200 attacks', () => {
    assert.ok(allAttacks.flatMap(([, attacks]) => attacks).length >= 200);
  });

  for (const { name } of filters)
    for (const [group, attacks] of allAttacks)
      it(`${group}, behind ${name}`, async (context) => {
        const differences: string[] = [];
        let refused = 0;
        for (const each of attacks) {
          const { difference, answer } = await opened(two).compare(name, each);
          if (difference !== undefined) {
            differences.push(difference.attack);
            context.diagnostic(differenceText(difference));
          }
          if (/^[A-Z_]+: /.test(answer.said)) refused += 1;
        }
        context.diagnostic(
          `${attacks.length - refused} of ${attacks.length} are answered, the others refused`,
        );
        assert.deepEqual(
          differences,
          attacks.map((each) => each.attack).filter((words) => words in openLeaks),
        );
      });
});
