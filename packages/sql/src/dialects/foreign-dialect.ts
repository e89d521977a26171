import { QueryError } from '@svc/base';

/** Dialects of other engines whose views are read as far as they mean the same here. */
export type ForeignDialect = 'trino' | 'spark';

export function otherwise(what: string): QueryError {
  return new QueryError('NOT_SUPPORTED', `It uses ${what}, which may mean something else here.`);
}
