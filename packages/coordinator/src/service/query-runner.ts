/** Runs planned statements: admission, the fragment, tracking, and the stream to the client. */
import { linkAbort, type OpenSpan, openSpan, QueryError, withLogContext } from '@svc/base';
import type { ResultStream } from '@svc/flight';
import { type FragmentResult, queryTimedOut } from '@svc/fragment-fn';
import type { Session } from '../identity/session.js';
import type { PlannedAnswer, PlannedFragment, PlannedStatement } from '../planner/planned-statement.js';
import type { AdmissionTicket } from '../scheduler/admission.js';
import type { LaneAdmission } from '../scheduler/lane-admission.js';
import type { QueryTracker, TrackedQuery } from '../tracker/query-tracker.js';
import { isSameSchema, schemaChanged } from './schema-check.js';
import { type StartDependencies, startFragments } from './start-fragments.js';
import { trackedMessages } from './tracked-messages.js';

export interface QueryRunnerDependencies extends StartDependencies {
  readonly admission: LaneAdmission;
  readonly tracker: QueryTracker;
  /** Throws AUDIT_UNAVAILABLE while nothing may run for want of an audit log. */
  throwIfNotAudited(): void;
}

export interface RunOptions {
  /** Without it a new one. */
  readonly queryId?: string | undefined;
  readonly session: Session;
  readonly planned: PlannedStatement;
  /** Of the call; empty where there is none. */
  readonly clientAddress: string;
  /** The client gets the number of changed rows, and not the statement's answer; the caller has a span for all of it. */
  readonly isUpdate?: boolean;
  readonly signal: AbortSignal;
}

/** Starts a planned statement. Its stream must be read to the end or returned early. Throws QueryError. */
export async function runPlanned(
  dependencies: QueryRunnerDependencies,
  options: RunOptions,
): Promise<ResultStream> {
  const { session, planned } = options;
  const tracked = dependencies.tracker.start({
    queryId: options.queryId,
    session,
    sql: planned.sql,
    sentSql: planned.sentSql,
    clientAddress: options.clientAddress,
    statementType: planned.statementType,
    policies: planned.policies?.names,
    planningMs: planned.planningMs,
  });
  const context = {
    query_id: tracked.queryId,
    user: session.identity.username,
    session_id: session.label,
    statement_type: planned.statementType,
  };
  return await withLogContext(context, async () => {
    if (options.isUpdate === true && planned.kind === 'answer')
      return answerStream(planned, tracked, options);
    const span = openSpan('svc.query', { statement_type: planned.statementType });
    const query = { ...tracked, ...endingWith(tracked, span) };
    return await span.within(async () => {
      try {
        return planned.kind === 'answer'
          ? answerStream(planned, query, options)
          : await fragmentStream(dependencies, options, planned, query);
      } catch (caught) {
        const error = QueryError.from(caught);
        query.fail(error);
        throw error;
      }
    });
  });
}

/** The span is open until the last message is read (spec section 6.3). */
function endingWith(query: TrackedQuery, span: OpenSpan): Pick<TrackedQuery, 'finish' | 'fail'> {
  return {
    finish() {
      span.end();
      query.finish();
    },
    fail(error) {
      span.end(error.code);
      query.fail(error);
    },
  };
}

function answerStream(
  planned: PlannedAnswer,
  query: TrackedQuery,
  { isUpdate = false }: RunOptions,
): ResultStream {
  query.phase('streaming');
  const { answer } = planned;
  const messages = answer.messages.map((message) => ({ ...message, release: () => undefined }));
  return {
    schema: answer.schema,
    messages: trackedMessages(toAsync(messages), {
      onMessage: () => query.returned(isUpdate ? 0 : answer.rowCount, 0),
      onEnd: (error) => (error === undefined ? query.finish() : query.fail(error)),
    }),
  };
}

async function* toAsync<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

async function fragmentStream(
  dependencies: QueryRunnerDependencies,
  { session, signal }: RunOptions,
  planned: PlannedFragment,
  query: TrackedQuery,
): Promise<ResultStream> {
  dependencies.throwIfNotAudited();
  const { timeoutMs } = planned.fragment.limits;
  const isGuarded = planned.policies?.isGuarded === true;
  // The session's end cancels what runs for it; the caller's signal is another way to end. Planning and waiting for a
  // place are part of the time that a query has.
  const link = linkAbort([signal, session.closed], timeoutMs - planned.planningMs, () =>
    queryTimedOut(timeoutMs),
  );
  let place: AdmissionTicket | undefined;
  let fragment: FragmentResult;
  try {
    place = await dependencies.admission.enter(planned.fragment.lane, link.signal);
    query.phase('executing');
    fragment = await startFragments(dependencies, {
      ...{ planned, queryId: query.queryId, signal: link.signal },
      // What was read tells of hidden rows.
      report: (report) => {
        if (!isGuarded) query.fragmentEnded(report);
      },
    });
    if (!isSameSchema(fragment.schema, planned.schema)) {
      await fragment.messages[Symbol.asyncIterator]().return?.();
      throw schemaChanged();
    }
  } catch (error) {
    place?.[Symbol.dispose]();
    link[Symbol.dispose]();
    throw error;
  }
  const admitted = place;
  void fragment.engineFree.then(() => {
    admitted[Symbol.dispose]();
    query.phase('streaming');
  });
  return {
    schema: fragment.schema,
    failed: fragment.failed,
    messages: trackedMessages(fragment.messages, {
      failed: fragment.failed,
      onMessage: (message) => query.returned(message.rowCount, message.body.byteLength),
      onEnd: (error) => {
        link[Symbol.dispose]();
        const statistics = fragment.statistics();
        if (!isGuarded) query.statistics(statistics);
        dependencies.metrics.scanRows.inc({ stage: 'read' }, Number(statistics.rowsScanned));
        if (error === undefined) query.finish();
        else query.fail(error);
      },
    }),
  };
}
