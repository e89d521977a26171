import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '../errors/query-error.js';
import { errorFields } from './error-fields.js';
import { redactSecrets } from './safe-text.js';

describe('errorFields', () => {
  it('has the stacks of the whole chain for a defect', () => {
    const fields = errorFields(new Error('outer', { cause: new TypeError('inner') }));
    assert.equal(fields.error_code, 'INTERNAL_ERROR');
    assert.match(String(fields.error_detail), /Error: outer\n.*caused by: TypeError: inner\n/s);
  });

  it('has the cause’s message, without a stack, for what is not our defect', () => {
    const error = new QueryError('STORAGE_ERROR', 'Gone.', { cause: new Error('ECONNRESET') });
    const fields = { error_code: 'STORAGE_ERROR', error_message: 'Gone.', error_detail: 'Error: ECONNRESET' };
    assert.deepEqual(errorFields(error), fields);
    assert.equal(errorFields(new QueryError('CANCELLED', 'Gone.')).error_detail, undefined);
  });

  it('hides credentials that a foreign text carries', () => {
    const text = String(
      errorFields(new Error('GET https://b.example/k?X-Sig=abcd: Bearer abcdefgh.ij')).error_detail,
    );
    assert.match(text, /https:\/\/b\.example\/k\?\[redacted\] Bearer \[redacted\]/);
    assert.doesNotMatch(text, /abcd/);
  });
});

describe('redactSecrets', () => {
  it('knows tokens, signed URLs and passwords inside URLs', () => {
    const cases = [
      ['authorization: Basic bG9jYWw6c2VjcmV0', 'authorization: Basic [redacted]'],
      ['postgres://ada:pw@db/x', 'postgres://[redacted]@db/x'],
      ['"https://s3/b/k?sig=1&t=2" failed', '"https://s3/b/k?[redacted]" failed'],
      ['basic rules? none', 'basic rules? none'],
      ['mail ada@example.com', 'mail ada@example.com'],
    ];
    for (const [text = '', expected] of cases) assert.equal(redactSecrets(text), expected);
  });
});
