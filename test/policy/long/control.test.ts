/** Without policies the attacks and the generator must tell the two worlds apart: what is silent then proves nothing later. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { allAttacks } from '../attacks/all-attacks.js';
import { writeAttacks } from '../attacks/writes.js';
import { rowFilters } from '../support/policies.js';
import { opened, openTwoWorlds, type TwoWorlds } from '../support/two-worlds.js';

const [filter] = rowFilters.filter(({ name }) => name === 'modulo');

/** Names, types and refusals are equal whatever the rows are; that they stay so is tried, too. */
const mostSilent = 0.7;
/** Most of what changes something answers how many rows it changed, or that it may not. */
const mostSilentOfWrites = 0.85;

let two: TwoWorlds | undefined;
before(async () => {
  assert.ok(filter);
  two = await openTwoWorlds({ filters: [filter], hasPolicies: false });
});
after(async () => await two?.[Symbol.asyncDispose]());

describe('without policies', () => {
  for (const [group, attacks] of allAttacks)
    it(`attacks tell of hidden values: ${group}`, async (context) => {
      const silent: string[] = [];
      for (const each of attacks) {
        const { difference, answer } = await opened(two).compare('modulo', each);
        if (difference === undefined) silent.push(`${each.attack}: ${answer.said.slice(0, 150)}`);
      }
      context.diagnostic(`${silent.length} of ${attacks.length} are silent:\n${silent.join('\n')}`);
      const most = attacks === writeAttacks ? mostSilentOfWrites : mostSilent;
      assert.ok(silent.length < attacks.length * most, `${silent.length} of ${attacks.length} are silent`);
    });
});
