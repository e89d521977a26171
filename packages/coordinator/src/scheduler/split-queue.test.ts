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

  it('of an executor that does not answer run elsewhere at once, all of them, and once', () => {
    let now = 0;
    let isSilent = false;
    const a: FragmentExecutor = Object.defineProperty(executor('a'), 'isSilent', { get: () => isSilent });
    const [b, c] = [executor('b'), executor('c')];
    const all = [a, b, c];
    const queue = new SplitQueue(splits(30), () => now);
    const taken = [];
    for (let next = queue.take([a], all); next !== undefined; next = queue.take([a], all))
      taken.push(...next.states);
    now = 100;
    assert.equal(queue.take([b], all), undefined);
    isSilent = true;
    const again = [];
    for (; now < 10_000; now += 100) again.push(...(queue.take(all, all)?.states ?? []));
    assert.deepEqual(again, taken);
    for (const state of again) {
      assert.deepEqual(
        state.runs.map((run) => run.executor.name),
        ['a', 'b'],
      );
      queue.leave(state, 'b');
    }
    for (; now < 11_000; now += 100) assert.equal(queue.take([a], all), undefined);
    for (const state of taken) assert.equal(queue.end(state, 1), true);
    assert.equal(queue.isDone, true);
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

  it('take the same work each, however many there are', () => {
    const asked = (count: number) => {
      let names = 0;
      const all = ['a', 'b', 'c', 'd'].map((name) => ({
        ...executor(name, 4),
        get name() {
          names += 1;
          return name;
        },
      }));
      const queue = new SplitQueue(splits(count), () => 0);
      let ended = 0;
      while (!queue.isDone)
        for (const each of all)
          for (const state of queue.take([each], all)?.states ?? []) {
            ended += 1;
            queue.end(state, 1);
          }
      assert.equal(ended, count);
      return names / count;
    };
    const [few, many] = [asked(500), asked(10_000)];
    assert.ok(many < few * 1.5, `${many} questions for each of many, ${few} for each of few`);
  });

  it('that were given up are run after those that wait, once', () => {
    const all = ['a', 'b'].map((name) => executor(name));
    const [a, b] = all;
    assert.ok(a && b);
    const queue = new SplitQueue(splits(30), () => 0);
    const lost = queue.take([a], all)?.states ?? [];
    for (const state of lost) {
      state.failedOn.add('a');
      queue.leave(state, 'a');
    }
    const ran: number[] = [];
    for (const from of [a, b])
      for (let next = queue.take([from], all); next !== undefined; next = queue.take([from], all)) {
        if (from === a) assert.ok(!next.states.some((state) => lost.includes(state)));
        ran.push(...next.states.map(({ split }) => split.id));
        for (const state of next.states) queue.end(state, 1);
      }
    assert.deepEqual(
      ran.toSorted((x, y) => x - y),
      splits(30).map(({ id }) => id),
    );
    assert.equal(queue.isDone, true);
  });

  it('stay to be run when executors come and go', () => {
    const [a, b] = ['a', 'b'].map((name) => executor(name));
    assert.ok(a && b);
    const queue = new SplitQueue(splits(20), () => 0);
    const first = queue.take([a], [a])?.states ?? [];
    for (const state of first) queue.leave(state, 'a');
    assert.equal(queue.take([], []), undefined);
    const [done] = first;
    assert.ok(done && queue.end(done, 1));
    const ran = new Set<number>();
    for (let next = queue.take([b], [a, b]); next !== undefined; next = queue.take([b], [a, b]))
      for (const { split } of next.states) ran.add(split.id);
    assert.equal(ran.size, 19);
    assert.ok(!ran.has(done.split.id));
  });
});
