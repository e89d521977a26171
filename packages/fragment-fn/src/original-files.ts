import { basename } from 'node:path';
import { QueryError } from '@svc/base';
import type { StagedGroup } from './views/view-sql.js';

/**
 * What the engine says of a staged file, said of the table's file that it stands for: a user and an operator know only
 * that one.
 */
export function namingOriginalFiles(caught: unknown, groups: readonly StagedGroup[]): QueryError {
  const error = QueryError.from(caught);
  let { message } = error;
  for (const { paths, locations } of groups) {
    paths.forEach((path, index) => {
      const location = locations[index];
      if (location !== undefined) message = message.replaceAll(basename(path), location);
    });
  }
  if (message === error.message) return error;
  return new QueryError(error.code, message, { cause: error.cause, retryable: error.retryable });
}
