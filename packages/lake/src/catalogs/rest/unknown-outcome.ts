import type { QueryError } from '@svc/base';

/** A change was sent, and it cannot be told whether it was made. */
export class UnknownOutcome {
  readonly error: QueryError;

  constructor(error: QueryError) {
    this.error = error;
  }
}
