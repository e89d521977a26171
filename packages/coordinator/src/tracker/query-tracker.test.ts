import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger, createMetrics, parseLogFilter, QueryError, withLogContext } from '@svc/base';
import type { FragmentStatistics } from '@svc/fragment-fn';
import { fakeClock } from '../test-support/clock.js';
import { fakeSession } from '../test-support/fake-session.js';
import { DeferredWork } from './deferred-work.js';
import { type QueryStart, QueryTracker, type QueryTrackerOptions } from './query-tracker.js';

const statistics: FragmentStatistics = {
  filesRead: 2,
  bytesStaged: 1000,
  bytesFetched: 900,
  rowsScanned: 50n,
  rowsReturned: 7n,
  spilledBytes: 3n,
  peakMemoryBytes: 4096n,
  stagingMs: 1,
  engineMs: 2,
};

describe('a tracked query', () => {
  it('runs, finishes, and keeps what it did', () => {
    const { tracker } = newTracker();
    const query = tracker.start(select1);
    assert.deepEqual(statesOf(tracker), [['running', 'queued']]);
    assert.equal(tracker.activeCount, 1);
    query.phase('executing');
    query.phase('streaming');
    query.returned(5, 100);
    query.returned(2, 40);
    query.statistics(statistics);
    query.finish();
    assert.equal(tracker.activeCount, 0);
    const [record] = tracker.list();
    assert.ok(record !== undefined);
    const { state, phase, rows, bytesReturned, bytesScanned, spilledBytes, peakMemoryBytes } = record;
    assert.deepEqual(
      { state, phase, rows, bytesReturned, bytesScanned, spilledBytes, peakMemoryBytes },
      {
        state: 'finished',
        phase: 'streaming',
        rows: 7n,
        bytesReturned: 140,
        bytesScanned: 1000,
        spilledBytes: 3n,
        peakMemoryBytes: 4096n,
      },
    );
    assert.deepEqual([record.user, record.sessionLabel, record.sql], ['ada', 'ab'.repeat(8), 'SELECT 1']);
  });

  it('knows how long it was in each phase, planning before it included', () => {
    const { tracker, clock } = newTracker();
    const query = tracker.start({ ...select1, planningMs: 30 });
    clock.advance(5);
    query.phase('executing');
    clock.advance(100);
    query.phase('streaming');
    clock.advance(1000);
    const expected = { queuedMs: 5, planningMs: 30, executionMs: 1100, elapsedMs: 1135 };
    query.finish();
    clock.advance(9999);
    const [record] = tracker.list();
    assert.deepEqual(timesOf(record), { ...expected, startedAtMs: 1_000_000 - 30 });
  });

  it('took no less and no more when the wall clock was set meanwhile', () => {
    const { tracker, clock, wall } = newTracker();
    const query = tracker.start(select1);
    wall.advance(-3_600_000);
    clock.advance(7);
    query.finish();
    assert.deepEqual(
      [timesOf(tracker.list()[0]).elapsedMs, timesOf(tracker.list()[0]).startedAtMs],
      [7, 1_000_000],
    );
  });

  it('that went well is counted and logged in a moment, one that failed at once', () => {
    const { tracker, lines } = newTracker({ deferred: new DeferredWork() });
    tracker.start(select1).finish();
    assert.deepEqual([tracker.list().length, tracker.activeCount, lines.length], [1, 0, 0]);
    tracker.start(select1).fail(new QueryError('CANCELLED', 'The query was cancelled.'));
    assert.match(lines.join(''), /query finished.*query failed/s);
    tracker.start(select1).finish();
    assert.equal(lines.length, 2);
    tracker.flush();
    assert.equal(lines.length, 3);
  });

  it('logs its end with what its call was known by, whoever reads the last row', () => {
    const { tracker, lines } = newTracker();
    const query = withLogContext({ request_id: 'r1', trace_id: 'ab'.repeat(16) }, () =>
      tracker.start(select1),
    );
    query.finish();
    assert.match(lines[0] ?? '', /"trace_id":"(ab){16}"/);
    assert.match(lines[0] ?? '', /"request_id":"r1"/);
  });

  it('keeps its session active until it ends', () => {
    const { tracker } = newTracker();
    const query = tracker.start(select1);
    assert.deepEqual([...tracker.activeSessions()], [select1.session]);
    query.finish();
    assert.equal(tracker.activeSessions().size, 0);
  });

  it('leaves no record when it was only planned', () => {
    const { tracker, lines } = newTracker();
    const query = tracker.start(select1);
    query.phase('planning');
    assert.deepEqual(statesOf(tracker), [['running', 'planning']]);
    query.withdraw();
    query.fail(new QueryError('CANCELLED', 'Later.'));
    assert.deepEqual([tracker.list(), tracker.activeCount, lines], [[], 0, []]);
  });

  it('runs under the id that it was planned under, when it is told', () => {
    const { tracker } = newTracker();
    const planning = tracker.start(select1);
    planning.withdraw();
    const run = tracker.start({ ...select1, queryId: planning.queryId });
    assert.equal(run.queryId, planning.queryId);
    run.finish();
    assert.deepEqual(
      tracker.list().map(({ queryId }) => queryId),
      [planning.queryId],
    );
  });

  it('fails with its code and message, and ends only once', async () => {
    const { tracker, lines, metrics } = newTracker();
    const query = tracker.start(select1);
    query.fail(new QueryError('CANCELLED', 'The query was cancelled.'));
    query.finish();
    query.fail(new QueryError('INTERNAL_ERROR', 'Later.'));
    const [record, ...more] = tracker.list();
    assert.deepEqual(more, []);
    assert.deepEqual(
      [record?.state, record?.errorCode, record?.errorMessage],
      ['failed', 'CANCELLED', 'The query was cancelled.'],
    );
    assert.equal(lines.length, 1);
    const text = await metrics.text();
    assert.match(text, /^svc_query_count_total\{status="error",statement_type="query"\} 1$/m);
    assert.match(text, /^svc_query_errors_total\{code="CANCELLED"\} 1$/m);
    assert.match(text, /^svc_query_errors_total\{code="INTERNAL_ERROR"\} 0$/m);
  });

  it('keeps the start of a long text only', () => {
    const { tracker } = newTracker();
    tracker.start({ ...select1, sql: 'x'.repeat(10_000_000) }).finish();
    const length = tracker.list()[0]?.sql.length ?? 0;
    assert.ok(length > 1000 && length < 20_000);
  });
});

