import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError, type SerializedError } from './query-error.js';

describe('QueryError', () => {
  it('takes category, status and retryable from its code', () => {
    const error = new QueryError('QUEUE_FULL', 'Too many.');
    assert.deepEqual(
      [error.name, error.category, error.grpcStatus, error.retryable],
      ['QueryError', 'resources', 'RESOURCE_EXHAUSTED', true],
    );
    assert.equal(new QueryError('STORAGE_ERROR', 'Gone.', { retryable: false }).retryable, false);
  });

  it('cuts a message of megabytes and mends lone surrogates', () => {
    const error = new QueryError('SYNTAX_ERROR', 'x'.repeat(10_000_000));
    assert.ok(error.message.length < 16_100);
    assert.match(error.message, /… \(10000000 characters\)$/);
    assert.equal(new QueryError('SYNTAX_ERROR', 'a\uD800b').message, 'a\uFFFDb');
  });
});

describe('QueryError.from', () => {
  it('keeps a QueryError', () => {
    const error = new QueryError('TABLE_NOT_FOUND', 'No table.');
    assert.equal(QueryError.from(error), error);
  });

  it('tells aborts, timeouts and full disks from defects', () => {
    const reason = new QueryError('SHUTTING_DOWN', 'Draining.');
    const full = Object.assign(new Error('write'), { code: 'ENOSPC' });
    const codes = [
      new DOMException('x', 'AbortError'),
      new DOMException('x', 'TimeoutError'),
      Object.assign(new Error('x', { cause: reason }), { name: 'AbortError' }),
      full,
      new Error('could not stage', { cause: full }),
    ].map((caught) => QueryError.from(caught).code);
    assert.deepEqual(codes, ['CANCELLED', 'QUERY_TIMEOUT', 'SHUTTING_DOWN', 'DISK_FULL', 'DISK_FULL']);
  });

  it('reveals nothing of an unknown failure, and keeps it as the cause', () => {
    for (const caught of [new Error('token=abc'), 'token=abc', null, undefined, { code: 'ENOSPC' }]) {
      const error = QueryError.from(caught);
      assert.equal(error.code, 'INTERNAL_ERROR');
      assert.doesNotMatch(error.message, /abc/);
      assert.equal(error.cause, caught);
    }
  });

  it('ends on a chain of causes that bites its tail', () => {
    const error = new Error('loop');
    error.cause = error;
    assert.equal(QueryError.from(error).code, 'INTERNAL_ERROR');
  });
});

describe('an error that crosses a boundary', () => {
  it('keeps code, message and retryable, and nothing else', () => {
    const error = new QueryError('STORAGE_ERROR', 'Gone.', { retryable: false, cause: new Error('secret') });
    const sent: SerializedError = JSON.parse(JSON.stringify(error.toSerialized()));
    assert.deepEqual(sent, { code: 'STORAGE_ERROR', message: 'Gone.', retryable: false });
    assert.deepEqual(QueryError.fromSerialized(sent).toSerialized(), sent);
  });

  it('of a newer version is an internal error', () => {
    for (const code of ['NOT_YET_INVENTED', 'toString', '__proto__']) {
      const sent = { code, message: 'x', retryable: true } as unknown as SerializedError;
      assert.equal(QueryError.fromSerialized(sent).code, 'INTERNAL_ERROR');
    }
  });
});
