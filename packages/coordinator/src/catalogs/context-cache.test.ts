import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeClock } from '../test-support/clock.js';
import { ContextCache, type Question } from './context-cache.js';

const ttlMs = 1000;
const table: Question = {
  catalogSession: 1,
  catalog: 'lake',
  kind: 'table',
  namespace: ['Sales', 'eu'],
  name: 'Orders',
};
const listing: Question = {
  catalogSession: 1,
  catalog: 'lake',
  kind: 'relations',
  namespace: ['Sales', 'eu'],
};

describe('what a catalog told', () => {
  it('is told again until its time is over, counted from when it was asked', async () => {
    const { get, clock } = newCache();
    assert.equal(await get(table, 'a'), 'a');
    clock.advance(ttlMs - 1);
    assert.equal(await get(table, 'b'), 'a');
    clock.advance(1);
    assert.equal(await get(table, 'c'), 'c');
  });

  it('is old, and not young for ever, when the clock was put back', async () => {
    const { get, clock } = newCache();
    await get(table, 'a');
    clock.advance(-1);
    assert.equal(await get(table, 'b'), 'b');
  });

  it('is told to its own catalog session only', async () => {
    const { get } = newCache();
    await get(table, 'of the first');
    assert.equal(await get({ ...table, catalogSession: 2 }, 'of the second'), 'of the second');
  });

  it('is kept apart by kind and by the exact name', async () => {
    const { get } = newCache();
    const questions: readonly Question[] = [
      table,
      { ...table, kind: 'view' },
      { ...table, name: 'ORDERS' },
      { ...table, namespace: ['Sales.eu'] },
      { ...table, namespace: ['Sales', 'eu', 'Orders'] },
    ];
    for (const [index, question] of questions.entries()) await get(question, String(index));
    for (const [index, question] of questions.entries())
      assert.equal(await get(question, 'again'), String(index));
  });

  it('is not kept when it was an error, or is not to be kept, or is larger than everything', async () => {
    const { get, cache } = newCache();
    await assert.rejects(
      cache.get(table, () => Promise.reject(new RangeError('down')), undefined),
      RangeError,
    );
    assert.equal(await cache.get(table, async () => ({ value: 'a', bytes: undefined }), undefined), 'a');
    assert.equal(await get(table, 'b', 1e9), 'b');
    assert.equal(await get(table, 'c'), 'c');
    assert.equal(await get(table, 'd'), 'c');
  });

  it('takes a bounded number of bytes, and what was not used for longest goes first', async () => {
    const { get, cache } = newCache({ maxBytes: 100_000 });
    for (let id = 0; id < 50; id += 1) {
      await get({ ...table, catalogSession: id }, 'a', 8_000);
      await get({ ...table, catalogSession: 0 }, 'b', 8_000);
    }
    assert.ok(cache.usedBytes <= 100_000 && cache.usedBytes > 80_000, `${cache.usedBytes}`);
    assert.equal(await get({ ...table, catalogSession: 0 }, 'c'), 'a');
    assert.equal(await get({ ...table, catalogSession: 1 }, 'c'), 'c');
  });
});

