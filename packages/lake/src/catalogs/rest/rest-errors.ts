/** What answers of a REST catalog that are no success mean. */
import { boundedText, QueryError, type QueryErrorOptions, redactSecrets } from '@svc/base';
import { isJsonObject, parseJson } from '../../iceberg/spec/lossless-json.js';
import type { RestAnswer } from './rest-service.js';

/** `problem` completes "The catalog …". */
export function catalogError(problem: string, options: QueryErrorOptions = {}): QueryError {
  return new QueryError('CATALOG_ERROR', `The catalog ${problem}.`, options);
}

/** The catalog's own word for what is wrong: `NoSuchTableException` (REST OpenAPI, ErrorModel). */
export interface CatalogProblem {
  readonly status: number;
  readonly type: string;
  /** For people; bounded, and without what looks like a credential. */
  readonly message: string;
}

const maxMessageLength = 300;
const maxErrorBytes = 64 * 1024;

export function problemOf({ status, body }: RestAnswer): CatalogProblem {
  const error = body.length > maxErrorBytes ? undefined : errorModel(body);
  const text = (value: unknown) =>
    typeof value === 'string' ? redactSecrets(boundedText(value, maxMessageLength)) : '';
  return { status, type: text(error?.type), message: text(error?.message) };
}

function errorModel(body: Uint8Array): { readonly type?: unknown; readonly message?: unknown } | undefined {
  try {
    const json = parseJson(body, 'The answer');
    const { error } = isJsonObject(json) ? json : {};
    return isJsonObject(error) ? error : undefined;
  } catch {
    return undefined; // Proxies answer HTML.
  }
}

/**
 * The error of an answer that means the same for every request: 401 and 403 are about the user, 406 about the service,
 * everything else is a fault. `what` names what was asked for.
 */
export function generalError(answer: RestAnswer, what: string): QueryError {
  const problem = problemOf(answer);
  const said = problem.message === '' ? '' : ` It says: ${JSON.stringify(problem.message)}`;
  switch (problem.status) {
    case 401:
    case 419:
      return new QueryError(
        'UNAUTHENTICATED',
        `The catalog does not accept the user's token for ${what} (${problem.status}): sign in again.`,
      );
    case 403:
      return new QueryError('PERMISSION_DENIED', `The catalog does not allow this user ${what}.${said}`);
    case 406:
    case 501:
      return new QueryError('NOT_SUPPORTED', `The catalog does not support ${what}.${said}`);
    default:
      return catalogError(`answers ${problem.status} for ${what}${said === '' ? '' : `.${said}`}`, {
        retryable: problem.status >= 500,
      });
  }
}
