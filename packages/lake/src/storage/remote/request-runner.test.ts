import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delay, QueryError } from '@svc/base';
import { done, type Try } from './outcome.js';
import { RequestRunner } from './request-runner.js';
import { StorageTraffic } from './storage-traffic.js';

const passing = new QueryError('STORAGE_ERROR', 'It may pass.');
const request = { bytes: 10, kind: 'x', what: 'it' };
const never = ({ signal }: Try) => delay(60_000, signal).then(() => done('late'));

test('bounds bytes and requests under way', async () => {
  const runner = new RequestRunner({
    traffic: new StorageTraffic({ maxBytesInFlight: 100, maxRequests: 5 }),
    limits: { hedges: false },
  });
  let [bytes, requests, mostBytes, mostRequests] = [0, 0, 0, 0];
  const run = (size: number) =>
    runner.run({ ...request, bytes: size }, async () => {
      [bytes, requests] = [bytes + size, requests + 1];
      [mostBytes, mostRequests] = [Math.max(mostBytes, bytes), Math.max(mostRequests, requests)];
      await delay(1);
      [bytes, requests] = [bytes - size, requests - 1];
      return done(undefined);
    });
  await Promise.all(Array.from({ length: 40 }, (_, index) => run(index % 2 === 0 ? 50 : 1)));
  assert.ok(mostBytes <= 100 && mostRequests <= 5, `${mostBytes} bytes, ${mostRequests} requests`);
});

test('one request larger than the budget is sent nevertheless', async () => {
  const runner = new RequestRunner({ traffic: new StorageTraffic({ maxBytesInFlight: 100 }) });
  assert.equal(await runner.run({ ...request, bytes: 1000 }, async () => done('ok')), 'ok');
});

test('tries again until the last try, and never after a failure that stays', async () => {
  const runner = new RequestRunner({ limits: { maxTries: 3, firstDelayMs: 1 } });
  let tries = 0;
  const failing = runner.run(request, async () => {
    tries += 1;
    return { kind: 'again', error: passing };
  });
  await assert.rejects(failing, passing);
  assert.equal(tries, 3);
  const missing = runner.run(request, async () => {
    tries += 1;
    throw new QueryError('DATA_FILE_MISSING', 'Gone.');
  });
  await assert.rejects(missing, { code: 'DATA_FILE_MISSING' });
  assert.equal(tries, 4);
});

test('a second request takes the place of a late one, which is ended', async () => {
  const runner = new RequestRunner();
  const ended: boolean[] = [];
  const answer = await runner.run(request, async (attempt) => {
    if (!attempt.isFirst) return done('second');
    return never(attempt).finally(() => ended.push(attempt.signal.aborted));
  });
  assert.deepEqual([answer, ended], ['second', [true]]);
});

test('a failure of one of two requests waits for the other', async () => {
  const runner = new RequestRunner({ limits: { maxTries: 1 } });
  let second = () => {};
  const started = new Promise<void>((resolve) => {
    second = resolve;
  });
  const answer = await runner.run(request, async ({ isFirst }) => {
    if (!isFirst) {
      second();
      return { kind: 'again', error: passing };
    }
    await started;
    await delay(20);
    return done('first');
  });
  assert.equal(answer, 'first');
});

test('second requests are few, however late everything is', async () => {
  const runner = new RequestRunner({ limits: { maxSilenceMs: 1400, maxTries: 1 } });
  let seconds = 0;
  const runs = Array.from({ length: 20 }, () =>
    runner.run({ ...request, bytes: 0 }, (attempt) => {
      if (!attempt.isFirst) seconds += 1;
      return never(attempt);
    }),
  );
  const results = await Promise.allSettled(runs);
  assert.ok(results.every(({ status }) => status === 'rejected'));
  assert.ok(seconds <= 3, `${seconds}`);
});

test('an answer that comes slowly but steadily is not asked for again', async () => {
  const runner = new RequestRunner();
  for (let index = 0; index < 10; index += 1) await runner.run(request, async () => done('warm'));
  let tries = 0;
  const answer = await runner.run(request, async ({ heard }) => {
    tries += 1;
    for (let chunk = 0; chunk < 30; chunk += 1) {
      await delay(10);
      heard(1);
    }
    return done('steady');
  });
  assert.deepEqual([answer, tries], ['steady', 1]);
});

test('an abort ends every request under way and waits for none', async () => {
  const runner = new RequestRunner();
  const abort = new AbortController();
  const runs = Array.from({ length: 50 }, () => runner.run({ ...request, signal: abort.signal }, never));
  abort.abort();
  for (const result of await Promise.allSettled(runs))
    assert.equal((result as PromiseRejectedResult).reason.code, 'CANCELLED');
  assert.equal(await runner.run(request, async () => done('free')), 'free');
});