describe('asking a catalog', () => {
  it('is done once for all who ask the same at the same time', async () => {
    const { cache, asked, answer } = slowCache();
    const waiting = [1, 2, 3].map(() => cache.get(table, asked.ask, undefined));
    answer('a');
    assert.deepEqual(await Promise.all(waiting), ['a', 'a', 'a']);
    assert.equal(asked.count, 1);
  });

  it('goes on for the others when one of those who wait gives up', async () => {
    const { cache, asked, answer } = slowCache();
    const controller = new AbortController();
    const givingUp = cache.get(table, asked.ask, controller.signal);
    const waiting = cache.get(table, asked.ask, undefined);
    controller.abort();
    await assert.rejects(givingUp, { code: 'CANCELLED' });
    answer('a');
    assert.equal(await waiting, 'a');
    assert.equal(asked.signals[0]?.aborted, false);
  });

  it('ends when nobody waits any more, and the next one asks anew', async () => {
    const { cache, asked, answer } = slowCache();
    const controller = new AbortController();
    const givingUp = cache.get(table, asked.ask, controller.signal);
    controller.abort();
    await assert.rejects(givingUp, { code: 'CANCELLED' });
    assert.equal(asked.signals[0]?.aborted, true);
    const next = cache.get(table, asked.ask, undefined);
    answer('of the first');
    answer('a');
    assert.equal(await next, 'a');
    assert.equal(asked.count, 2);
  });

  it('is not begun for somebody who has given up already', async () => {
    const { cache, asked } = slowCache();
    await assert.rejects(cache.get(table, asked.ask, AbortSignal.abort()), { code: 'CANCELLED' });
    assert.equal(asked.count, 0);
  });

  it('before a change answers those who asked then, and nobody after it', async () => {
    const { cache, asked, answer } = slowCache();
    const before = cache.get(table, asked.ask, undefined);
    cache.dropRelation('lake', { namespace: ['sales', 'EU'], name: 'orders' });
    const after = cache.get(table, asked.ask, undefined);
    answer('old');
    assert.equal(await before, 'old');
    answer('new');
    assert.equal(await after, 'new');
    assert.equal(await cache.get(table, asked.ask, undefined), 'new');
  });
});

describe('a change', () => {
  const other: Question = { ...table, name: 'others' };
  const elsewhere: Question = { ...table, catalog: 'second' };
  const above: Question = { catalogSession: 1, catalog: 'lake', kind: 'namespaces', namespace: [] };
  const beside: Question = { ...table, namespace: ['Sales', 'eu2'] };
  const cases: Readonly<Record<string, readonly [(cache: ContextCache) => void, readonly Question[]]>> = {
    'of a table is seen by all, also in the listing of its schema': [
      (cache) => cache.dropRelation('lake', { namespace: ['sales', 'eu'], name: 'ORDERS' }),
      [table, { ...table, catalogSession: 2 }, listing],
    ],
    'of a schema is seen in everything in it, and in the listing of schemas': [
      (cache) => cache.dropSchema('lake', ['SALES']),
      [table, { ...table, catalogSession: 2 }, listing, other, beside, above],
    ],
    'of the rights of one catalog session drops what that one was told': [
      (cache) => cache.dropCatalogSession(1),
      [table, listing, other, above, beside],
    ],
  };
  for (const [name, [change, dropped]] of Object.entries(cases))
    it(name, async () => {
      const { get, cache } = newCache();
      const second = { ...elsewhere, catalogSession: 3 };
      const all = [table, { ...table, catalogSession: 2 }, listing, other, second, above, beside];
      for (const question of all) await get(question, 'old');
      change(cache);
      for (const question of all)
        assert.equal(
          cache.has(question),
          !dropped.some((each) => isSame(each, question)),
          JSON.stringify(question),
        );
    });

  it('leaves nothing behind of what it drops', async () => {
    const { get, cache } = newCache();
    for (const question of [table, listing, other, above]) await get(question, 'a');
    cache.clear();
    assert.equal(cache.usedBytes, 0);
    assert.equal(await get(table, 'b'), 'b');
  });
});

function isSame(left: Question, right: Question): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function newCache({ maxBytes = 1_000_000 } = {}) {
  const clock = fakeClock();
  const cache = new ContextCache({ ttlMs, maxBytes, now: clock.now });
  const get = (question: Question, value: string, bytes: number | undefined = 10) =>
    cache.get(question, async () => ({ value, bytes }), undefined);
  return { cache, clock, get };
}

/** Answers when it is told to. */
function slowCache() {
  const { cache } = newCache();
  const answers: ((value: string) => void)[] = [];
  const asked = {
    count: 0,
    signals: [] as AbortSignal[],
    ask: async (signal: AbortSignal) => {
      asked.count += 1;
      asked.signals.push(signal);
      const value = await new Promise<string>((resolve) => answers.push(resolve));
      return { value, bytes: 10 };
    },
  };
  /** The oldest question. */
  const answer = (value: string) => answers.shift()?.(value);
  return { cache, asked, answer };
}
