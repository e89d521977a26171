/**
 * What the Flight SQL server needs of the service behind it. The server translates only: messages, framing, status
 * codes, headers. `S` is the backend's session, opaque here.
 */

/** One call as the transport saw it. */
export interface CallContext {
  /** Ends with the call: cancelled by the client, deadline passed, connection lost. */
  readonly signal: AbortSignal;
  /** Client address without port: of the connection, or what a trusted proxy says of the one behind it. */
  readonly clientAddress: string;
  /** ASCII request headers by lower-case name; authorization and cookies removed. */
  readonly headers: ReadonlyMap<string, string>;
  /** TLS, or loopback, or TLS ended upstream: a password may be read from it. */
  readonly isConfidential: boolean;
}

export type Credentials =
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'bearer'; readonly token: string };

/** A query whose schema is known and whose snapshots are pinned. `handle` goes into the ticket as it is. */
export interface PlannedQuery {
  readonly handle: Uint8Array;
  /** Encapsulated Arrow IPC schema. */
  readonly schema: Uint8Array;
  /** Milliseconds since 1970 until which the handle may be run, more than once. */
  readonly expiresAtMs: number;
}

export interface PreparedStatement {
  readonly handle: Uint8Array;
  /** Encapsulated Arrow IPC schema; of an update: a schema without fields. */
  readonly datasetSchema: Uint8Array;
  readonly parameterSchema: Uint8Array;
  readonly isUpdate: boolean;
}

/** One message of a result: see EngineMessage, which has this shape. `release` gives its memory back. */
export interface ResultMessage {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
  release(): void;
}

export interface ResultStream {
  /** Encapsulated Arrow IPC schema; byte for byte that of the plan. */
  readonly schema: Uint8Array;
  /**
   * Dictionaries and batches, iterated once, one `next` at a time. Ended early by `return`, while a `next` may be
   * pending; a message that this `next` still answers is released. If nothing was read, one `next` precedes `return`.
   */
  readonly messages: AsyncIterable<ResultMessage>;
  /**
   * Aborts, with the error as its reason, when the result ends although the client may not be reading: killed by an
   * administrator, out of time, too slow a reader. The server then stops waiting for the client.
   */
  readonly failed?: AbortSignal;
}

/** Where rows that a client uploads shall go. Absent parts of the name are the session's to fill in. */
export interface IngestTarget {
  readonly catalog: string | undefined;
  readonly schema: string | undefined;
  readonly table: string;
  readonly ifNotExists: 'create' | 'fail';
  readonly ifExists: 'fail' | 'append' | 'replace';
}

/** One Arrow IPC message behind the schema: as ResultMessage, in memory that is the reader's to keep. */
export interface UploadedMessage {
  readonly kind: 'dictionary' | 'batch';
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

export interface UploadedRows {
  /** Encapsulated Arrow IPC schema. */
  readonly schema: Uint8Array;
  /** Ends at the client's half-close, and throws when the client goes away before. Each is read when it is asked for. */
  readonly messages: AsyncIterable<UploadedMessage>;
}

export interface TableFilter {
  /** Exact; the empty text asks for what has no catalog, which here is nothing. */
  readonly catalog: string | undefined;
  readonly schemaPattern: string | undefined;
  readonly tablePattern: string | undefined;
  readonly tableTypes: readonly string[];
  readonly includeSchema: boolean;
}

export interface TableRow {
  readonly catalog: string;
  readonly schema: string;
  readonly table: string;
  readonly type: 'TABLE' | 'VIEW';
  /** Encapsulated Arrow IPC schema; present exactly when asked for. */
  readonly arrowSchema?: Uint8Array;
}

export type SessionOptionValue = string | boolean | bigint | number | readonly string[];
export type SetSessionOptionError = 'invalid-name' | 'invalid-value' | 'error';

export interface SqlInfoFacts {
  readonly serverName: string;
  readonly serverVersion: string;
  readonly arrowVersion: string;
  readonly keywords: readonly string[];
  readonly numericFunctions: readonly string[];
  readonly stringFunctions: readonly string[];
  readonly systemFunctions: readonly string[];
  readonly datetimeFunctions: readonly string[];
  /** How long an unused prepared statement lives; absent or 0: until it is closed. */
  readonly preparedStatementTtlMs?: number;
}

export interface FlightSqlBackend<S> {
  /** Answers the bearer. Throws UNAUTHENTICATED or INSECURE_TRANSPORT. */
  signIn(credentials: Credentials, context: CallContext): Promise<string>;
  /** The session of a bearer. Throws UNAUTHENTICATED or SESSION_EXPIRED. */
  session(bearer: string, context: CallContext): Promise<S>;

  planStatement(session: S, sql: string, context: CallContext): Promise<PlannedQuery>;
  /** Runs a handle that `planStatement` or `planPrepared` issued. Throws TICKET_INVALID, TICKET_EXPIRED. */
  run(session: S, handle: Uint8Array, context: CallContext): Promise<ResultStream>;

  /**
   * Ends what runs for a handle and gives the handle up. Answers `cancelled`, or `cancelling` while something still ends.
   * Throws TICKET_INVALID, TICKET_EXPIRED.
   */
  cancel(session: S, handle: Uint8Array, context: CallContext): Promise<'cancelled' | 'cancelling'>;
  /** Keeps a handle; answers until when, in milliseconds since 1970. Throws TICKET_INVALID, TICKET_EXPIRED. */
  renew(session: S, handle: Uint8Array, context: CallContext): Promise<number>;

  prepare(session: S, sql: string, context: CallContext): Promise<PreparedStatement>;
  /** Binds parameters (Arrow IPC stream bytes of the client's own types). Answers the handle to use from now on. */
  bind(session: S, prepared: Uint8Array, parameters: Uint8Array, context: CallContext): Promise<Uint8Array>;
  /** Runs a statement that changes something; answers the number of rows, 0 where there is none. */
  update(session: S, sql: string, context: CallContext): Promise<bigint>;
  /** With `parameters`, an Arrow IPC stream, it runs once for each row of them. */
  updatePrepared(
    session: S,
    prepared: Uint8Array,
    parameters: Uint8Array | undefined,
    context: CallContext,
  ): Promise<bigint>;
  /** Adds uploaded rows to a table, all of them or none; answers their number. */
  ingest(session: S, target: IngestTarget, rows: UploadedRows, context: CallContext): Promise<bigint>;
  planPrepared(session: S, prepared: Uint8Array, context: CallContext): Promise<PlannedQuery>;
  closePrepared(session: S, prepared: Uint8Array): Promise<void>;

  catalogs(session: S, context: CallContext): Promise<readonly string[]>;
  /** `catalog` as in TableFilter. */
  schemas(
    session: S,
    catalog: string | undefined,
    schemaPattern: string | undefined,
    context: CallContext,
  ): Promise<readonly { readonly catalog: string; readonly schema: string }[]>;
  /** Ordered by catalog, schema and table. Patterns are those of compileLikePattern. */
  tables(session: S, filter: TableFilter, context: CallContext): AsyncIterable<TableRow>;
  sqlInfo(): SqlInfoFacts;

  closeSession(session: S): Promise<void>;
  sessionOptions(session: S): ReadonlyMap<string, SessionOptionValue>;
  /** `undefined` values reset. Answers the errors by name. */
  setSessionOptions(
    session: S,
    options: ReadonlyMap<string, SessionOptionValue | undefined>,
  ): Promise<ReadonlyMap<string, SetSessionOptionError>>;
}
