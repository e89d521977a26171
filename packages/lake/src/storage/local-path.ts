import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { QueryError } from '@svc/base';

/**
 * The path that a location of the local file system names: a plain path, `file:/p`, `file:///p` or
 * `file://localhost/p`.
 *
 * Table writers put the path into the URI without escaping it, so `file:///t/name=a%2Fb/f.parquet` nearly always
 * means a folder called `name=a%2Fb`. The literal reading therefore wins; the decoded one is used when only it exists.
 * Throws NOT_SUPPORTED for another scheme or host, DATA_FILE_MISSING for a NUL byte.
 */
export function toLocalPath(location: string): string {
  const literal = literalPath(location);
  if (literal.includes('\0'))
    throw new QueryError(
      'DATA_FILE_MISSING',
      `No file can have the name ${JSON.stringify(location)}: it has a NUL byte.`,
    );
  if (!location.startsWith('file:') || !literal.includes('%') || existsSync(literal)) return literal;
  const decoded = decodedPath(literal);
  return decoded !== undefined && existsSync(decoded) ? decoded : literal;
}

function literalPath(location: string): string {
  if (location.startsWith('file:')) {
    const rest = location.slice('file:'.length);
    if (!rest.startsWith('//')) return resolve(rest);
    const hostAndPath = rest.slice(2);
    const slash = hostAndPath.indexOf('/');
    const host = slash < 0 ? hostAndPath : hostAndPath.slice(0, slash);
    if (slash < 0 || (host !== '' && host !== 'localhost'))
      throw new QueryError(
        'NOT_SUPPORTED',
        `The location ${JSON.stringify(location)} names another host: a local file is file:///path.`,
      );
    return resolve(hostAndPath.slice(slash));
  }
  if (hasScheme(location))
    throw new QueryError(
      'NOT_SUPPORTED',
      `The location ${JSON.stringify(location)} is not a local file: this catalog opens plain paths and file: only.`,
    );
  return resolve(location);
}

function hasScheme(location: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(location);
}

function decodedPath(path: string): string | undefined {
  try {
    const decoded = decodeURIComponent(path);
    return decoded.includes('\0') ? undefined : decoded;
  } catch {
    return undefined;
  }
}
