/** The Flight SQL door: translates between the protocol's calls and the service. */
import { describeSpan, linkAbort, QueryError, withLogContext, withSpan } from '@svc/base';
import type {
  CallContext,
  FlightSqlBackend,
  IngestTarget,
  PlannedQuery,
  PreparedStatement,
  ResultStream,
  TableFilter,
  UploadedRows,
} from '@svc/flight';
import { compileLikePattern } from '@svc/flight/arrow';
import { queryTimedOut } from '@svc/fragment-fn';
import { quoteIdentifier, withoutEscapes } from '@svc/sql';
import type { Authentication } from '../../identity/authentication.js';
import type { HandleTable } from '../../identity/handle-table.js';
import type { Session } from '../../identity/session.js';
import type { SessionStore } from '../../identity/session-store.js';
import { schemaName } from '../../planner/names.js';
import type { PlannedStatement } from '../../planner/planned-statement.js';
import { readableCatalogs } from '../../policy/permitted-catalogs.js';
import { throwIfPoliciesChanged } from '../../policy/planned-policies.js';
import { emptySchema } from '../../results/text-answer.js';
import { type QueryRunnerDependencies, runPlanned } from '../../service/query-runner.js';
import { isSameSchema, schemaChanged } from '../../service/schema-check.js';
import {
  describeStatement,
  planStatement,
  type StatementPlannerDependencies,
} from '../../service/statement-planner.js';
import type { TrackedQuery } from '../../tracker/query-tracker.js';
import type { IngestOptions } from '../../writes/ingest-rows.js';
import { type Prepared, parametersOf } from './prepared.js';
import { getSessionOptions, setSessionOptions } from './session-options.js';
import { signIn } from './sign-in.js';
import { sqlInfoFacts } from './sql-info-facts.js';
import { listTables } from './tables.js';
import { createTicketRuns } from './ticket-runs.js';

export interface FlightBackendDependencies {
  readonly authentication: Authentication;
  readonly sessions: SessionStore;
  readonly planner: StatementPlannerDependencies;
  readonly runner: QueryRunnerDependencies;
  readonly tickets: HandleTable<PlannedStatement>;
  readonly prepared: HandleTable<Prepared>;
  readonly version: string;
  /** Longer texts are refused when they are classified, and not looked into before. */
  readonly maxSqlBytes: number;
  /** How long an unused ticket or prepared statement lives. */
  readonly handleTtlMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Adds a client's rows to a table; answers their number. */
  ingest(target: IngestTarget, rows: UploadedRows, options: IngestOptions): Promise<bigint>;
}

