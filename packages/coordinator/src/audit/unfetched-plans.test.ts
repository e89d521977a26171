import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UnfetchedPlans } from './unfetched-plans.js';

describe('plans whose run does not come', () => {
  it('are given up after their time, those that ran are not', async () => {
    const { plans, givenUp } = newPlans({ graceMs: 5 });
    plans.planned('1', 'one');
    plans.planned('2', 'two');
    plans.fetched('1');
    assert.deepEqual(await givenUp(1), ['two']);
    plans.planned('3', 'three');
    assert.deepEqual(await givenUp(2), ['two', 'three']);
  });

  it('are given up oldest first when they are too many', async () => {
    const { plans, givenUp } = newPlans({ maxBytes: 8 });
    for (const plan of ['one', 'two', 'six']) plans.planned(plan, plan);
    assert.deepEqual(await givenUp(1), ['one']);
  });

  it('stay when there is only one, however large', async () => {
    const { plans, givenUp } = newPlans({ maxBytes: 2 });
    plans.planned('1', 'long');
    plans.planned('2', 'longer');
    plans.fetched('2');
    plans.flush();
    assert.deepEqual(await givenUp(1), ['long']);
  });

  it('are given up all together at the end', async () => {
    const { plans, givenUp } = newPlans({});
    for (const plan of ['one', 'two']) plans.planned(plan, plan);
    plans.flush();
    plans.fetched('one');
    assert.deepEqual(await givenUp(2), ['one', 'two']);
  });
});

function newPlans({ graceMs = 60_000, maxBytes = 1000 }) {
  const gone: string[] = [];
  let onGone = () => {};
  const plans = new UnfetchedPlans<string>({
    graceMs,
    maxBytes,
    bytesOf: (plan) => plan.length,
    notFetched: (plan) => {
      gone.push(plan);
      onGone();
    },
  });
  /** Holds the process: the timer of the plans does not. */
  const givenUp = async (count: number) => {
    const alive = setInterval(() => {}, 1000);
    while (gone.length < count)
      await new Promise<void>((resolve) => {
        onGone = resolve;
      });
    clearInterval(alive);
    return gone;
  };
  return { plans, givenUp };
}
