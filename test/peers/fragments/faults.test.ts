/**
 * Workers that are killed, stopped and drained, functions that are killed, throttled and slow: no statement fails, none is
 * answered wrong. Run by `npm run test:peers -- fragments`, and for longer by `npm run soak`. The seed repeats what is asked
 * and what is done when; what is running then is the machine's.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../../soak/seeded-random.js';
import { type Fleet, startFleet } from './fleet.js';
import type { Answers, Questions } from './questioner.js';
import { servers } from './servers.js';
import type { WorkerSlot } from './worker-slot.js';

const { queries: count, seed, compares } = servers;
const connections = 2;
/** Longer than a worker may say nothing. */
const stoppedMs = 17_000;

let fleet: Fleet;
before(async () => {
  fleet = await startFleet({ workers: 4 });
});
after(() => fleet?.[Symbol.asyncDispose]());

describe(`${count} statements, seed ${seed}`, () => {
  it('while workers are killed, stopped and drained, and one lives', async () => {
    await fleet.haveWorkers(4);
    const questions: Questions = { execution: 'workers', count, seed, connections };
    const calm = compares ? await answered(questions) : undefined;
    const [, killed, drained, stopped] = fleet.workers;
    assert.ok(killed !== undefined && drained !== undefined && stopped !== undefined);
    const over = new AbortController();
    const disturbing = Promise.all([
      killAgain(killed, over.signal),
      drainAgain(drained, over.signal),
      stopAgain(stopped, over.signal),
    ]);
    try {
      const disturbed = await answered({ ...questions, least_seconds: (stoppedMs + 5000) / 1000 });
      report('workers', calm, disturbed);
    } finally {
      over.abort();
      const [kills, drains, stops] = await disturbing;
      console.log(`workers: killed ${kills} times, drained ${drains}, stopped ${stops}`);
    }
    assert.ok((await fleet.metric('svc_fragment_splits_total{outcome="sent_again"}')) > 0);
  });

  it('while functions are killed, throttled and slow', async () => {
    const questions: Questions = { execution: 'lambda', count, seed, connections };
    const calm = compares ? await answered(questions) : undefined;
    fleet.emulator.setFaults({ seed, kill: 0.05, throttle: 0.2, slow: 0.02 });
    const disturbed = await answered(questions);
    fleet.emulator.setFaults(undefined);
    report('functions', calm, disturbed);
    const { killed, throttled, slowed } = fleet.emulator.counts;
    console.log(`functions: killed ${killed}, throttled ${throttled}, slowed ${slowed}`);
    assert.ok(killed > 0 && throttled > 0);
  });
});

async function answered(questions: Questions): Promise<Answers> {
  const answers = await fleet.questioner.ask(questions);
  assert.deepEqual(answers.problems, []);
  assert.ok(answers.answered >= count);
  return answers;
}

function report(what: string, calm: Answers | undefined, disturbed: Answers): void {
  console.log(`${what}: ${disturbed.answered} statements answered under faults`);
  if (calm === undefined) return;
  const [before, under] = [percentile99(calm.seconds), percentile99(disturbed.seconds)];
  console.log(
    `${what}: p99 ${under.toFixed(2)} s, without faults ${before.toFixed(2)} s: ${(under / before).toFixed(2)} ×`,
  );
}

function percentile99(seconds: readonly number[]): number {
  return seconds.toSorted((a, b) => a - b)[Math.ceil(seconds.length * 0.99) - 1] ?? Number.NaN;
}

async function killAgain(worker: WorkerSlot, signal: AbortSignal): Promise<number> {
  const random = seededRandom(seed);
  for (let kills = 0; ; kills += 1) {
    if (!(await waited(random.between(300, 3000), signal))) return kills;
    await worker.kill();
    await waited(random.between(0, 1500), signal);
    await worker.start();
  }
}

async function drainAgain(worker: WorkerSlot, signal: AbortSignal): Promise<number> {
  const random = seededRandom(seed + 1);
  for (let drains = 0; ; drains += 1) {
    if (!(await waited(random.between(500, 3000), signal))) return drains;
    assert.equal(await worker.drain(), 0);
    await worker.start();
  }
}

async function stopAgain(worker: WorkerSlot, signal: AbortSignal): Promise<number> {
  for (let stops = 0; ; stops += 1) {
    if (!(await waited(1000, signal))) return stops;
    worker.signal('SIGSTOP');
    await waited(stoppedMs, signal);
    worker.signal('SIGCONT');
  }
}

/** False where the signal came first. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  return await delay(ms, true, { signal }).catch(() => false);
}
