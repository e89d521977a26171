import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Table, Utf8, vectorFromArray } from 'apache-arrow';
import { answerOf } from '../test-support/answers.js';
import { formats } from './format.js';
import type { Sink } from './sink.js';
import { writeAnswer } from './write-answer.js';

const batchCount = 20;

describe('writeAnswer', () => {
  it('reads no further than it has written', async () => {
    const { answer, read } = countedAnswer();
    let written = 0;
    await writeAnswer(answer, sinkOf({ onWrite: () => assert.ok(read() <= ++written) }), {
      format: formats.csv,
      width: undefined,
    });
    assert.equal(read(), batchCount);
  });

  it('ends the answer when nobody takes the output any more', async () => {
    const { answer, read } = countedAnswer();
    const closed = new AbortController();
    await writeAnswer(answer, sinkOf({ closed: closed.signal, onWrite: () => closed.abort() }), {
      format: formats.csv,
      width: undefined,
    });
    assert.equal(read(), 0);
    assert.equal((await answer.messages[Symbol.asyncIterator]().next()).done, true);
  });
});

function countedAnswer() {
  const { batches } = new Table({ a: vectorFromArray(['x'], new Utf8()) });
  const repeated = Array.from({ length: batchCount }, () => batches).flat();
  const { schema, messages } = answerOf(new Table(repeated));
  const source = messages[Symbol.asyncIterator]();
  let read = 0;
  const iterator = {
    async next() {
      const next = await source.next();
      if (!next.done) read += 1;
      return next;
    },
    async return() {
      await source.return?.();
      return { done: true as const, value: undefined };
    },
  };
  return { answer: { schema, messages: { [Symbol.asyncIterator]: () => iterator } }, read: () => read };
}

function sinkOf({ closed, onWrite }: { readonly closed?: AbortSignal; readonly onWrite: () => void }): Sink {
  return {
    closed: closed ?? new AbortController().signal,
    write: async () => onWrite(),
    end: async () => undefined,
    discard: async () => undefined,
  };
}
