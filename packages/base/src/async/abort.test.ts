import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { QueryError } from '../errors/query-error.js';
import { abortable, delay, linkAbort, throwIfAborted } from './abort.js';

const never = new Promise<never>(() => undefined);
const shutdown = new QueryError('SHUTTING_DOWN', 'Draining.');

describe('throwIfAborted', () => {
  it('throws the reason as a QueryError, and never an internal error', () => {
    throwIfAborted(undefined);
    throwIfAborted(new AbortController().signal);
    const reasons = [
      shutdown,
      undefined,
      'gone',
      new Error('socket closed'),
      new DOMException('', 'TimeoutError'),
    ];
    const codes = reasons.map((reason) => codeOf(() => throwIfAborted(AbortSignal.abort(reason))));
    assert.deepEqual(codes, ['SHUTTING_DOWN', 'CANCELLED', 'CANCELLED', 'CANCELLED', 'QUERY_TIMEOUT']);
  });

  it('keeps an internal error that is the reason itself', () => {
    const defect = new QueryError('INTERNAL_ERROR', 'A defect.');
    assert.throws(() => throwIfAborted(AbortSignal.abort(defect)), defect);
  });
});

describe('abortable', () => {
  it('settles as the promise does', async () => {
    const { signal } = new AbortController();
    assert.equal(await abortable(Promise.resolve(1), signal), 1);
    assert.equal(await abortable(Promise.resolve(1), undefined), 1);
    await assert.rejects(abortable(Promise.reject(shutdown), signal), shutdown);
  });

  it('rejects with the reason when the signal aborts, before or during the wait', async () => {
    await assert.rejects(abortable(never, AbortSignal.abort(shutdown)), shutdown);
    const controller = new AbortController();
    const waiting = abortable(never, controller.signal);
    controller.abort(shutdown);
    await assert.rejects(waiting, shutdown);
  });

  it('prefers the reason over a value that is there already', async () => {
    await assert.rejects(abortable(Promise.resolve(1), AbortSignal.abort(shutdown)), shutdown);
  });

  it('drops a failure that comes after the abort', async () => {
    const unhandled = listen('unhandledRejection');
    await assert.rejects(abortable(Promise.reject(new Error('late')), AbortSignal.abort(shutdown)), shutdown);
    await nextTurn();
    assert.deepEqual(unhandled.stop(), []);
  });

  it('leaves no listener, and many waits on one signal are no leak', async () => {
    const warnings = listen('warning');
    const { signal } = new AbortController();
    const resolvers: (() => void)[] = [];
    const waits = Array.from({ length: 30 }, () =>
      abortable(new Promise<void>((resolve) => resolvers.push(resolve)), signal),
    );
    assert.equal(getEventListeners(signal, 'abort').length, 30);
    for (const resolve of resolvers) resolve();
    await Promise.all(waits);
    await nextTurn();
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    assert.deepEqual(warnings.stop(), []);
  });
});

describe('delay', () => {
  it('ends with the signal', async () => {
    await delay(0);
    const controller = new AbortController();
    const waiting = delay(2 ** 40, controller.signal);
    controller.abort(shutdown);
    await assert.rejects(waiting, shutdown);
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
  });
});

describe('linkAbort', () => {
  it('follows its parent with the parent’s reason, also one that has aborted already', () => {
    const parent = new AbortController();
    using link = linkAbort(parent.signal);
    assert.equal(link.signal.aborted, false);
    parent.abort(shutdown);
    assert.equal(link.signal.reason, shutdown);
    using late = linkAbort(parent.signal);
    assert.equal(late.signal.reason, shutdown);
  });

  it('does not abort its parent', () => {
    const parent = new AbortController();
    using link = linkAbort(parent.signal);
    link.abort(shutdown);
    assert.equal(link.signal.reason, shutdown);
    assert.equal(parent.signal.aborted, false);
  });

  it('aborts at the deadline with the given error', async () => {
    using link = linkAbort(undefined, 0, () => shutdown);
    assert.equal(await reasonOf(link.signal), shutdown);
    using plain = linkAbort(undefined, -5);
    assert.equal(QueryError.from(await reasonOf(plain.signal)).code, 'QUERY_TIMEOUT');
  });

  it('does not take a very long deadline for none at all', async () => {
    using link = linkAbort(undefined, Number.MAX_SAFE_INTEGER);
    await nextTurn();
    assert.equal(link.signal.aborted, false);
  });

  it('lets go of its parent when disposed of and when aborted', () => {
    const parent = new AbortController();
    const links = [linkAbort(parent.signal, 1000), linkAbort(parent.signal, 1000)];
    links[0]?.[Symbol.dispose]();
    links[1]?.abort(shutdown);
    assert.equal(getEventListeners(parent.signal, 'abort').length, 0);
    parent.abort();
    assert.equal(links[0]?.signal.aborted, false);
  });
});

function codeOf(body: () => void): string | undefined {
  try {
    body();
  } catch (caught) {
    return caught instanceof QueryError ? caught.code : 'not a QueryError';
  }
  return undefined;
}

/** The link's own timer does not keep the process alive; this wait does. */
async function reasonOf(signal: AbortSignal): Promise<unknown> {
  while (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 1));
  return signal.reason;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Collects what the process reports until `stop`, which answers it. */
function listen(event: 'warning' | 'unhandledRejection'): { stop(): readonly unknown[] } {
  const seen: unknown[] = [];
  const onEvent = (value: unknown): void => void seen.push(value);
  process.on(event, onEvent);
  return {
    stop() {
      process.off(event, onEvent);
      return seen;
    },
  };
}
