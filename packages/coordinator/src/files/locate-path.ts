import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { QueryError } from '@svc/base';

/** A path, URL or pattern of a statement: on this machine's disk, where the engine reads it, or elsewhere. */
export type LocatedPath =
  | { readonly kind: 'local'; readonly path: string }
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
  if (/^file:\/\//i.test(written)) return { kind: 'local', path: pathOfUrl(written) };
  const scheme = otherScheme.exec(written)?.[1];
  if (scheme !== undefined)
    throw new QueryError(
      'NOT_SUPPORTED',
      `${JSON.stringify(written)}: files are read from this machine's disk, http(s) and s3, not from ${scheme}.`,
    );
  const path = /^~(?=\/|$)/.test(written) ? `${homeDirectory}${written.slice(1)}` : written;
  return { kind: 'local', path: resolve(workingDirectory, path) };
}

function pathOfUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new QueryError('INVALID_ARGUMENT', `${JSON.stringify(url)} is no URL of a file on this machine.`, {
      cause,
    });
  }
}
