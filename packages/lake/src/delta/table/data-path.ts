/** Where the files lie that a log names (protocol, "Add File and Remove File": paths are percent-encoded URIs). */
import { QueryError } from '@svc/base';

/**
 * The location of a path of the log. Relative paths stay below the table's folder; absolute ones are read where they
 * are in the same storage as the table (a shallow clone names another table's files): a log that lies in a bucket or on a
 * web server cannot make anything else be opened. `source` names the log file in messages.
 */
export function dataLocation(tableLocation: string, path: string, source: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(path)?.[1];
  if (scheme !== undefined) return absoluteLocation(tableLocation, path, source);
  const decoded = decode(path, source);
  if (!decoded.startsWith('/')) return below(tableLocation, decoded, source);
  if (authorityOf(tableLocation) !== localAuthority) throw elsewhere(path, tableLocation, source);
  checkSegments(decoded, source);
  return decoded;
}

/** A file below the table's folder, by a relative path that is not encoded. */
export function below(tableLocation: string, path: string, source: string): string {
  checkSegments(path, source);
  // Locations on web servers are URLs; all others are taken as they are.
  const isUrl = /^https?:/i.test(tableLocation);
  return `${tableLocation}/${isUrl ? path.split('/').map(encodeURIComponent).join('/') : path}`;
}

function absoluteLocation(tableLocation: string, path: string, source: string): string {
  const decoded = decode(path, source);
  const authority = authorityOf(decoded);
  if (authority !== authorityOf(tableLocation)) throw elsewhere(path, tableLocation, source);
  if (authority === localAuthority) {
    const plain = decoded.replace(/^file:(?:\/\/(?:localhost)?(?=\/))?/i, '');
    checkSegments(plain, source);
    return plain;
  }
  checkSegments(decoded, source);
  if (/^https?:/i.test(path)) return path;
  return `${tableLocation.slice(0, tableLocation.indexOf(':'))}${decoded.slice(decoded.indexOf(':'))}`;
}

const localAuthority = 'file:';

/** Scheme, host and bucket. Three schemes are spellings of one. */
function authorityOf(location: string): string {
  const [, scheme, authority = ''] = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/]*))?/i.exec(location) ?? [];
  if (scheme === undefined) return localAuthority;
  const name = scheme.toLowerCase();
  if (name === 'file')
    return authority === '' || authority === 'localhost' ? localAuthority : `file://${authority}`;
  return `${name === 's3a' || name === 's3n' ? 's3' : name}://${authority}`;
}

function decode(path: string, source: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new QueryError(
      'DATA_CORRUPT',
      `${source} names the file ${JSON.stringify(path)}, which is not percent-encoded text.`,
    );
  }
}

function checkSegments(path: string, source: string): void {
  if (path !== '' && !path.includes('\0') && !path.split('/').includes('..')) return;
  throw new QueryError(
    'DATA_CORRUPT',
    `${source} names the file ${JSON.stringify(path)}, which leads out of the table's folder.`,
  );
}

function elsewhere(path: string, tableLocation: string, source: string): QueryError {
  return new QueryError(
    'UNSUPPORTED_TABLE_FEATURE',
    `${source} names the file ${path}, which is not in the storage of the table (${tableLocation}): files elsewhere are not read.`,
  );
}
