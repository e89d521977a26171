import assert from 'node:assert/strict';
import { it } from 'node:test';
import { wrongCredentials } from '../identity-provider.js';
import { createSignInLimits } from './sign-in-limits.js';

const refusalDelayMs = 200;
const maxHeldBack = 1000;
const origin = { clientAddress: '192.0.2.1', signal: new AbortController().signal };

it('a refusal is told after a while, and at once only where too many wait for theirs', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const attempt = refusingLimits();
  await assert.rejects(attempt(), { code: 'UNAUTHENTICATED' });
  let told = 0;
  const refusals = Array.from({ length: maxHeldBack + 5 }, () =>
    attempt().catch(() => {
      told += 1;
    }),
  );
  await settled();
  assert.equal(told, 5);
  mock.timers.tick(refusalDelayMs - 1);
  await settled();
  assert.equal(told, 5);
  mock.timers.tick(1);
  await Promise.all(refusals);
  assert.equal(told, maxHeldBack + 5);
});

/** One wrong password, and every further one is refused. */
function refusingLimits(): () => Promise<never> {
  const limits = createSignInLimits({
    maxFailuresPerUser: 1,
    maxFailuresPerAddress: 100,
    windowMs: 60_000,
    elapsed: () => 0,
    refusalDelayMs,
  });
  return () =>
    limits.attempt('ada', origin, async () => {
      throw wrongCredentials();
    });
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