export function createFlightBackend(dependencies: FlightBackendDependencies): FlightSqlBackend<Session> {
  const { authentication, sessions, planner, runner, tickets, prepared } = dependencies;

  /** JDBC and ODBC have escapes that their Flight SQL drivers send as they are. */
  function statementText(text: string): StatementText {
    const sql = Buffer.byteLength(text) > dependencies.maxSqlBytes ? text : withoutEscapes(text);
    return sql === text ? { sql } : { sql, sentSql: text };
  }

  /** What refuses a statement before anything is done for it. */
  function throwIfClosed(): void {
    runner.admission.throwIfDraining();
    runner.throwIfNotAudited();
  }

  /**
   * Work on a statement that is not a run of it yet: planning, preparing. It ends with the call, with the session and
   * at the time limit of queries. While it lasts, and when it fails, it is a query for the tracker and the log; for the
   * audit log it is one also when it was planned and no run follows.
   */
  async function beforeRun<T>(
    session: Session,
    text: StatementText,
    context: CallContext,
    work: (signal: AbortSignal, query: TrackedQuery) => Promise<T>,
  ): Promise<T> {
    const { clientAddress } = context;
    const statementType = statementTypeOf(planner, text.sql);
    const query = runner.tracker.start({
      session,
      sql: text.sql,
      sentSql: text.sentSql,
      clientAddress,
      statementType,
    });
    query.phase('planning');
    const timeoutMs = session.settings.queryTimeoutMs ?? planner.limits.timeoutMs;
    using link = linkAbort([context.signal, session.closed], timeoutMs, () => queryTimedOut(timeoutMs));
    try {
      throwIfClosed();
      return await withLogContext({ query_id: query.queryId }, () => work(link.signal, query));
    } catch (caught) {
      const error = QueryError.from(caught);
      query.fail(error);
      throw error;
    } finally {
      query.withdraw();
    }
  }

  /** The tables may have changed since the client was told what the statement answers. Cheap: plans are kept. */
  async function checkPrepared(
    session: Session,
    { sql, schema }: Prepared,
    signal: AbortSignal,
  ): Promise<void> {
    if (planner.analyzer.classify(sql).kind !== 'query') return;
    const shape = await describeStatement(planner, { session, sql, signal });
    if (!isSameSchema(shape.schema, schema)) throw schemaChanged();
  }

  function ticketFor(
    session: Session,
    planned: PlannedStatement,
    { sentSql }: StatementText,
    query: TrackedQuery,
  ): PlannedQuery {
    const handle = tickets.add(session.key, { ...planned, sentSql, queryId: query.queryId });
    query.planned(planned.policies?.names);
    return { handle, schema: planned.schema, expiresAtMs: expiryOfUse() };
  }

  const runs = createTicketRuns();

  /** A handle lives from its last use. */
  function expiryOfUse(): number {
    return dependencies.now() + dependencies.handleTtlMs;
  }

  /** Plans whose first run has begun: it is the query that was planned, a further run of the ticket is another one. */
  const begun = new WeakSet<PlannedStatement>();

  function takeQueryId(planned: PlannedStatement): string | undefined {
    if (begun.has(planned)) return undefined;
    begun.add(planned);
    return planned.queryId;
  }

  /** Runs a statement for its effect; answers the rows that it changed. */
  async function runUpdate(
    session: Session,
    text: StatementText,
    context: CallContext,
    parametersFor: () => Uint8Array | undefined = () => undefined,
  ): Promise<bigint> {
    const run = async (signal: AbortSignal, { queryId, applied }: TrackedQuery): Promise<bigint> => {
      const { sql } = text;
      const parameters = parametersFor();
      const asked = { session, sql, signal, parameters, queryId, onPolicies: applied };
      const planned = await planStatement(planner, asked);
      if (planned.kind !== 'answer')
        throw new QueryError(
          'INVALID_ARGUMENT',
          'The statement answers rows and changes none: send it as a query, not as an update.',
        );
      const { clientAddress } = context;
      const { messages } = await runPlanned(runner, {
        ...{ queryId, session, clientAddress, signal, isUpdate: true },
        planned: { ...planned, sentSql: text.sentSql },
      });
      for await (const message of messages) message.release();
      return planned.changedRows ?? 0n;
    };
    return await beforeRun(session, text, context, (signal, query) =>
      withSpan('svc.query', {}, () => run(signal, query)),
    );
  }

  /** An upload is a query for the tracker, the log and the limits, although it has no text. */
  async function ingestTracked(
    session: Session,
    { catalog, schema, table }: IngestTarget,
    context: CallContext,
    work: (options: IngestOptions) => Promise<bigint>,
  ): Promise<bigint> {
    const name = [catalog, schema, table].flatMap((part) =>
      part === undefined ? [] : [quoteIdentifier(part)],
    );
    const sql = `INSERT INTO ${name.join('.')} FROM rows of the client`;
    const query = runner.tracker.start({
      ...{ session, sql, statementType: 'insert' },
      clientAddress: context.clientAddress,
    });
    query.phase('executing');
    const timeoutMs = session.settings.queryTimeoutMs ?? planner.limits.timeoutMs;
    using link = linkAbort([context.signal, session.closed], timeoutMs, () => queryTimedOut(timeoutMs));
    const { queryId } = query;
    try {
      throwIfClosed();
      const rowCount = await withLogContext({ query_id: queryId }, () =>
        withSpan('svc.query', {}, () =>
          work({ session, queryId, signal: link.signal, onPolicies: query.applied }),
        ),
      );
      query.finish();
      return rowCount;
    } catch (caught) {
      const error = QueryError.from(caught);
      query.fail(error);
      throw error;
    }
  }

  return {
    signIn: (credentials, context) => signIn(authentication, credentials, context),
    session: async (bearer, context) =>
      withHeaderSchema(await authentication.sessionOf(bearer, context), context),

    planStatement: (session, text, context) =>
      forUser(session, () => {
        const statement = statementText(text);
        const { sql } = statement;
        return beforeRun(session, statement, context, async (signal, query) => {
          const { queryId, applied } = query;
          const planned = await planStatement(planner, {
            session,
            sql,
            signal,
            queryId,
            onPolicies: applied,
          });
          return ticketFor(session, planned, statement, query);
        });
      }),

    run: (session, handle, context): Promise<ResultStream> =>
      forUser(session, async () => {
        const planned = tickets.get(session.key, handle);
        throwIfPoliciesChanged(planner, session, planned);
        const queryId = takeQueryId(planned);
        const { clientAddress } = context;
        return await runs.run(planned, context.signal, (signal) =>
          runPlanned(runner, { queryId, session, planned, clientAddress, signal }),
        );
      }),

    cancel: async (session, handle) => {
      const planned = tickets.get(session.key, handle);
      tickets.delete(session.key, handle);
      const cancelled = new QueryError('CANCELLED', 'The query was cancelled by its client.');
      return runs.cancel(planned, cancelled) ? 'cancelling' : 'cancelled';
    },

    renew: async (session, handle) => {
      tickets.get(session.key, handle);
      return expiryOfUse();
    },

    prepare: (session, text, context) =>
      forUser(session, () => {
        const { sql, sentSql } = statementText(text);
        return beforeRun(session, { sql, sentSql }, context, async (signal): Promise<PreparedStatement> => {
          const {
            schema,
            parameterSchema = emptySchema,
            isUpdate,
          } = await describeStatement(planner, {
            session,
            sql,
            signal,
          });
          const statement = { sql, sentSql, schema, parameterSchema, isUpdate, parameters: undefined };
          const handle = prepared.add(session.key, statement);
          return { handle, datasetSchema: schema, parameterSchema, isUpdate };
        });
      }),

    bind: async (session, handle, parameters) => {
      const statement = prepared.get(session.key, handle);
      const bound = parametersOf(parameters, statement);
      prepared.replace(session.key, handle, { ...statement, parameters: bound });
      return handle;
    },

    planPrepared: (session, handle, context) =>
      forUser(session, async () => {
        const statement = prepared.get(session.key, handle);
        const { sql, parameters } = statement;
        return beforeRun(session, statement, context, async (signal, query) => {
          const { queryId, applied } = query;
          // Bound values may change the types of columns; without any, the plan itself has what was announced.
          if (parameters !== undefined) await checkPrepared(session, statement, signal);
          const asked = { session, sql, signal, parameters, queryId, onPolicies: applied };
          const planned = await planStatement(planner, asked);
          const isAnnounced = parameters !== undefined || planned.kind === 'answer';
          if (!isAnnounced && !isSameSchema(planned.schema, statement.schema)) throw schemaChanged();
          return ticketFor(session, planned, statement, query);
        });
      }),

    update: (session, text, context) =>
      forUser(session, () => runUpdate(session, statementText(text), context)),

    updatePrepared: (session, handle, parameters, context) =>
      forUser(session, async () => {
        const statement = prepared.get(session.key, handle);
        return await runUpdate(session, statement, context, () =>
          parameters === undefined ? statement.parameters : parametersOf(parameters, statement),
        );
      }),

    ingest: (session, target, rows, context) =>
      forUser(session, () =>
        ingestTracked(session, target, context, (options) => dependencies.ingest(target, rows, options)),
      ),

    closePrepared: async (session, handle) => prepared.delete(session.key, handle),

    catalogs: async (session) => planner.catalogsOf(session).names,

    schemas: async (session, catalog, schemaPattern, context) => {
      const matches = compileLikePattern(schemaPattern);
      const rows: { catalog: string; schema: string }[] = [];
      const catalogs = readableCatalogs(planner, session);
      for (const name of catalogs.names) {
        if (catalog !== undefined && catalog !== name) continue;
        const namespaces = await catalogs.get(name).catalog.listNamespaces([], { signal: context.signal });
        rows.push(
          ...namespaces
            .map(schemaName)
            .filter(matches)
            .map((schema) => ({ catalog: name, schema })),
        );
      }
      return rows;
    },

    tables: (session, filter: TableFilter, context) =>
      listTables(readableCatalogs(planner, session), filter, {
        timeZone: session.settings.timeZone,
        signal: context.signal,
      }),
    sqlInfo: () => sqlInfoFacts(dependencies.version, dependencies.handleTtlMs),

    closeSession: async (session) => sessions.close(session),
    sessionOptions: (session) => getSessionOptions(session),
    setSessionOptions: (session, options) => setSessionOptions(session, options, planner),
  };
}

/** A text to run, and what the client sent where that is another one. */
interface StatementText {
  readonly sql: string;
  readonly sentSql?: string | undefined;
}

/** JDBC sends its `schema` property as a header of every call; it is the session's default until USE says otherwise. */
function withHeaderSchema(session: Session, context: CallContext): Session {
  const schema = context.headers.get('schema');
  if (schema !== undefined && schema !== '' && session.settings.schema === undefined) {
    session.settings = { ...session.settings, schema };
  }
  return session;
}

/** The statement type of a text, which may not even classify. */
function statementTypeOf(planner: StatementPlannerDependencies, sql: string) {
  try {
    return planner.analyzer.classify(sql).statementType;
  } catch (error) {
    if (error instanceof QueryError) return 'query';
    throw error;
  }
}

/** Log records and spans of what is done for a user name them; the caller's own ids they have from the call. */
function forUser<T>({ identity, label }: Session, body: () => Promise<T>): Promise<T> {
  const fields = { user: identity.username, session_id: label };
  describeSpan(fields);
  return withLogContext(fields, body);
}
