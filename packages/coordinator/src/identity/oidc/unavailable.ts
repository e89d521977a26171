import { QueryError } from '@svc/base';

/**
 * The identity provider cannot be used. `what` completes "The identity provider …"; it never quotes what the provider
 * sent. Not retryable where only a change of configuration helps.
 */
export function unavailable(
  what: string,
  options: { readonly cause?: unknown; readonly retryable?: boolean } = {},
): QueryError {
  return new QueryError('IDENTITY_PROVIDER_UNAVAILABLE', `The identity provider ${what}.`, options);
}
