import type { ErrorCode } from '../errors/codes.js';
import { QueryError } from '../errors/query-error.js';
import { boundedText, redactSecrets } from './safe-text.js';

/** Fields of a log record. */
export type ErrorFields = Readonly<{
  error_code: ErrorCode;
  error_message: string;
  error_detail: string | undefined;
}>;

/** What a log record says about an error: code and message; for our own defects also the chain of causes with stacks. */
export function errorFields(caught: unknown): ErrorFields {
  const error = QueryError.from(caught);
  const detail = error.category === 'internal' ? causeChain(error) : causeMessage(error);
  return {
    error_code: error.code,
    error_message: loggable(error.message),
    error_detail: detail === undefined ? undefined : loggable(detail),
  };
}

/** Foreign texts have no bound of their own, and redacting is not for megabytes. */
function loggable(text: string): string {
  return redactSecrets(boundedText(text, 8_000));
}

function causeMessage(error: QueryError): string | undefined {
  return error.cause instanceof Error ? `${error.cause.name}: ${error.cause.message}` : undefined;
}

function causeChain(error: QueryError): string {
  const parts: string[] = [];
  let cause: unknown = error;
  for (let depth = 0; depth < 8 && cause !== undefined; depth += 1) {
    parts.push(cause instanceof Error ? (cause.stack ?? String(cause)) : `${typeof cause} thrown`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return parts.join('\ncaused by: ');
}
