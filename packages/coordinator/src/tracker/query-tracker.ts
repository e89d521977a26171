import { randomUUID } from 'node:crypto';
import {
  currentLogContext,
  errorFields,
  type Logger,
  type Metrics,
  type QueryError,
  type StatementType,
  withLogContext,
} from '@svc/base';
import type { FragmentStatistics } from '@svc/fragment-fn';
import type { Session } from '../identity/session.js';
import type { DeferredWork } from './deferred-work.js';
import { type FragmentReport, FragmentReports } from './fragment-record.js';
import type { QueryPhase, QueryRecord } from './query-record.js';

export interface QueryTrackerOptions {
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Milliseconds since 1970: when queries began. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set: how long they took. */
  readonly elapsed: () => number;
  /** Takes the counters and the log record of what ended well. Without it they are written at once. */
  readonly deferred?: DeferredWork;
  /** Told of every query, when its counters are. */
  readonly audit?: QueryAudit | undefined;
  /** Finished records kept, newest first. */
  readonly maxFinished: number;
}

/** SQL texts are kept up to this many characters: a record must not hold megabytes. */
const maxSqlCharacters = 16_384;

/** A query that has ended, as the audit log has it. */
export interface EndedQuery {
  readonly record: QueryRecord;
  /** The whole text as the client sent it. */
  readonly sentSql: string;
  readonly clientAddress: string;
}

/** Where an account of each query is kept for others than the operator. */
export interface QueryAudit {
  /** After the answer is on its way, but for queries that failed. */
  ended(query: EndedQuery): void;
  /** Planned only: the run under the same id, if one comes, is the query that counts. */
  planned(query: EndedQuery): void;
  /** A run has begun under this id. */
  begun(queryId: string): void;
}

export interface QueryStart {
  /** The one that its planning had, so that both are one query to whoever follows it. Without it a new one. */
  readonly queryId?: string | undefined;
  readonly session: Session;
  readonly sql: string;
  /** As the client sent it, where `sql` is not that any more. */
  readonly sentSql?: string | undefined;
  /** Of the call; empty where there is none. */
  readonly clientAddress: string;
  readonly statementType: StatementType;
  /** Names of those that were applied to it. */
  readonly policies?: readonly string[] | undefined;
  /** Time that planning took before the record began (GetFlightInfo). */
  readonly planningMs?: number;
}

/** The handle of one running query; `finish`, `fail`, `planned` or `withdraw` ends it, once. */
export interface TrackedQuery {
  readonly queryId: string;
  phase(phase: QueryPhase): void;
  returned(rows: number, bytes: number): void;
  statistics(statistics: FragmentStatistics): void;
  /** A task of the query has ended on an executor, or a stage of it here. */
  fragmentEnded(report: FragmentReport): void;
  finish(): void;
  fail(error: QueryError): void;
  /** Its plan is ready, and its run is another's to begin: it leaves no record here. */
  planned(policies?: readonly string[]): void;
  /** Names of the policies, where they are known only while it runs. */
  applied(policies: readonly string[]): void;
  /** It was no query after all, or is one under the same id already: it leaves no record. */
  withdraw(): void;
}

/** Running and finished queries, in memory, bounded; and the counters and the log record of each one's end. */
export class QueryTracker {
  readonly #options: QueryTrackerOptions;
  readonly #running = new Map<string, RunningQuery>();
  readonly #finished: QueryRecord[] = [];

  constructor(options: QueryTrackerOptions) {
    this.#options = options;
  }

  get activeCount(): number {
    return this.#running.size;
  }

