import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { Admission, type AdmissionOptions, type AdmissionTicket } from './admission.js';

/** Ends whatever a test leaves in a queue: its timers would keep the process alive. */
let testEnd = new AbortController();
afterEach(() => {
  testEnd.abort();
  testEnd = new AbortController();
});

describe('admission', () => {
  it('lets as many run as the cap allows and queues the next', async () => {
    const admission = newAdmission({ maxConcurrent: 2 });
    await admission.enter(testEnd.signal);
    await admission.enter(testEnd.signal);
    const third = enter(admission);
    assert.deepEqual(countsOf(admission), { running: 2, queued: 1 });
    await assertWaiting(third);
  });

  it('admits in the order of arrival', async () => {
    const admission = newAdmission({ maxConcurrent: 1 });
    const first = await admission.enter(testEnd.signal);
    const order: number[] = [];
    const places = [1, 2, 3].map(async (number) => {
      const place = await admission.enter(testEnd.signal);
      order.push(number);
      place[Symbol.dispose]();
    });
    first[Symbol.dispose]();
    await Promise.all(places);
    assert.deepEqual(order, [1, 2, 3]);
    assert.deepEqual(countsOf(admission), { running: 0, queued: 0 });
  });

  it('hands a place to the queue before a newcomer can take it', async () => {
    const admission = newAdmission({ maxConcurrent: 1 });
    const first = await admission.enter(testEnd.signal);
    const queued = enter(admission);
    first[Symbol.dispose]();
    const newcomer = enter(admission);
    (await queued.place)[Symbol.dispose]();
    await newcomer.place;
    assert.deepEqual(countsOf(admission), { running: 1, queued: 0 });
  });

  it('takes a place back only once', async () => {
    const admission = newAdmission({ maxConcurrent: 2 });
    const first = await admission.enter(testEnd.signal);
    await admission.enter(testEnd.signal);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    assert.equal(admission.running, 1);
  });

  it('refuses with QUEUE_FULL, which may be retried, when too many wait', async () => {
    const admission = newAdmission({ maxConcurrent: 1, maxQueued: 1 });
    await admission.enter(testEnd.signal);
    enter(admission);
    await assert.rejects(admission.enter(testEnd.signal), (error) => {
      assert.ok(error instanceof QueryError);
      assert.deepEqual([error.code, error.retryable], ['QUEUE_FULL', true]);
      assert.match(error.message, /query\.max_queued/);
      return true;
    });
    assert.deepEqual(countsOf(admission), { running: 1, queued: 1 });
  });

  it('with no queue at all refuses whatever cannot run at once', async () => {
    const admission = newAdmission({ maxConcurrent: 1, maxQueued: 0 });
    await admission.enter(testEnd.signal);
    await assert.rejects(admission.enter(testEnd.signal), { code: 'QUEUE_FULL' });
  });

  it('ends the wait with QUEUE_TIMEOUT and forgets who waited', async () => {
    const admission = newAdmission({ maxConcurrent: 1, queueTimeoutMs: 5 });
    const first = await admission.enter(testEnd.signal);
    await assert.rejects(admission.enter(testEnd.signal), { code: 'QUEUE_TIMEOUT' });
    assert.deepEqual(countsOf(admission), { running: 1, queued: 0 });
    first[Symbol.dispose]();
    assert.equal(admission.running, 0);
  });

  it("ends the wait with the signal's own reason, at once and without a trace", async () => {
    const admission = newAdmission({ maxConcurrent: 1 });
    await admission.enter(testEnd.signal);
    const controller = new AbortController();
    const behind = enter(admission, controller.signal);
    const after = enter(admission);
    controller.abort(new QueryError('SESSION_EXPIRED', 'Gone.'));
    await assert.rejects(behind.place, { code: 'SESSION_EXPIRED' });
    assert.deepEqual(countsOf(admission), { running: 1, queued: 1 });
    await assertWaiting(after);
  });

  it('does not queue a caller who has gone already', async () => {
    const admission = newAdmission({ maxConcurrent: 1 });
    await admission.enter(testEnd.signal);
    await assert.rejects(admission.enter(AbortSignal.abort()), { code: 'CANCELLED' });
    assert.deepEqual(countsOf(admission), { running: 1, queued: 0 });
  });
});

