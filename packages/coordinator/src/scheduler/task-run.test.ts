import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FragmentExecutor, FragmentStatistics } from '@svc/fragment-fn';
import type { SplitState } from './split-queue.js';
import { TaskRun } from './task-run.js';

const statistics: FragmentStatistics = {
  ...{ filesRead: 0, bytesStaged: 0, bytesFetched: 0, rowsScanned: 0n, rowsReturned: 0n },
  ...{ spilledBytes: 0n, peakMemoryBytes: 0n, stagingMs: 0, engineMs: 0 },
};

test('a task is left when others have done its splits, and not when it has answered them itself', () => {
  const states = [1, 2].map((id) => ({ split: { id }, status: 'running' }) as unknown as SplitState);
  const [first, second] = states;
  assert.ok(first !== undefined && second !== undefined);
  const task = new TaskRun({ name: 'w', kind: 'workers' } as FragmentExecutor, states, 0);
  let left = 0;
  task.onLeft = () => {
    left += 1;
  };
  const leftAfter = (change: () => void): number => {
    change();
    task.leaveIfDone();
    return left;
  };
  const done = (state: SplitState) => {
    state.status = 'done';
  };
  assert.equal(
    leftAfter(() => {
      task.end(first, statistics);
      done(first);
    }),
    0,
  );
  assert.equal(
    leftAfter(() => done(second)),
    1,
  );
  assert.equal(
    leftAfter(() => task.end(second, statistics)),
    1,
  );
});
