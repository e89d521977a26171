import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { fakeClock } from '../../test-support/clock.js';
import { renewWithRetries } from './renew-with-retries.js';
import { unavailable } from './unavailable.js';

const never = new AbortController().signal;
const forTheMoment = () => unavailable('is down');

/** Runs work that fails like this each time, for so long; answers how often it was tried. No delay is waited for. */
async function attemptsOf(failure: () => QueryError, eachTakesMs = 0): Promise<number> {
  const clock = fakeClock();
  let attempts = 0;
  const work = async () => {
    attempts += 1;
    clock.advance(eachTakesMs);
    throw failure();
  };
  const { code } = failure();
  await assert.rejects(renewWithRetries(work, never, { elapsed: clock.now, random: () => -0.5 }), { code });
  return attempts;
}

describe('renewing with retries', () => {
  it('tries four times what fails for the moment', async () => {
    assert.equal(await attemptsOf(forTheMoment), 4);
  });

  it('tries once what was refused, or needs another configuration', async () => {
    assert.equal(await attemptsOf(() => new QueryError('UNAUTHENTICATED', 'Refused.')), 1);
    assert.equal(await attemptsOf(() => unavailable('refuses', { retryable: false })), 1);
  });

  it('begins no attempt after four seconds', async () => {
    assert.equal(await attemptsOf(forTheMoment, 3000), 2);
    assert.equal(await attemptsOf(forTheMoment, 5000), 1);
  });

  it('answers what a later attempt gives', async () => {
    let failures = 2;
    const work = async () => {
      if (failures-- > 0) throw forTheMoment();
      return 'tokens';
    };
    const clock = { elapsed: () => 0, random: () => -0.5 };
    assert.equal(await renewWithRetries(work, never, clock), 'tokens');
  });
});
