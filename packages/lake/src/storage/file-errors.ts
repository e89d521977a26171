import { QueryError } from '@svc/base';

/** A failed file-system call as a QueryError naming the location; QueryErrors and aborts pass through. */
export function fileError(location: string, caught: unknown): QueryError {
  const code = caught instanceof Error ? (caught as NodeJS.ErrnoException).code : undefined;
  if (caught instanceof QueryError || code === undefined || !code.startsWith('E'))
    return QueryError.from(caught);
  const options = { cause: caught };
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ENAMETOOLONG':
      return new QueryError('DATA_FILE_MISSING', `The file ${location} does not exist.`, options);
    case 'EEXIST':
      return new QueryError('COMMIT_CONFLICT', `The file ${location} exists already.`, options);
    case 'ENOSPC':
    case 'EDQUOT':
      return new QueryError('DISK_FULL', `No space is left on the disk to write ${location}.`, options);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new QueryError('STORAGE_ERROR', `The operating system denies access to ${location}.`, {
        ...options,
        retryable: false,
      });
    default:
      return new QueryError(
        'STORAGE_ERROR',
        `The file ${location} could not be accessed (${code}).`,
        options,
      );
  }
}
