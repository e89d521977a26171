import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FragmentExecutor, FragmentSplit } from '@svc/fragment-fn';
import { preferredExecutor } from './placement.js';
import { SplitQueue } from './split-queue.js';

function executor(name: string, slots = 1, kind: FragmentExecutor['kind'] = 'workers'): FragmentExecutor {
  return { name, kind, slots, start: () => Promise.reject(new Error('not reached')) };
}

function splits(count: number): readonly FragmentSplit[] {
  return Array.from({ length: count }, (_, id) => ({
    id,
    scan: { tableName: 't', groups: [{ files: [{ location: `s3://bucket/file-${id}.parquet` }] }] },
  })) as unknown as readonly FragmentSplit[];
}

describe('placement', () => {
  const keys = Array.from({ length: 3000 }, (_, index) => Math.imul(index, 2654435761) >>> 0);
  const three = ['a', 'b', 'c'].map((name) => executor(name));

  it('spreads files, and keeps them where they are when an executor comes', () => {
    const placed = keys.map((key) => preferredExecutor(key, three)?.name);
    for (const { name } of three) {
      const share = placed.filter((each) => each === name).length;
      assert.ok(share > 800 && share < 1200, `${name} has ${share}`);
    }
    const four = [...three, executor('d')];
    const moved = keys.filter((key, index) => {
      const now = preferredExecutor(key, four)?.name;
      return now !== placed[index] && now !== 'd';
    });
    assert.equal(moved.length, 0);
  });
});

describe('splits of a stage', () => {
  it('go to where their files are placed, then to whoever is free', () => {
    const all = ['a', 'b'].map((name) => executor(name));
    const queue = new SplitQueue(splits(40), () => 0);
    const first = queue.take(all, all);
    assert.ok(first !== undefined && first.states.length > 1);
    for (const { place } of first.states)
      assert.equal(preferredExecutor(place, all)?.name, first.executor.name);
    const taken = new Set(first.states.map(({ split }) => split.id));
    const [a] = all;
    assert.ok(a);
    for (let next = queue.take([a], all); next !== undefined; next = queue.take([a], all))
      for (const { split } of next.states) {
        assert.ok(!taken.has(split.id));
        taken.add(split.id);
      }
    assert.equal(taken.size, 40);
  });

  it('go back to who failed with them only when there is nobody else', () => {
    const all = ['a', 'b'].map((name) => executor(name));
    const [a, b] = all;
    assert.ok(a && b);
    const queue = new SplitQueue(splits(1), () => 0);
    const state = queue.take([a], all)?.states[0];
    assert.ok(state);
    state.failedOn.add('a');
    queue.leave(state, 'a');
    assert.equal(queue.take([a], all), undefined);
    assert.equal(queue.take([a], all, [a])?.states[0], state);
    queue.leave(state, 'a');
    assert.equal(queue.take([b], all)?.states[0], state);
  });

  it('are few in a task where many slots want them', () => {
    const lambda = executor('lambda', 1000, 'lambda');
    const queue = new SplitQueue(splits(100), () => 0);
    assert.equal(queue.take([lambda], [lambda])?.states.length, 1);
  });

  it('that are late run a second time elsewhere, a bounded number of them', () => {
    let now = 0;
    const all = ['a', 'b'].map((name) => executor(name));
    const [a, b] = all;
    assert.ok(a && b);
    const queue = new SplitQueue(splits(4), () => now);
    const states = [];
    for (let next = queue.take([a], all); next !== undefined; next = queue.take([a], all))
      states.push(...next.states);
    const [quick, ...slow] = states;
    assert.ok(quick);
    now = 100;
    assert.equal(queue.end(quick, 100), true);
    assert.equal(queue.take([b], all), undefined);
    now = 1000;
    assert.equal(queue.take([a], all), undefined);
    const again = [];
    for (; now < 3000; now += 100) again.push(...(queue.take([b], all)?.states ?? []));
    assert.deepEqual(again, slow.slice(0, 2));
    const [late] = again;
    assert.ok(late);
    assert.equal(queue.end(late, 10), true);
    assert.equal(queue.end(late, 10), false);
  });

  it('that have left are to be run again, unless they run elsewhere or have ended', () => {
    const a = executor('a');
    const queue = new SplitQueue(splits(1), () => 0);
    const state = queue.take([a], [a])?.states[0];
    assert.ok(state);
    queue.leave(state, 'a');
    assert.equal(queue.hasPending, true);
    queue.take([a], [a]);
    queue.end(state, 1);
    queue.leave(state, 'a');
    assert.equal(queue.hasPending, false);
    assert.equal(queue.isDone, true);
  });
});
