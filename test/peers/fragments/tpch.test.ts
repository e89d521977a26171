/**
 * TPC-H through the whole service, in fragments elsewhere: every answer is that of DuckDB on one node, wherever and in how
 * many pieces it was computed. Run by `npm run test:peers -- fragments`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createMetrics } from '@svc/base';
import { createS3Store } from '@svc/lake';
import { until } from '../../service/support/until.js';
import { type Fleet, startFleet } from './fleet.js';
import type { Questions } from './questioner.js';
import { servers } from './servers.js';

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
      await answersAll(fleet, 'workers', ['workers']);
    });

  it('on functions', async () => {
    await answersAll(fleet, 'lambda', ['lambda']);
    assert.ok(fleet.emulator.counts.invocations > 22);
  });

  it('on both, as the service chooses', async () => {
    // One worker has a single slot: it cannot take all that is to be done.
    await Promise.all(fleet.workers.slice(1).map((worker) => worker.kill()));
    await fleet.haveWorkers(1);
    await answersAll(fleet, 'auto', ['workers', 'lambda']);
  });
});

describe('TPC-H where every join hands its smaller side to all fragments, however large that is', () => {
  for (const [how, inlineBytes] of [
    ['within each of them, as far as they can', 2 ** 25],
    ['by the spool', 0],
  ] as const)
    it(how, async () => {
      await using fleet = await startFleet({
        workers: 2,
        env: {
          SVC_FRAGMENTS__BROADCAST_BYTES: String(2 ** 30),
          SVC_FRAGMENTS__BROADCAST_INLINE_BYTES: String(inlineBytes),
        },
      });
      await fleet.haveWorkers(2);
      await answersAll(fleet, 'workers', ['workers']);
      const written = await fleet.metric('svc_s3_bytes_written_total');
      console.log(`${how}: ${written} bytes were put into the spool for workers`);
      if (inlineBytes === 0) assert.ok(written > 0);
      await answersAll(fleet, 'lambda', ['lambda']);
      // A function that others were sooner than may still put what it has there.
      await until('the spool is empty', async () => (await spooled()).length === 0, 60_000);
    });
});

async function answersAll(
  fleet: Fleet,
  execution: Questions['execution'],
  kinds: readonly string[],
): Promise<void> {
  const fragmentRows = () => fleet.metric('svc_fragment_rows_total{place="elsewhere"}');
  const allRows = () => fleet.metric('svc_fragment_rows_total');
  const sent = (kind: string) => fleet.metric(`svc_fragment_tasks_total{executor="${kind}"`);
  const before = await Promise.all([fragmentRows(), allRows(), ...kinds.map(sent)]);
  const { answered, problems } = await fleet.questioner.ask({ execution });
  assert.deepEqual({ answered, problems }, { answered: 22, problems: [] });
  const afterwards = await Promise.all([fragmentRows(), allRows(), ...kinds.map(sent)]);
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

/** What is left in the spool of all fleets. */
async function spooled(): Promise<readonly string[]> {
  const { storage } = servers;
  const { accessKeyId, secretAccessKey } = storage;
  const store = createS3Store({
    endpoint: storage.endpoint,
    region: 'us-east-1',
    access: { kind: 'provider', provide: async () => ({ accessKeyId, secretAccessKey }) },
    metrics: createMetrics(),
  });
  return (await store.list(`s3://${storage.bucket}/spool/`)).map(({ name }) => name);
}
