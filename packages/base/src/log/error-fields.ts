import { QueryError } from '../errors/query-error.js';
import type { LogFields } from './logger.js';
import { redactSecrets } from './safe-text.js';

/** What a log record says about an error: code and message; for our own defects also the chain of causes with stacks. */
export function errorFields(caught: unknown): LogFields {
  const error = QueryError.from(caught);
  const detail = error.category === 'internal' ? causeChain(error) : causeMessage(error);
  return {
    error_code: error.code,
    error_message: redactSecrets(error.message),
    error_detail: detail === undefined ? undefined : redactSecrets(detail),
  };
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
