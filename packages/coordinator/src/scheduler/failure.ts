/** What the failure of a fragment means for the fragments beside it. */
import type { ErrorCode, QueryError } from '@svc/base';
import type { FragmentExecutor } from '@svc/fragment-fn';

/**
 * `executor`: it is lost or broken; what it had not ended runs elsewhere, and it is left alone for a while. `refused`: the
 * same, for longer. `leaving`: it drains, and `busy`: others have its slots; neither is a fault. `over`: the time it was given
 * has ended, by its own word. `again`: a matter of the moment or of the machine; worth another try. `one-node`: what runs on
 * one node decides. `final`: it is the query's own error, wherever it runs.
 */
export type FailureKind =
  | 'executor'
  | 'refused'
  | 'leaving'
  | 'busy'
  | 'over'
  | 'again'
  | 'one-node'
  | 'final';

const kinds: Partial<Record<ErrorCode, FailureKind>> = {
  EXECUTOR_LOST: 'executor',
  PEER_UNAVAILABLE: 'executor',
  // Nobody here has cancelled it.
  CANCELLED: 'executor',
  FRAGMENT_REFUSED: 'refused',
  SHUTTING_DOWN: 'leaving',
  QUEUE_FULL: 'busy',
  QUEUE_TIMEOUT: 'busy',
  EXECUTOR_TIME_OVER: 'over',
  // A statement that ends every engine it meets is not tried for ever: see the attempts of a split.
  ENGINE_CRASHED: 'again',
  STORAGE_ERROR: 'again',
  // Credentials may have run out on the way.
  STORAGE_ACCESS_DENIED: 'again',
  DISK_FULL: 'again',
  INTERNAL_ERROR: 'again',
  // Fragments compute what the statement computes, but in another order, with another machine's memory, and from another
  // text: only the statement itself can say that it fails.
  EVALUATION_ERROR: 'one-node',
  BINDING_ERROR: 'one-node',
  SYNTAX_ERROR: 'one-node',
  NOT_SUPPORTED: 'one-node',
  OUT_OF_MEMORY: 'one-node',
  RESULT_TOO_LARGE: 'one-node',
};

export function failureKind({ code }: Pick<QueryError, 'code'>): FailureKind {
  return kinds[code] ?? 'final';
}

/** What an executor of that kind can mean by it: a sandbox has no other callers, and a worker no time of its own. */
export function failureOn(place: FragmentExecutor['kind'], error: Pick<QueryError, 'code'>): FailureKind {
  const kind = failureKind(error);
  if (place === 'lambda') return kind === 'busy' ? 'again' : kind === 'leaving' ? 'executor' : kind;
  return kind === 'over' ? 'executor' : kind;
}

/**
 * What a split may cost before its error is the query's: executors that were lost with it, tries of other kinds, times that
 * the whole time of an executor was not enough for it alone, and answers that there is no place for it. These are no fault,
 * and how long they are borne is up to the query's timeout; but an executor could give no other answer for ever.
 */
export type CountedFailure = 'executor' | 'again' | 'over' | 'place';

export const maxAttempts: Readonly<Record<CountedFailure, number>> = {
  ...{ executor: 5, again: 3, over: 3 },
  place: 100,
};

export function countedAs(kind: Exclude<FailureKind, 'one-node' | 'final'>): CountedFailure {
  if (kind === 'busy' || kind === 'leaving') return 'place';
  return kind === 'refused' ? 'executor' : kind;
}

/**
 * Whether the statement may be run on one node instead, while nothing of it has been answered. What a fragment's text, order
 * or machine may have caused is decided there; for want of executors only where these were a choice.
 */
export function mayRunHere(error: QueryError, isForced: boolean): boolean {
  const kind = failureKind(error);
  if (kind === 'one-node' || error.code === 'INTERNAL_ERROR') return true;
  return !isForced && (kind !== 'final' || error.code === 'NO_EXECUTOR');
}