  /** Whose queries are running now. */
  activeSessions(): ReadonlySet<Session> {
    return new Set([...this.#running.values()].map((query) => query.start.session));
  }

  start(start: QueryStart): TrackedQuery {
    const query = new RunningQuery(start.queryId ?? randomUUID(), start, this.#options);
    this.#running.set(query.queryId, query);
    const { audit } = this.#options;
    if (start.queryId !== undefined) audit?.begun(start.queryId);
    // Whoever reads the result to its end may do so outside of the call that began it.
    const context = currentLogContext();
    const end = (error: QueryError | undefined) => {
      if (!this.#running.delete(query.queryId)) return;
      const record = this.#keep(query.record(error, true));
      const account = () => withLogContext(context, () => this.#account(query, record, error));
      const { deferred } = this.#options;
      if (deferred === undefined) {
        account();
        return;
      }
      deferred.add(account);
      if (error !== undefined) deferred.flush(); // a failure is told at once, after what went before it
    };
    return {
      queryId: query.queryId,
      phase: (phase) => query.enter(phase),
      returned: (rows, bytes) => query.returned(rows, bytes),
      statistics: (statistics) => {
        query.fragment = statistics;
      },
      fragmentEnded: (report) => {
        query.fragments ??= new FragmentReports();
        query.fragments.add(report);
      },
      finish: () => end(undefined),
      fail: (error) => end(error),
      planned: (policies) => {
        query.policies = policies ?? query.policies;
        if (!this.#running.delete(query.queryId) || audit === undefined) return;
        audit.planned(endedQuery(query, query.record(undefined, true)));
      },
      applied: (policies) => {
        query.policies = policies;
      },
      withdraw: () => {
        this.#running.delete(query.queryId);
      },
    };
  }

  /** Newest first: running ones, then finished ones. */
  list(): readonly QueryRecord[] {
    const running = [...this.#running.values()].reverse().map((query) => query.record(undefined, false));
    return [...running, ...this.#finished];
  }

  /** Writes the counters and log records that are still to come. */
  flush(): void {
    this.#options.deferred?.flush();
  }

  #keep(record: QueryRecord): QueryRecord {
    this.#finished.unshift(record);
    this.#finished.length = Math.min(this.#finished.length, this.#options.maxFinished);
    return record;
  }

  #account(query: RunningQuery, record: QueryRecord, error: QueryError | undefined): void {
    const { metrics, audit } = this.#options;
    audit?.ended(endedQuery(query, record));
    const { statementType } = record;
    metrics.queryCount.inc({ status: error === undefined ? 'ok' : 'error', statement_type: statementType });
    metrics.queryDuration.observe({ statement_type: statementType }, record.elapsedMs / 1000);
    metrics.rowsReturned.inc(record.rows);
    if (error !== undefined) metrics.queryErrors.inc({ code: error.code });
    const fields = {
      query_id: record.queryId,
      user: record.user,
      session_id: record.sessionLabel,
      statement_type: statementType,
      duration_ms: Math.round(record.elapsedMs),
      rows: Number(record.rows),
    };
    if (error === undefined) this.#options.logger.log('info', 'query finished', fields);
    else {
      const level = error.category === 'internal' ? 'error' : 'info';
      this.#options.logger.log(level, 'query failed', { ...fields, ...errorFields(error) });
    }
  }
}

function endedQuery({ start }: RunningQuery, record: QueryRecord): EndedQuery {
  return { record, sentSql: start.sentSql ?? start.sql, clientAddress: start.clientAddress };
}

class RunningQuery {
  readonly queryId: string;
  readonly start: QueryStart;
  fragment: FragmentStatistics | undefined;
  fragments: FragmentReports | undefined;
  policies: readonly string[];
  readonly #elapsed: () => number;
  readonly #startedAtMs: number;
  /** Of the clock that is never set. */
  readonly #sinceMs: number;
  readonly #spentMs: Record<QueryPhase, number> = { queued: 0, planning: 0, executing: 0, streaming: 0 };
  #phase: QueryPhase = 'queued';
  #phaseSinceMs: number;
  #rows = 0n;
  #bytes = 0;

  constructor(
    queryId: string,
    start: QueryStart,
    { now, elapsed }: Pick<QueryTrackerOptions, 'now' | 'elapsed'>,
  ) {
    const planningMs = start.planningMs ?? 0;
    this.queryId = queryId;
    this.start = start;
    this.policies = start.policies ?? [];
    this.#elapsed = elapsed;
    this.#startedAtMs = now() - planningMs;
    this.#phaseSinceMs = elapsed();
    this.#sinceMs = this.#phaseSinceMs - planningMs;
    this.#spentMs.planning = planningMs;
  }

  enter(phase: QueryPhase): void {
    const now = this.#elapsed();
    this.#spentMs[this.#phase] += now - this.#phaseSinceMs;
    this.#phaseSinceMs = now;
    this.#phase = phase;
  }

  returned(rows: number, bytes: number): void {
    this.#rows += BigInt(rows);
    this.#bytes += bytes;
  }

  record(error: QueryError | undefined, isEnded: boolean): QueryRecord {
    if (isEnded) this.enter(this.#phase);
    const { session, sql, statementType } = this.start;
    return {
      queryId: this.queryId,
      user: session.identity.username,
      sessionLabel: session.label,
      sql: sql.length > maxSqlCharacters ? `${sql.slice(0, maxSqlCharacters)}…` : sql,
      statementType,
      startedAtMs: this.#startedAtMs,
      state: isEnded ? (error === undefined ? 'finished' : 'failed') : 'running',
      phase: this.#phase,
      queuedMs: this.#spentMs.queued,
      planningMs: this.#spentMs.planning,
      executionMs: this.#spentMs.executing + this.#spentMs.streaming,
      elapsedMs: this.#elapsed() - this.#sinceMs,
      rows: this.#rows,
      bytesReturned: this.#bytes,
      bytesScanned: this.fragment?.bytesStaged ?? 0,
      spilledBytes: this.fragment?.spilledBytes ?? 0n,
      peakMemoryBytes: this.fragment?.peakMemoryBytes ?? 0n,
      fragments: this.fragments?.summary,
      policies: this.policies,
      errorCode: error?.code,
      errorMessage: error?.message,
    };
  }
}
