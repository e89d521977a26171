import { QueryError } from '@svc/base';

/** Damage found while decoding, where the file's name is not known; the container reader adds it. */
export class AvroError extends Error {
  override readonly name = 'AvroError';
}

/** What was caught while reading `source` as an error that names it. QueryErrors pass through. */
export function namedAvroError(source: string, caught: unknown): QueryError {
  if (caught instanceof QueryError) return caught;
  if (caught instanceof AvroError)
    return new QueryError('DATA_CORRUPT', `${source} is not a valid Avro file: ${caught.message}.`, {
      cause: caught,
    });
  return QueryError.from(caught);
}