describe('the list of queries', () => {
  it('has running ones first, the newest of each first', () => {
    const { tracker } = newTracker();
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((sql) => tracker.start({ ...select1, sql }));
    b?.finish();
    a?.finish();
    assert.deepEqual(textsOf(tracker), ['d', 'c', 'a', 'b']);
    c?.finish();
    d?.finish();
    assert.deepEqual(textsOf(tracker), ['d', 'c', 'a', 'b']);
  });

  it('is bounded: the oldest finished ones go, running ones stay', () => {
    const { tracker } = newTracker({ maxFinished: 2 });
    tracker.start({ ...select1, sql: 'running' });
    for (const sql of ['a', 'b', 'c']) tracker.start({ ...select1, sql }).finish();
    assert.deepEqual(textsOf(tracker), ['running', 'c', 'b']);
  });
});

describe('the metrics of queries', () => {
  it('count each by type and status, its duration in seconds and its rows', async () => {
    const { tracker, clock, metrics } = newTracker();
    const query = tracker.start({ ...select1, statementType: 'show_tables' });
    query.returned(3, 0);
    clock.advance(1500);
    query.finish();
    const text = await metrics.text();
    for (const line of [
      'svc_query_count_total{status="ok",statement_type="show_tables"} 1',
      'svc_query_count_total{status="error",statement_type="show_tables"} 0',
      'svc_query_duration_seconds_sum{statement_type="show_tables"} 1.5',
      'svc_query_duration_seconds_count{statement_type="show_tables"} 1',
      'svc_rows_returned_total 3',
    ]) {
      assert.ok(text.split('\n').includes(line), line);
    }
  });
});

describe('the log record of a query', () => {
  it('is one line with the fields of the specification, and never the text', () => {
    const { tracker, clock, records } = newTracker();
    const query = tracker.start({ ...select1, sql: "SELECT 'private'" });
    query.returned(3, 0);
    clock.advance(12);
    query.finish();
    const [record, ...more] = records();
    assert.deepEqual(more, []);
    assert.ok(record !== undefined);
    const { timestamp, ...rest } = record;
    assert.equal(typeof timestamp, 'string');
    assert.deepEqual(rest, {
      level: 'info',
      target: 'svc::query',
      message: 'query finished',
      query_id: query.queryId,
      user: 'ada',
      session_id: 'ab'.repeat(8),
      statement_type: 'query',
      duration_ms: 12,
      rows: 3,
    });
  });

  it("of a user's error is information, with its code and without a stack", () => {
    const { tracker, records } = newTracker();
    tracker.start(select1).fail(new QueryError('TABLE_NOT_FOUND', 'There is no table "t".'));
    const [record] = records();
    assert.deepEqual(
      [record?.level, record?.message, record?.error_code, record?.error_message],
      ['info', 'query failed', 'TABLE_NOT_FOUND', 'There is no table "t".'],
    );
    assert.equal(record?.error_detail, undefined);
  });

  it('of our own defect is an error with the chain of its causes', () => {
    const { tracker, records } = newTracker();
    tracker.start(select1).fail(QueryError.from(new TypeError('undefined is not a function')));
    const [record] = records();
    assert.deepEqual([record?.level, record?.error_code], ['error', 'INTERNAL_ERROR']);
    assert.match(String(record?.error_detail), /TypeError: undefined is not a function[\s\S]*query-tracker/);
    assert.doesNotMatch(String(record?.error_message), /undefined is not/);
  });
});

interface LogRecord {
  readonly timestamp: string;
  readonly level: string;
  readonly message: string;
  readonly error_code?: string;
  readonly error_message?: string;
  readonly error_detail?: string;
}

const select1: QueryStart = {
  session: fakeSession(),
  sql: 'SELECT 1',
  clientAddress: '192.0.2.7',
  statementType: 'query',
};

function newTracker({ maxFinished = 100, ...options }: Partial<QueryTrackerOptions> = {}) {
  const lines: string[] = [];
  const clock = fakeClock(5000);
  const wall = fakeClock();
  const metrics = createMetrics();
  const logger = createLogger('svc::query', {
    write: (line) => lines.push(line),
    filter: parseLogFilter('trace'),
  });
  const tracker = new QueryTracker({
    metrics,
    logger,
    now: wall.now,
    elapsed: clock.now,
    maxFinished,
    ...options,
  });
  const records = () => lines.map((line): LogRecord => JSON.parse(line));
  return { tracker, clock, wall, metrics, lines, records };
}

function statesOf(tracker: QueryTracker) {
  return tracker.list().map(({ state, phase }) => [state, phase]);
}

function textsOf(tracker: QueryTracker): readonly string[] {
  return tracker.list().map(({ sql }) => sql);
}

function timesOf(record: ReturnType<QueryTracker['list']>[number] | undefined) {
  assert.ok(record !== undefined);
  const { queuedMs, planningMs, executionMs, elapsedMs, startedAtMs } = record;
  return { queuedMs, planningMs, executionMs, elapsedMs, startedAtMs };
}
