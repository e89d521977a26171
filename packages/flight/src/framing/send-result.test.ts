import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { Int64 } from 'apache-arrow';
import { encodeSchema, schemaOf } from '../arrow/table-message.js';
import type { ResultMessage, ResultStream } from '../backend.js';
import { until } from '../test-support/until.js';
import type { IpcMessage } from './flight-data.js';
import type { ResultSink } from './result-sink.js';
import { type SendResultOptions, sendResult } from './send-result.js';

const schema = encodeSchema(schemaOf([{ name: 'id', type: new Int64(), nullable: false }]));

/** A source under the test's control. */
class FakeSource implements AsyncIterator<ResultMessage> {
  pulled = 0;
  released = 0;
  returned = 0;
  readonly waiting: ((result: IteratorResult<ResultMessage>) => void)[] = [];

  next(): Promise<IteratorResult<ResultMessage>> {
    this.pulled++;
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  async return(): Promise<IteratorResult<ResultMessage>> {
    this.returned++;
    return { done: true, value: undefined };
  }

  give(bodyBytes = 8): void {
    this.waiting.shift()?.({
      done: false,
      value: { header: Buffer.alloc(8), body: Buffer.alloc(bodyBytes), release: () => this.released++ },
    });
  }

  end(): void {
    this.waiting.shift()?.({ done: true, value: undefined });
  }

  stream(failed?: AbortSignal): ResultStream {
    return {
      schema,
      messages: { [Symbol.asyncIterator]: () => this },
      ...(failed === undefined ? {} : { failed }),
    };
  }
}

/** A socket under the test's control. */
class FakeSink implements ResultSink {
  readonly written: IpcMessage[] = [];
  writes = 0;
  readonly pending: { resolve(): void; reject(error: unknown): void }[] = [];
  resets = 0;

  write(messages: readonly IpcMessage[]): Promise<void> {
    this.writes++;
    this.written.push(...messages);
    return new Promise((resolve, reject) => {
      this.pending.push({ resolve, reject });
    });
  }

  reset(): void {
    this.resets++;
    this.fail();
  }

  take(): void {
    this.pending.shift()?.resolve();
  }

