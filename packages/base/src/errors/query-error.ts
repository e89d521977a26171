import { boundedText } from '../log/safe-text.js';
import { type ErrorCategory, type ErrorCode, errorCodes, type GrpcStatusName } from './codes.js';

export interface QueryErrorOptions {
  readonly cause?: unknown;
  /** Overrides the code's default, for example a storage error that is known to be permanent. */
  readonly retryable?: boolean;
}

/** An error as it crosses a process or network boundary: no stack, no cause. */
export interface SerializedError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
}

/** Longer messages are cut: a statement of megabytes may be quoted in one, and it goes into headers and logs. */
const maxMessageLength = 16_000;

/**
 * The one error class. The message is written for the user: it names the object and what would be right, and
 * carries no stack, secret or signed URL. Match on `code`, never on the text.
 */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly code: ErrorCode;
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: QueryErrorOptions = {}) {
    super(
      boundedText(message, maxMessageLength),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.retryable = options.retryable ?? errorCodes[code].retryable;
  }

  get category(): ErrorCategory {
    return errorCodes[this.code].category;
  }

  get grpcStatus(): GrpcStatusName {
    return errorCodes[this.code].grpc;
  }

  /**
   * Normalises whatever was caught, once at each boundary. An abort becomes CANCELLED (or the signal's own
   * QueryError reason); anything unknown becomes INTERNAL_ERROR whose message reveals nothing, with the cause kept.
   */
  static from(caught: unknown): QueryError {
    if (caught instanceof QueryError) return caught;
    if (caught instanceof Error) {
      if (caught.cause instanceof QueryError && caught.name === 'AbortError') return caught.cause;
      if (caught.name === 'AbortError')
        return new QueryError('CANCELLED', 'The query was cancelled.', { cause: caught });
      if (caught.name === 'TimeoutError')
        return new QueryError('QUERY_TIMEOUT', 'The deadline of the call has passed.', { cause: caught });
    }
    if (isDiskFull(caught))
      return new QueryError('DISK_FULL', 'No space is left on the staging disk.', { cause: caught });
    return new QueryError('INTERNAL_ERROR', 'An internal error occurred; the service log has the details.', {
      cause: caught,
    });
  }

  toSerialized(): SerializedError {
    return { code: this.code, message: this.message, retryable: this.retryable };
  }

  static fromSerialized(error: SerializedError): QueryError {
    return Object.hasOwn(errorCodes, error.code)
      ? new QueryError(error.code, error.message, { retryable: error.retryable })
      : new QueryError('INTERNAL_ERROR', error.message);
  }
}

/** ENOSPC and EDQUOT, also where a library wrapped them. */
function isDiskFull(caught: unknown): boolean {
  let error = caught;
  for (let depth = 0; depth < 8 && error instanceof Error; depth += 1) {
    const code = 'code' in error ? error.code : undefined;
    if (code === 'ENOSPC' || code === 'EDQUOT') return true;
    error = error.cause;
  }
  return false;
}
