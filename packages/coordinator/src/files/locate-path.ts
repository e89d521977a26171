import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { QueryError } from '@svc/base';

/** A path, URL or pattern of a statement: on this machine's disk, where the engine reads it, or elsewhere. */
export type LocatedPath =
  /** `pattern` is the path for the engine: what the statement did not write means itself there. */
  | { readonly kind: 'local'; readonly path: string; readonly pattern: string }
  | { readonly kind: 'remote'; readonly location: string };

export interface PathContext {
  /** What relative paths begin from. */
  readonly workingDirectory: string;
  /** What `~` stands for. */
  readonly homeDirectory: string;
}

const remoteScheme = /^(?:https?|s3|s3a|s3n):\/\//i;
const otherScheme = /^([a-z][a-z0-9+.-]+):\/\//i;

/** Throws INVALID_ARGUMENT for an empty path, NOT_SUPPORTED for a scheme that nothing reads. */
export function locatePath(written: string, { workingDirectory, homeDirectory }: PathContext): LocatedPath {
  if (written.trim() === '' || written.includes('\0'))
    throw new QueryError('INVALID_ARGUMENT', `${JSON.stringify(written)} is no path.`);
  if (remoteScheme.test(written)) return { kind: 'remote', location: written };
  if (/^file:\/\//i.test(written)) return local('/', pathOfUrl(written));
  const scheme = otherScheme.exec(written)?.[1];
  if (scheme !== undefined)
    throw new QueryError(
      'NOT_SUPPORTED',
      `Files are read from this machine's disk, http(s) and s3, not from ${scheme}.`,
    );
  return /^~(?=\/|$)/.test(written)
    ? local(homeDirectory, `.${written.slice(1)}`)
    : local(workingDirectory, written);
}

function local(from: string, path: string): LocatedPath {
  return { kind: 'local', path: resolve(from, path), pattern: resolve(literal(from), path) };
}

/** A folder's name as a pattern that means it alone. */
function literal(folder: string): string {
  return folder.replaceAll(/[*?[]/g, (character) => `[${character}]`);
}

function pathOfUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new QueryError(
      'INVALID_ARGUMENT',
      'A file URL names a file of this machine: file:///folder/name.csv.',
      { cause },
    );
  }
}
