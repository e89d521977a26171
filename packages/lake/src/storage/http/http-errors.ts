/** What failed requests over http mean. Messages name the URL without its query, and nothing of its headers. */
import { QueryError } from '@svc/base';
import { displayLocation } from '../display-location.js';
import { codeOf, passingNetworkCode } from '../remote/network-errors.js';
import type { Outcome } from '../remote/outcome.js';
import { isPassingStatus, retryAfterMs } from '../remote/passing-status.js';
import { changedError } from '../remote/remote-reads.js';
import type { HttpAnswer } from './http-request.js';

/** An answer that is no success. Throws what will not pass. */
export function statusOutcome({ status, headers, target }: HttpAnswer, location: string): Outcome<never> {
  const name = displayLocation(location);
  if (isPassingStatus(status))
    return {
      kind: 'again',
      error: new QueryError('STORAGE_ERROR', `The server answers ${status} for ${name}.`),
      afterMs: retryAfterMs(headers['retry-after']),
      isOverloaded: status === 429 || status === 503,
    };
  if (status === 404 || status === 410)
    throw new QueryError('DATA_FILE_MISSING', `The file ${name} does not exist (HTTP status ${status}).`);
  if (status === 401 || status === 403)
    throw new QueryError(
      'STORAGE_ACCESS_DENIED',
      status === 401
        ? `The server at ${target.url.host} wants credentials for ${name}, or does not take those of the URL.`
        : `The server at ${target.url.host} denies access to ${name}.`,
    );
  if (status === 412) throw changedError(location);
  throw new QueryError('STORAGE_ERROR', `The server answers ${status} for ${name}.`, { retryable: false });
}

/** A request that got no answer, or whose answer broke off. */
export function connectionOutcome(caught: unknown, location: string): Outcome<never> {
  if (caught instanceof QueryError) throw caught;
  const name = displayLocation(location);
  const passing = passingNetworkCode(caught);
  if (passing !== undefined)
    return {
      kind: 'again',
      error: new QueryError('STORAGE_ERROR', `The connection to ${name} failed (${passing}).`),
    };
  const code = codeOf(caught);
  if (code === undefined) throw QueryError.from(caught);
  throw new QueryError('STORAGE_ERROR', `The connection to ${name} failed (${code}).`, { retryable: false });
}
