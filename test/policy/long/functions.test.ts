/** Non-interference where fragments run on a function: its own bundle under the emulator, for both worlds. Needs the built program. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startLambda, type TestLambda } from '../../service/support/lambda.js';
import { joinAttacks } from '../attacks/joins.js';
import { predicateAttacks } from '../attacks/predicates.js';
import { shapeAttacks } from '../attacks/shapes.js';
import { differenceText } from '../support/difference-text.js';
import { rowFilters } from '../support/policies.js';
import { opened, openTwoWorlds, type TwoWorlds } from '../support/two-worlds.js';

/** Every second one: the emulator takes its time. */
const attacks = [...joinAttacks, ...predicateAttacks, ...shapeAttacks].filter(
  (_each, index) => index % 2 === 0,
);

let lambda: TestLambda | undefined;
let two: TwoWorlds | undefined;
before(async () => {
  const started = await startLambda();
  lambda = started;
  two = await openTwoWorlds({
    filters: rowFilters.filter(({ name }) => name === 'modulo'),
    service: { openExecutors: () => ({ workers: () => [], lambda: () => started.executor }) },
  });
});
after(async () => {
  await two?.[Symbol.asyncDispose]();
  await lambda?.[Symbol.asyncDispose]();
});

async function invocations(): Promise<number> {
  const found = /svc_lambda_invocations_total\{outcome="ok"\} (\d+)/.exec((await lambda?.metrics()) ?? '');
  return Number(found?.[1] ?? 0);
}

describe('what is hidden changes no answer of functions', () => {
  it('behind modulo', async (context) => {
    const differences: string[] = [];
    for (const each of attacks) {
      const { difference } = await opened(two).compare('modulo', each, ['SET svc.execution = lambda']);
      if (difference === undefined) continue;
      differences.push(difference.attack);
      context.diagnostic(differenceText(difference));
    }
    assert.deepEqual(differences, []);
    const made = await invocations();
    context.diagnostic(`${made} invocations for ${attacks.length} attacks in two worlds`);
    assert.ok(made > attacks.length, 'most of them reach the function');
  });
});
