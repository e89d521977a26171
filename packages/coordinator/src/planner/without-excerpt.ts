import { QueryError } from '@svc/base';

/** The error without the engine's excerpt of a statement that is not the user's own text: they could not place it. */
export function withoutExcerpt(error: unknown): unknown {
  if (!(error instanceof QueryError)) return error;
  const at = error.message.indexOf('\n\nLINE ');
  if (at === -1) return error;
  const { code, retryable } = error;
  return new QueryError(code, error.message.slice(0, at), { cause: error, retryable });
}
