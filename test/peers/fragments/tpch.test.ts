/**
 * TPC-H through the whole service, in fragments elsewhere: every answer is that of DuckDB on one node, wherever and in how
 * many pieces it was computed. Run by `npm run test:peers -- fragments`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Fleet, startFleet } from './fleet.js';
import type { Questions } from './questioner.js';

/** Of the rows that scans had to read, where statements are not free to run here: tables of this size seldom pay. */
const leastShare = 0.95;

let fleet: Fleet;
before(async () => {
  fleet = await startFleet({ workers: 7 });
});
after(() => fleet?.[Symbol.asyncDispose]());

describe('TPC-H in fragments', () => {
  for (const count of [1, 3, 7])
    it(`on ${count} workers`, async () => {
      await fleet.haveWorkers(count);
      await answersAll('workers', ['workers']);
    });

  it('on functions', async () => {
    await answersAll('lambda', ['lambda']);
    assert.ok(fleet.emulator.counts.invocations > 22);
  });

  it('on both, as the service chooses', async () => {
    await answersAll('auto', ['workers', 'lambda']);
  });
});

async function answersAll(execution: Questions['execution'], kinds: readonly string[]): Promise<void> {
  const ended = (kind: string) => fleet.metric(`svc_fragment_tasks_total{executor="${kind}",outcome="ok"}`);
  const before = await Promise.all([fragmentRows(), allRows(), ...kinds.map(ended)]);
  const { answered, problems } = await fleet.questioner.ask({ execution });
  assert.deepEqual({ answered, problems }, { answered: 22, problems: [] });
  const afterwards = await Promise.all([fragmentRows(), allRows(), ...kinds.map(ended)]);
  const [inFragments = 0, all = 0, ...tasks] = afterwards.map((value, at) => value - (before[at] ?? 0));
  const least = execution === 'auto' ? 0 : leastShare;
  assert.ok(inFragments / all >= least, `${inFragments} of ${all} rows were scanned in fragments`);
  assert.ok(
    tasks.every((count) => count > 0),
    `tasks by ${kinds}: ${tasks}`,
  );
  console.log(
    `${execution}: ${((100 * inFragments) / all).toFixed(2)} % of ${all} rows in fragments; tasks by ${kinds}: ${tasks}`,
  );
}

const fragmentRows = () => fleet.metric('svc_fragment_rows_total{place="elsewhere"}');
const allRows = () => fleet.metric('svc_fragment_rows_total');
