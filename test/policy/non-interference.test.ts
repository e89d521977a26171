/**
 * Non-interference: two services whose tables differ in hidden rows and values, the same policies, the same user. Each attack
 * must be answered in the same words and bytes (test/policy/README.md).
 *
 * POLICY_FILTERS names the forms of filters that the attacks are made under: `all`, or some of `policies.ts`. Without it each
 * attack is made under one of three, in turn.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { allAttacks } from './attacks/all-attacks.js';
import { openLeaks } from './attacks/open-leaks.js';
import type { Attack } from './support/attack.js';
import { differenceText } from './support/difference-text.js';
import { rowFilters } from './support/policies.js';
import { opened, openTwoWorlds, type TwoWorlds } from './support/two-worlds.js';

const { POLICY_FILTERS } = process.env;
const names = (POLICY_FILTERS ?? 'modulo,mapped,equal').split(',');
const filters = rowFilters.filter(({ name }) => names.includes('all') || names.includes(name));

/** Attacks of a group behind the filter of that place. */
function share(attacks: readonly Attack[], place: number): readonly Attack[] {
  return POLICY_FILTERS === undefined
    ? attacks.filter((_each, index) => index % filters.length === place)
    : attacks;
}

let two: TwoWorlds | undefined;
before(async () => {
  two = await openTwoWorlds({ filters });
});
after(async () => await two?.[Symbol.asyncDispose]());

describe('what is hidden changes no answer', () => {
  it('there are at least 200 attacks', () => {
    assert.ok(allAttacks.flatMap(([, attacks]) => attacks).length >= 200);
  });

  for (const [place, { name }] of filters.entries())
    for (const [group, all] of allAttacks) {
      const attacks = share(all, place);
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
    }
});