describe('a place that comes free just as its waiter goes', () => {
  it('passes to the next when the abort was first', async () => {
    const admission = newAdmission({ maxConcurrent: 1 });
    const first = await admission.enter(testEnd.signal);
    const controller = new AbortController();
    const gone = enter(admission, controller.signal);
    const next = enter(admission);
    controller.abort();
    first[Symbol.dispose]();
    await assert.rejects(gone.place, { code: 'CANCELLED' });
    (await next.place)[Symbol.dispose]();
    assert.deepEqual(countsOf(admission), { running: 0, queued: 0 });
  });

  it('is still accounted for when the admission was first', async () => {
    const admission = newAdmission({ maxConcurrent: 1 });
    const first = await admission.enter(testEnd.signal);
    const controller = new AbortController();
    const gone = enter(admission, controller.signal);
    const next = enter(admission);
    first[Symbol.dispose]();
    controller.abort();
    // Either answer is right for the one who went; nobody else may notice.
    await gone.place.then(
      (place) => place[Symbol.dispose](),
      () => undefined,
    );
    (await next.place)[Symbol.dispose]();
    assert.deepEqual(countsOf(admission), { running: 0, queued: 0 });
  });
});

describe('draining', () => {
  it('refuses newcomers with SHUTTING_DOWN, which may be retried, and still runs the queue', async () => {
    const admission = newAdmission({ maxConcurrent: 1 });
    const first = await admission.enter(testEnd.signal);
    const queued = enter(admission);
    admission.drain();
    assert.throws(() => admission.throwIfDraining(), { code: 'SHUTTING_DOWN', retryable: true });
    await assert.rejects(admission.enter(testEnd.signal), { code: 'SHUTTING_DOWN', retryable: true });
    first[Symbol.dispose]();
    (await queued.place)[Symbol.dispose]();
    assert.equal(admission.running, 0);
  });
});

describe('many queries with random ends', () => {
  it('never exceed the cap and leave nothing behind', async () => {
    const admission = newAdmission({ maxConcurrent: 3 });
    const seed = Date.now();
    const random = generator(seed);
    let greatest = 0;
    const one = async () => {
      const controller = new AbortController();
      const waiting = enter(admission, controller.signal);
      for (let turn = random() % 4; turn > 0; turn -= 1) await nextTurn();
      if (random() % 3 === 0) controller.abort();
      try {
        using _place = await waiting.place;
        greatest = Math.max(greatest, admission.running);
        for (let turn = random() % 3; turn > 0; turn -= 1) await nextTurn();
      } catch (error) {
        assert.ok(error instanceof QueryError && error.code === 'CANCELLED', `seed ${seed}`);
      }
    };
    await Promise.all(Array.from({ length: 200 }, one));
    assert.equal(greatest, 3, `seed ${seed}`);
    assert.deepEqual(countsOf(admission), { running: 0, queued: 0 }, `seed ${seed}`);
  });
});

function newAdmission(options: Partial<AdmissionOptions>): Admission {
  return new Admission({ maxConcurrent: 1, maxQueued: 1000, queueTimeoutMs: 60_000, ...options });
}

interface Entering {
  readonly place: Promise<AdmissionTicket>;
}

/** Enters without waiting: an object, so that nothing awaits it by accident. */
function enter(admission: Admission, signal: AbortSignal = testEnd.signal): Entering {
  const place = admission.enter(signal);
  place.catch(() => undefined);
  return { place };
}

function countsOf(admission: Admission) {
  return { running: admission.running, queued: admission.queued };
}

async function assertWaiting({ place }: Entering): Promise<void> {
  const first = await Promise.race([place.then(() => 'admitted'), nextTurn().then(() => 'waiting')]);
  assert.equal(first, 'waiting');
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
}
