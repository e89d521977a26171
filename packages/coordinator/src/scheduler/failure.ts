/** What the failure of a fragment means for the fragments beside it. */
import type { ErrorCode, QueryError } from '@svc/base';

/**
 * `executor`: it is lost or broken; what it had not ended runs elsewhere, and it is left alone for a while. `refused`: the
 * same, for longer. `leaving`: it drains, which is no fault. `again`: a matter of the moment or of the machine; worth another
 * try. `one-node`: what runs on one node decides. `final`: it is the query's own error, wherever it runs.
 */
export type FailureKind = 'executor' | 'refused' | 'leaving' | 'again' | 'one-node' | 'final';

const kinds: Partial<Record<ErrorCode, FailureKind>> = {
  EXECUTOR_LOST: 'executor',
  PEER_UNAVAILABLE: 'executor',
  // Nobody here has cancelled it.
  CANCELLED: 'executor',
  FRAGMENT_REFUSED: 'refused',
  SHUTTING_DOWN: 'leaving',
  // A statement that ends every engine it meets is not tried for ever: see the attempts of a split.
  ENGINE_CRASHED: 'again',
  STORAGE_ERROR: 'again',
  // Credentials may have run out on the way.
  STORAGE_ACCESS_DENIED: 'again',
  DISK_FULL: 'again',
  INTERNAL_ERROR: 'again',
  QUEUE_FULL: 'again',
  QUEUE_TIMEOUT: 'again',
  // Fragments compute what the statement computes, but in another order, with another machine's memory, and from another
  // text: only the statement itself can say that it fails.
  EVALUATION_ERROR: 'one-node',
  BINDING_ERROR: 'one-node',
  SYNTAX_ERROR: 'one-node',
  NOT_SUPPORTED: 'one-node',
  OUT_OF_MEMORY: 'one-node',
  RESULT_TOO_LARGE: 'one-node',
};

export function failureKind({ code }: QueryError): FailureKind {
  return kinds[code] ?? 'final';
}

/** What a split may cost before its error is the query's: executors that were lost with it, and tries of other kinds. */
export const maxAttempts: Readonly<Record<'executor' | 'again', number>> = { executor: 5, again: 3 };

/**
 * Whether the statement may be run on one node instead, while nothing of it has been answered. What a fragment's text, order
 * or machine may have caused is decided there; for want of executors only where these were a choice.
 */
export function mayRunHere(error: QueryError, isForced: boolean): boolean {
  const kind = failureKind(error);
  if (kind === 'one-node' || error.code === 'INTERNAL_ERROR') return true;
  return !isForced && (kind !== 'final' || error.code === 'NO_EXECUTOR');
}
