import { QueryError } from '@svc/base';

export function cancelled(): QueryError {
  return new QueryError('CANCELLED', 'The query was cancelled.');
}
