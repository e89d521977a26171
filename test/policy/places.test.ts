/**
 * Non-interference on local hosts, workers and the function: attacks by hand and generated statements, with `svc.execution` set to
 * each. POLICY_FILTERS=all makes all attacks, POLICY_STATEMENTS so many statements in each place; POLICY_SEED is the first.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { allAttacks } from './attacks/all-attacks.js';
import { wideAttacks } from './attacks/sealed.js';
import { generateStatement } from './generate/statement-generator.js';
import { type Attack, attack } from './support/attack.js';
import { differenceText } from './support/difference-text.js';
import { openPlaces, places } from './support/places.js';
import { rowFilters } from './support/policies.js';
import { opened, type TwoWorlds } from './support/two-worlds.js';

const { POLICY_FILTERS, POLICY_STATEMENTS = '20', POLICY_SEED = '1' } = process.env;
const firstSeed = Number(POLICY_SEED);
/** One whose views need no barrier, one whose need it, one with a subquery. */
const filters = rowFilters.filter(({ name }) => ['equal', 'modulo', 'mapped'].includes(name));
/** Without POLICY_FILTERS every so many of the attacks is made. */
const sparse = 16;

const byHand = allAttacks.flatMap(([, attacks]) => attacks);
const chosen =
  POLICY_FILTERS === undefined
    ? [...wideAttacks, ...byHand.filter((each, index) => index % sparse === 0 && !wideAttacks.includes(each))]
    : byHand;
const generated = Array.from({ length: Number(POLICY_STATEMENTS) }, (_none, index) =>
  attack(`seed ${firstSeed + index}`, generateStatement(firstSeed + index)),
);

let two: TwoWorlds | undefined;
before(async () => {
  two = await openPlaces(filters);
});
after(async () => await two?.[Symbol.asyncDispose]());

/** Each behind one of the filters, in turn. */
async function leaksOf(attacks: readonly Attack[], place: string, onLeak: (text: string) => void) {
  const found: string[] = [];
  for (const [index, each] of attacks.entries()) {
    const { name = '' } = filters[index % filters.length] ?? {};
    const settings = [`SET svc.execution = ${place}`];
    const { difference } = await opened(two).compare(name, each, {
      settings,
      isReordered: place !== 'local',
    });
    if (difference === undefined) continue;
    found.push(difference.attack);
    onLeak(differenceText(difference));
  }
  return found;
}

/** So many splits have been answered elsewhere, in each world. */
async function splits(): Promise<readonly number[]> {
  const { services } = opened(two);
  return await Promise.all(services.map((each) => each.metric('svc_fragment_splits_total{outcome="ended"}')));
}

describe('what is hidden changes no answer, wherever fragments run', () => {
  for (const place of places) {
    it(`${chosen.length} attacks, svc.execution = ${place}`, async (context) => {
      const before = await splits();
      assert.deepEqual(await leaksOf(chosen, place, (text) => context.diagnostic(text)), []);
      const ended = (await splits()).map((count, index) => count - (before[index] ?? 0));
      context.diagnostic(`${ended.join(' and ')} splits`);
      if (place === 'local') assert.deepEqual(ended, [0, 0]);
      else assert.ok(ended.every((count) => count > 1));
    });

    it(`${generated.length} generated statements, seeds from ${firstSeed}, svc.execution = ${place}`, async (context) => {
      assert.deepEqual(await leaksOf(generated, place, (text) => context.diagnostic(text)), []);
    });
  }
});
