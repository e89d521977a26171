/** The values that labels may take. Every label is a closed set, so the number of time series is bounded. */

/** Statement types, specification section 1.8; UPDATE counts as merge. */
export const statementTypes = [
  'query',
  'ctas',
  'insert',
  'merge',
  'delete',
  'drop',
  'create_view',
  'create_schema',
  'show_catalogs',
  'show_schemas',
  'show_tables',
  'policy',
  'utility',
] as const;
export type StatementType = (typeof statementTypes)[number];

export const queryStatuses = ['ok', 'error'] as const;
/** A cancelled query is an `error`; `svc_query_errors_total` tells by code. */
export type QueryStatus = (typeof queryStatuses)[number];

export const scanOutcomes = ['planned', 'read', 'pruned'] as const;
/** `planned`: considered by a scan; each planned item is then either `read` or `pruned`. */
export type ScanOutcome = (typeof scanOutcomes)[number];

export const scanStages = ['planned', 'selected', 'read'] as const;
/**
 * How far a scan's data got. `planned`: all data files of the pinned snapshot; `selected`: the columns (for bytes) and
 * row groups left after pruning; `read`: bytes fetched from storage or disk (cache hits are not), rows given to the engine.
 */
export type ScanStage = (typeof scanStages)[number];

export const stagingSources = ['storage', 'cache', 'in_place'] as const;
/** Where the input of a query came from: fetched, already in the disk cache, or read where it lies. */
export type StagingSource = (typeof stagingSources)[number];

/** Requests to object storage, by the name of the operation of the S3 API. */
export type S3Operation =
  | 'GetObject'
  | 'HeadObject'
  | 'ListObjectsV2'
  | 'PutObject'
  | 'CreateMultipartUpload'
  | 'UploadPart'
  | 'CompleteMultipartUpload'
  | 'AbortMultipartUpload'
  | 'DeleteObject';
/** `cancelled`: nobody waited for the answer any more, as another request had it first. */
export type S3Status = 'ok' | 'error' | 'cancelled';

export const engineHostStates = ['idle', 'leased'] as const;
export type EngineHostState = (typeof engineHostStates)[number];

export const auditOutcomes = ['written', 'dropped'] as const;
/** What became of a line of the audit log. */
export type AuditOutcome = (typeof auditOutcomes)[number];

export const identityOperations = [
  'discovery',
  'keys',
  'password',
  'refresh_token',
  'client_credentials',
] as const;
/** Requests to the identity provider: the two documents, and the grants by their OAuth names. */
export type IdentityOperation = (typeof identityOperations)[number];

export const identityOutcomes = ['ok', 'refused', 'failed', 'not_sent'] as const;
/** `refused`: answered with 4xx; `failed`: no usable answer; `not_sent`: the circuit breaker was open. */
export type IdentityOutcome = (typeof identityOutcomes)[number];

export const signInOutcomes = ['ok', 'wrong', 'limited', 'unavailable', 'failed'] as const;
/** `failed`: the client went away, or there is a defect. */
export type SignInOutcome = (typeof signInOutcomes)[number];

export const breakerStates = ['closed', 'half_open', 'open'] as const;
export type BreakerState = (typeof breakerStates)[number];
export const renewalOutcomes = ['renewed', 'failed', 'abandoned'] as const;
/** `failed`: the session is expired. `abandoned`: the session was closed, or the service stopped, meanwhile. */
export type RenewalOutcome = (typeof renewalOutcomes)[number];

export const scanLockOutcomes = ['held', 'missed'] as const;
/** `missed`: nobody gave the lock in time, so that the scan went on without. */
export type ScanLockOutcome = (typeof scanLockOutcomes)[number];

export const executorKinds = ['local', 'workers', 'lambda'] as const;
export type ExecutorKind = (typeof executorKinds)[number];

export const fragmentOutcomes = ['ok', 'failed', 'cancelled'] as const;
/** `cancelled`: nobody waited for it any more, as its query had ended or others were sooner. */
export type FragmentOutcome = (typeof fragmentOutcomes)[number];

export const fragmentPlaces = ['here', 'elsewhere'] as const;
export type FragmentPlace = (typeof fragmentPlaces)[number];

export const splitOutcomes = ['ended', 'sent_again'] as const;
export type SplitOutcome = (typeof splitOutcomes)[number];
export const workerTaskOutcomes = ['finished', 'failed', 'cancelled'] as const;
/** What became of a task that a worker took; `failed` includes one that was not what its signature says. */
export type WorkerTaskOutcome = (typeof workerTaskOutcomes)[number];
export const invocationOutcomes = ['ok', 'failed', 'lost'] as const;
/** Of a function: `failed` by the fragment's own error, or nobody needed it any more; `lost`: to be run again. */
export type InvocationOutcome = (typeof invocationOutcomes)[number];

/** Where rules about who may see what come from. */
export const policySources = ['sql', 'rules_file'] as const;
export type PolicySource = (typeof policySources)[number];

export const policyOutcomes = ['changed', 'failed'] as const;
export type PolicyOutcome = (typeof policyOutcomes)[number];