  fail(): void {
    this.pending.shift()?.reject(new QueryError('CANCELLED', 'gone'));
  }
}

function start(failed?: AbortSignal, changes: Partial<SendResultOptions> = {}) {
  const source = new FakeSource();
  const sink = new FakeSink();
  const call = new AbortController();
  const done = sendResult(source.stream(failed), sink, {
    signal: call.signal,
    maxMessageBytes: 1000,
    lastWordMs: 60_000,
    onBackgroundError: (error) => assert.fail(String(error)),
    ...changes,
  });
  const outcome = done.then(
    () => 'sent',
    (error: QueryError) => error.code,
  );
  return { source, sink, call, outcome };
}

test('pulls the next message only when the last one was taken, and releases each then', async () => {
  const { source, sink, outcome } = start();
  await until(() => sink.pending.length === 1);
  source.give();
  assert.deepEqual([sink.written.length, source.pulled], [1, 1]);
  sink.take();
  await until(() => sink.written.length === 2);
  assert.deepEqual([source.pulled, source.released], [1, 0]);
  sink.take();
  await until(() => source.pulled === 2);
  assert.equal(source.released, 1);
  source.end();
  assert.equal(await outcome, 'sent');
  assert.equal(source.returned, 0);
});

test('the schema and a first message that is there soon take one write', async () => {
  const { source, sink, outcome } = start();
  source.give();
  await until(() => sink.pending.length === 1);
  assert.deepEqual([sink.writes, sink.written.length, source.released], [1, 2, 0]);
  sink.take();
  await until(() => source.pulled === 2);
  assert.equal(source.released, 1);
  source.end();
  assert.equal(await outcome, 'sent');
});

test('the schema does not wait for a first message that takes long', async () => {
  const { source, sink, outcome } = start();
  await until(() => sink.pending.length === 1);
  assert.deepEqual([sink.written.length, source.pulled], [1, 1]);
  sink.take();
  source.end();
  assert.equal(await outcome, 'sent');
});

test('a result without messages is its schema', async () => {
  const { source, sink, outcome } = start();
  source.end();
  await until(() => sink.pending.length === 1);
  sink.take();
  assert.equal(await outcome, 'sent');
  assert.equal(sink.written.length, 1);
});

test('a first message that arrives after its reader has gone is released unsent', async () => {
  const { source, sink, outcome } = start();
  await until(() => sink.pending.length === 1);
  sink.fail();
  assert.equal(await outcome, 'CANCELLED');
  source.give();
  await until(() => source.released === 1);
  assert.deepEqual([sink.written.length, source.returned], [1, 1]);
});

test('an abort ends the source at once, but the message stays until its write has settled', async () => {
  const { source, sink, call, outcome } = start();
  await until(() => sink.pending.length === 1);
  sink.take();
  await until(() => source.pulled === 1);
  source.give();
  await until(() => sink.written.length === 2);
  call.abort(new QueryError('CANCELLED', 'gone'));
  assert.equal(source.returned, 1);
  assert.equal(source.released, 0);
  sink.fail();
  assert.equal(await outcome, 'CANCELLED');
  assert.deepEqual([source.returned, source.released], [1, 1]);
});

test('a message that arrives after the abort is released unsent', async () => {
  const { source, sink, call, outcome } = start();
  await until(() => sink.pending.length === 1);
  sink.take();
  await until(() => source.pulled === 1);
  call.abort(new QueryError('QUERY_TIMEOUT', 'late'));
  assert.equal(await outcome, 'QUERY_TIMEOUT');
  source.give();
  await until(() => source.released === 1);
  assert.equal(sink.written.length, 1);
});

test('a result that fails while its reader sleeps is cut off and ends with its own error', async () => {
  const failed = new AbortController();
  const { source, sink, outcome } = start(failed.signal, { lastWordMs: 1 });
  await until(() => sink.pending.length === 1);
  sink.take();
  await until(() => source.pulled === 1);
  source.give();
  await until(() => sink.written.length === 2);
  failed.abort(new QueryError('SLOW_CONSUMER', 'too slow'));
  assert.equal(await outcome, 'SLOW_CONSUMER');
  assert.deepEqual([sink.resets, source.returned, source.released], [1, 1, 1]);
});

test('a message larger than the limit is an error, released unsent', async () => {
  const { source, sink, outcome } = start();
  await until(() => sink.pending.length === 1);
  sink.take();
  source.give(2000);
  assert.equal(await outcome, 'RESULT_TOO_LARGE');
  assert.deepEqual([sink.written.length, source.released, source.returned], [1, 1, 1]);
});

test('an aborted call starts nothing', async () => {
  const source = new FakeSource();
  const sink = new FakeSink();
  const done = sendResult(source.stream(), sink, {
    signal: AbortSignal.abort(new QueryError('CANCELLED', 'gone')),
    maxMessageBytes: 1000,
    lastWordMs: 1,
    onBackgroundError: () => undefined,
  });
  await assert.rejects(done, { code: 'CANCELLED' });
  assert.deepEqual([sink.written.length, source.returned], [0, 1]);
});

test('a generator that was never read still runs its finally', async () => {
  let isClosed = false;
  const messages = (async function* (): AsyncGenerator<ResultMessage> {
    try {
      yield { header: Buffer.alloc(8), body: Buffer.alloc(8), release: () => undefined };
    } finally {
      isClosed = true;
    }
  })();
  const done = sendResult({ schema, messages }, new FakeSink(), {
    signal: AbortSignal.abort(new QueryError('CANCELLED', 'gone')),
    maxMessageBytes: 1000,
    lastWordMs: 1,
    onBackgroundError: () => undefined,
  });
  await assert.rejects(done, { code: 'CANCELLED' });
  await until(() => isClosed);
});
