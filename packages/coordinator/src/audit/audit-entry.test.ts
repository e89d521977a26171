import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { createMetrics, QueryError, silentLogger } from '@svc/base';
import { fakeClock } from '../test-support/clock.js';
import { fakeSession } from '../test-support/fake-session.js';
import { type EndedQuery, type QueryStart, QueryTracker } from '../tracker/query-tracker.js';
import { auditLine } from './audit-entry.js';

describe('spec 6.1: a line of the audit log', () => {
  it('has every field, and no other', () => {
    assert.deepEqual(JSON.parse(lineOf({ sql: 'SELECT 1' })), {
      timestamp: '1970-01-01T00:16:40.000Z',
      username: 'ada',
      session_id: 'ab'.repeat(8),
      query_text: 'SELECT 1',
      query_hash: `sha256:${sha256('SELECT 1')}`,
      statement_type: 'query',
      client_ip: '2001:db8::7',
      duration_ms: 13,
      rows_returned: 7,
      policies: [],
      status: 'ok',
    });
  });

  it('says of a query that failed that it did', () => {
    const line = lineOf({ sql: 'SELECT 1' }, new QueryError('QUEUE_FULL', 'Too many.'));
    assert.equal(JSON.parse(line).status, 'error');
  });

  it('has the whole text as it was sent, and its hash', () => {
    const sentSql = `{fn ${'long '.repeat(100_000)}}`;
    const entry = JSON.parse(lineOf({ sql: 'another', sentSql }));
    assert.equal(entry.query_text, sentSql);
    assert.equal(entry.query_hash, `sha256:${sha256(sentSql)}`);
  });

  it('is one line of well-formed text, whatever the text', () => {
    const sql = "SELECT 'a\nb\r\u0000\u0085\u2028\u2029\u007f\"\\\ud800'";
    const line = lineOf({ sql });
    assert.match(line, /^[^\p{Control}\u2028\u2029]+\n$/u);
    assert.ok(line.isWellFormed());
    assert.equal(JSON.parse(line).query_text, sql.toWellFormed());
  });
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function lineOf(start: Pick<QueryStart, 'sql' | 'sentSql'>, error?: QueryError): string {
  const ended: EndedQuery[] = [];
  const clock = fakeClock(5000);
  const audit = { ended: (query: EndedQuery) => void ended.push(query), planned: () => {}, begun: () => {} };
  const tracker = new QueryTracker({
    ...{ metrics: createMetrics(), logger: silentLogger, maxFinished: 1, audit },
    ...{ now: fakeClock().now, elapsed: clock.now },
  });
  const session = fakeSession();
  const query = tracker.start({ session, ...start, clientAddress: '2001:db8::7', statementType: 'query' });
  query.returned(7, 100);
  clock.advance(12.6);
  if (error === undefined) query.finish();
  else query.fail(error);
  const [only] = ended;
  assert.ok(only !== undefined && ended.length === 1);
  return auditLine(only);
}
