import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { ByteCache } from './byte-cache.js';

function counted(cache: ByteCache) {
  const loads: string[] = [];
  const get = (key: string, bytes = 10) =>
    cache.get(key, async () => {
      loads.push(key);
      return { value: key.toUpperCase(), bytes };
    });
  return { loads, get };
}

test('keeps within its bytes, and lets go what was not used for longest', async () => {
  const cache = new ByteCache(30);
  const { loads, get } = counted(cache);
  for (const key of ['a', 'b', 'c', 'a', 'd', 'a', 'b']) assert.equal(await get(key), key.toUpperCase());
  assert.deepEqual(loads, ['a', 'b', 'c', 'd', 'b']);
  assert.equal(cache.usedBytes, 30);
});

test('what is larger than the whole cache is answered and not kept', async () => {
  const cache = new ByteCache(30);
  const { loads, get } = counted(cache);
  await get('a');
  assert.equal(await get('big', 31), 'BIG');
  await get('a');
  assert.deepEqual(loads, ['a', 'big']);
  assert.equal(cache.usedBytes, 10);
});

test('loads at the same time are one load; a failure is not remembered', async () => {
  const cache = new ByteCache(100);
  const { loads, get } = counted(cache);
  assert.deepEqual(await Promise.all([get('a'), get('a'), get('a')]), ['A', 'A', 'A']);
  assert.deepEqual(loads, ['a']);
  const failing = () => cache.get('bad', () => Promise.reject(new Error('no')));
  await assert.rejects(failing(), /no/);
  assert.equal(await get('bad'), 'BAD');
});

test('a load that fails by the credentials of one caller is made again by the others, one that fails by its file is not', async () => {
  const cache = new ByteCache(100);
  const refused = (code: 'SESSION_EXPIRED' | 'DATA_CORRUPT') => async () => {
    await Promise.resolve();
    throw new QueryError(code, 'No.');
  };
  const own = async () => ({ value: 'mine', bytes: 1 });
  const expired = cache.get('a', refused('SESSION_EXPIRED'));
  const [first, second] = await Promise.allSettled([expired, cache.get('a', own)]);
  assert.equal(first.status, 'rejected');
  assert.deepEqual(second, { status: 'fulfilled', value: 'mine' });
  const corrupt = cache.get('b', refused('DATA_CORRUPT'));
  const joined = cache.get('b', own);
  await assert.rejects(corrupt, { code: 'DATA_CORRUPT' });
  await assert.rejects(joined, { code: 'DATA_CORRUPT' });
});

test('all who waited for a load that failed by its caller make one together, whose bytes count once', async () => {
  const cache = new ByteCache(100);
  const { loads, get } = counted(cache);
  const expired = cache.get('a', async () => {
    await Promise.resolve();
    throw new QueryError('SESSION_EXPIRED', 'No.');
  });
  const waiting = [get('a'), get('a'), get('a')];
  await assert.rejects(expired, { code: 'SESSION_EXPIRED' });
  assert.deepEqual(await Promise.all(waiting), ['A', 'A', 'A']);
  assert.deepEqual(loads, ['a']);
  assert.equal(cache.usedBytes, 10);
});

test('where the loads of all callers fail, none waits for more than two others', async () => {
  const cache = new ByteCache(100);
  let [loading, most, count] = [0, 0, 0];
  const refused = async () => {
    loading += 1;
    count += 1;
    most = Math.max(most, loading);
    await new Promise(setImmediate);
    loading -= 1;
    throw new QueryError('SESSION_EXPIRED', 'No.');
  };
  const ended = await Promise.allSettled(Array.from({ length: 10 }, () => cache.get('a', refused)));
  assert.ok(ended.every(({ status }) => status === 'rejected'));
  assert.deepEqual([count, most], [10, 8]);
});

test('a caller that gives up leaves the load to the others', async () => {
  const cache = new ByteCache(100);
  let finish: (() => void) | undefined;
  const load = async () => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return { value: 'done', bytes: 1 };
  };
  const controller = new AbortController();
  const givingUp = cache.get('a', load, controller.signal);
  const waiting = cache.get('a', load);
  controller.abort();
  await assert.rejects(givingUp, { code: 'CANCELLED' });
  finish?.();
  assert.equal(await waiting, 'done');
});

test('of several values only those that are not kept are loaded, together', async () => {
  const cache = new ByteCache(30);
  const loads: (readonly number[])[] = [];
  const getAll = (keys: readonly string[]) =>
    cache.getAll(keys, async (missing) => {
      loads.push(missing);
      return missing.map((index) => ({ value: keys[index]?.toUpperCase(), bytes: 10 }));
    });
  assert.deepEqual(await getAll(['a', 'b']), ['A', 'B']);
  assert.deepEqual(await getAll(['c', 'a', 'd']), ['C', 'A', 'D']);
  assert.deepEqual(await getAll(['a', 'd']), ['A', 'D']);
  assert.deepEqual(loads, [
    [0, 1],
    [0, 2],
  ]);
  assert.equal(cache.usedBytes, 30);
});
