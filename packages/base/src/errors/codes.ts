/**
 * The table of error codes. One row per stable code: what kind of failure it is, whether the same call may
 * succeed later, the gRPC status it travels as, and a sentence for docs/errors.md (generated from here).
 */

/** Who can do something about it: the user, us, whoever sizes the service, or a system beside us. */
export type ErrorCategory = 'user' | 'internal' | 'resources' | 'external';

/** gRPC status names as the gRPC specification spells them. */
export type GrpcStatusName =
  | 'CANCELLED'
  | 'INVALID_ARGUMENT'
  | 'DEADLINE_EXCEEDED'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'UNIMPLEMENTED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'DATA_LOSS'
  | 'UNAUTHENTICATED';

export interface ErrorCodeInfo {
  readonly category: ErrorCategory;
  readonly retryable: boolean;
  readonly grpc: GrpcStatusName;
  readonly description: string;
}

function row(
  category: ErrorCategory,
  grpc: GrpcStatusName,
  description: string,
  retryable = false,
): ErrorCodeInfo {
  return { category, grpc, retryable, description };
}

export const errorCodes = {
  // Statements
  SYNTAX_ERROR: row('user', 'INVALID_ARGUMENT', 'The SQL text does not parse.'),
  BINDING_ERROR: row(
    'user',
    'INVALID_ARGUMENT',
    'A column, type or function of the statement cannot be resolved.',
  ),
  STATEMENT_TOO_LARGE: row(
    'user',
    'INVALID_ARGUMENT',
    'The SQL text is longer than `query.max_sql_bytes` or nested too deeply.',
  ),
  STATEMENT_NOT_ALLOWED: row('user', 'PERMISSION_DENIED', 'The kind of statement is never run for a user.'),
  FUNCTION_NOT_ALLOWED: row(
    'user',
    'PERMISSION_DENIED',
    'A function is not on the allow-list, or its arguments are out of bounds.',
  ),
  TABLE_REFERENCE_NOT_ALLOWED: row(
    'user',
    'PERMISSION_DENIED',
    'A table reference names a file or a system table.',
  ),
  NOT_SUPPORTED: row(
    'user',
    'UNIMPLEMENTED',
    'The statement or feature is known but this version does not run it.',
  ),
  INVALID_PARAMETER: row(
    'user',
    'INVALID_ARGUMENT',
    'A bound parameter is missing, superfluous or of the wrong type.',
  ),
  INVALID_ARGUMENT: row('user', 'INVALID_ARGUMENT', 'A request field is malformed.'),
  EVALUATION_ERROR: row(
    'user',
    'INVALID_ARGUMENT',
    'An expression failed on a value: a cast, a division, an overflow.',
  ),
  // Catalog
  CATALOG_NOT_FOUND: row('user', 'NOT_FOUND', 'No catalog has this name.'),
  SCHEMA_NOT_FOUND: row('user', 'NOT_FOUND', 'No schema has this name.'),
  TABLE_NOT_FOUND: row('user', 'NOT_FOUND', 'No table or view has this name.'),
  SNAPSHOT_NOT_FOUND: row(
    'user',
    'NOT_FOUND',
    'The table has no such snapshot, branch or tag, or none at that time.',
  ),
  POLICY_NOT_FOUND: row('user', 'NOT_FOUND', 'No policy that SQL made has this name.'),
  ALREADY_EXISTS: row(
    'user',
    'ALREADY_EXISTS',
    'A schema, table, view or policy of this name exists already.',
  ),
  SCHEMA_NOT_EMPTY: row(
    'user',
    'FAILED_PRECONDITION',
    'The schema cannot be dropped while it has tables, views or schemas.',
  ),
  // Sign-in
  UNAUTHENTICATED: row('user', 'UNAUTHENTICATED', 'No credentials, or credentials that are not valid.'),
  SESSION_EXPIRED: row(
    'user',
    'UNAUTHENTICATED',
    'The session is over: it was idle, too old, its tokens could not be renewed, or newer ones of the user took its place. Sign in again.',
  ),
  SESSION_LOST: row(
    'user',
    'UNAUTHENTICATED',
    'This coordinator does not know the session: it was closed, or belonged to a coordinator that is gone. Sign in again.',
  ),
  TOO_MANY_SESSIONS: row(
    'resources',
    'RESOURCE_EXHAUSTED',
    'As many sessions are open as this coordinator may have: sign in again later.',
    true,
  ),
  SIGN_IN_LIMITED: row(
    'user',
    'RESOURCE_EXHAUSTED',
    'Too many wrong passwords for this user or from this address; the message says when to try again.',
    true,
  ),
  IDENTITY_PROVIDER_UNAVAILABLE: row(
    'external',
    'UNAVAILABLE',
    'The identity provider could not be reached or did not answer as it should.',
    true,
  ),
  PERMISSION_DENIED: row('user', 'PERMISSION_DENIED', 'The user may not do this.'),
  POLICY_NOT_APPLICABLE: row(
    'user',
    'FAILED_PRECONDITION',
    'A policy of a table cannot be applied to this statement or session: nothing of the table is answered.',
  ),
  POLICY_CHECK_FAILED: row(
    'user',
    'PERMISSION_DENIED',
    'A row that a statement writes is one that a row filter of the table hides: nothing was written.',
  ),
  POLICY_CHANGED: row(
    'user',
    'FAILED_PRECONDITION',
    'Policies or roles have changed since the statement was planned: plan it again.',
    true,
  ),
  INSECURE_TRANSPORT: row(
    'user',
    'UNAUTHENTICATED',
    'A password was sent over an unprotected connection and was refused.',
  ),
  // Handles
  TICKET_INVALID: row(
    'user',
    'INVALID_ARGUMENT',
    'The ticket is damaged, or was not issued by this service for this session.',
  ),
  TICKET_EXPIRED: row(
    'user',
    'NOT_FOUND',
    'The ticket was issued here but has expired: call GetFlightInfo again.',
  ),
  PREPARED_STATEMENT_NOT_FOUND: row(
    'user',
    'NOT_FOUND',
    'The prepared statement was closed or has expired: prepare it again.',
  ),
  RESULT_SCHEMA_CHANGED: row(
    'user',
    'FAILED_PRECONDITION',
    'The tables changed so that the result has another schema: prepare again.',
  ),
  // Life of a query
  CANCELLED: row('user', 'CANCELLED', 'The caller cancelled the query or went away.'),
  QUERY_TIMEOUT: row('resources', 'DEADLINE_EXCEEDED', 'The query ran longer than its limit.'),
  QUEUE_FULL: row('resources', 'RESOURCE_EXHAUSTED', 'Too many queries are waiting: try again later.', true),
  QUEUE_TIMEOUT: row(
    'resources',
    'RESOURCE_EXHAUSTED',
    'The query waited longer than its limit for a place.',
    true,
  ),
  OUT_OF_MEMORY: row('resources', 'RESOURCE_EXHAUSTED', 'The query needs more memory than its limit.'),
  RESULT_TOO_LARGE: row('resources', 'RESOURCE_EXHAUSTED', 'The result is larger than its limit.'),
  DISK_FULL: row('resources', 'RESOURCE_EXHAUSTED', 'No room for staging, spill or spool files.', true),
  SLOW_CONSUMER: row(
    'resources',
    'RESOURCE_EXHAUSTED',
    'The client read its result too slowly and the spool budget is used up.',
  ),
  SHUTTING_DOWN: row(
    'resources',
    'UNAVAILABLE',
    'The service is draining: send the statement to another coordinator, or again in a moment.',
    true,
  ),
  ENGINE_CRASHED: row(
    'internal',
    'UNAVAILABLE',
    'The engine process running the query ended unexpectedly; other queries are not affected.',
    true,
  ),
  AUDIT_UNAVAILABLE: row(
    'resources',
    'UNAVAILABLE',
    'The audit log cannot be written, and `audit.on_failure` is `refuse`.',
    true,
  ),
  // Data
  DATA_CORRUPT: row('external', 'DATA_LOSS', 'A data or metadata file is damaged; the message names it.'),
  DATA_FILE_MISSING: row('external', 'NOT_FOUND', 'A file that the table metadata names does not exist.'),
  UNSUPPORTED_TABLE_FEATURE: row(
    'user',
    'UNIMPLEMENTED',
    'The table uses a format feature that this version does not read.',
  ),
  STORAGE_ERROR: row('external', 'UNAVAILABLE', 'Storage did not answer as it should.', true),
  STORAGE_ACCESS_DENIED: row(
    'external',
    'PERMISSION_DENIED',
    'Storage refuses a file to the credentials at hand, or the credentials themselves.',
  ),
  CATALOG_ERROR: row('external', 'UNAVAILABLE', 'The catalog did not answer as it should.', true),
  PEER_UNAVAILABLE: row(
    'external',
    'UNAVAILABLE',
    'Another Flight service could not be reached or did not answer as it should.',
    true,
  ),
  EXECUTOR_LOST: row(
    'external',
    'UNAVAILABLE',
    'A worker or function went away, or answered what it should not, while it ran a part of the query.',
    true,
  ),
  EXECUTOR_TIME_OVER: row(
    'resources',
    'UNAVAILABLE',
    'The time of a function, or of the credentials it was given, ended before it had run its part of the query.',
    true,
  ),
  NO_EXECUTOR: row(
    'resources',
    'UNAVAILABLE',
    'No worker or function of the kind that `svc.execution` asks for can be reached.',
    true,
  ),
  FRAGMENT_REFUSED: row(
    'internal',
    'PERMISSION_DENIED',
    'A worker or function does not take the fragment: its signature, age, user or version is not as it must be.',
  ),
  COMMIT_CONFLICT: row('external', 'FAILED_PRECONDITION', 'Another writer changed the table first.', true),
  COMMIT_OUTCOME_UNKNOWN: row(
    'external',
    'UNAVAILABLE',
    'It is not known whether the change was made: look at the table before sending the statement again.',
  ),
  // Ours
  CONFIGURATION_ERROR: row(
    'user',
    'FAILED_PRECONDITION',
    'The configuration is not valid; the message names the key.',
  ),
  INTERNAL_ERROR: row(
    'internal',
    'INTERNAL',
    'A defect of the service. The log record with this query id has the details.',
  ),
} as const satisfies Record<string, ErrorCodeInfo>;

export type ErrorCode = keyof typeof errorCodes;
