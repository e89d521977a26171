import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { type LogFields, type Logger, QueryError, silentLogger } from '@svc/base';
import { reportError, toCallStatus, withStableCode } from './call-status.js';

test('the text begins with the stable code', () => {
  assert.deepEqual(toCallStatus(new QueryError('TABLE_NOT_FOUND', 'No table x.y.')), {
    code: status.NOT_FOUND,
    details: '[TABLE_NOT_FOUND] No table x.y.',
  });
});

test('lone surrogates and NUL are replaced, so that grpc-js can encode the text', () => {
  const { details } = toCallStatus(new QueryError('SYNTAX_ERROR', 'a\ud800b\0c\udfff'));
  assert.equal(details, '[SYNTAX_ERROR] a\ufffdb\ufffdc\ufffd');
  assert.doesNotThrow(() => encodeURI(details));
});

for (const [name, text] of [
  ['ASCII', 'x'.repeat(14_000)],
  ['spaces', ' '.repeat(14_000)],
  ['three-byte characters', '語'.repeat(14_000)],
  ['surrogate pairs', '𝄞'.repeat(14_000)],
  ['lone surrogates', '\ud800'.repeat(14_000)],
] as const) {
  test(`a long text of ${name} is cut to what a trailer can carry`, () => {
    const { details } = toCallStatus(new QueryError('SYNTAX_ERROR', text));
    assert.ok(Buffer.byteLength(details) <= 4096);
    assert.ok(encodeURI(details).length <= 6144);
    assert.ok(details.endsWith('…') && details.length > 500);
  });
}

test('a defect reveals nothing to the client and everything to the log', () => {
  const records: LogFields[] = [];
  const logger: Logger = { ...silentLogger, log: (_level, _message, fields) => records.push(fields ?? {}) };
  const { code, details } = reportError(new TypeError('secret detail'), logger, 'DoGet');
  assert.equal(code, status.INTERNAL);
  assert.doesNotMatch(details, /secret/);
  assert.match(JSON.stringify(records), /secret detail/);
});

test("grpc-js's own statuses get a code", () => {
  assert.match(
    withStableCode(status.RESOURCE_EXHAUSTED, 'Received message larger than max').details,
    /^\[INVALID_ARGUMENT\]/,
  );
  assert.match(withStableCode(status.DEADLINE_EXCEEDED, 'Deadline exceeded').details, /^\[QUERY_TIMEOUT\]/);
  assert.deepEqual(withStableCode(status.OK, 'OK'), { code: status.OK, details: 'OK' });
});
