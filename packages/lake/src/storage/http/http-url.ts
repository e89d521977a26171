import { QueryError } from '@svc/base';
import { displayLocation } from '../display-location.js';

/** Where a request goes, and as whom: a user name and password in front of the host are for that host only. */
export interface HttpTarget {
  readonly url: URL;
  readonly authorization: string | undefined;
}

/** Throws INVALID_ARGUMENT for what is no http or https URL. */
export function parseHttpLocation(location: string): HttpTarget {
  if (!URL.canParse(location)) throw notAUrl(location);
  const url = new URL(location);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw notAUrl(location);
  const authorization = basicAuthorization(url, location);
  url.username = '';
  url.password = '';
  url.hash = '';
  return { url, authorization };
}

/** The target that a redirect leads to. Credentials stay behind when another server is meant. */
export function redirectTarget(from: HttpTarget, to: string | undefined, location: string): HttpTarget {
  if (to === undefined || !URL.canParse(to, from.url.href))
    throw badRedirect(location, 'without a valid address');
  const url = new URL(to, from.url);
  url.hash = '';
  url.username = '';
  url.password = '';
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw badRedirect(location, `to ${url.protocol}`);
  if (from.url.protocol === 'https:' && url.protocol === 'http:')
    throw badRedirect(location, 'from https to http, where anybody on the way could change the data');
  return { url, authorization: url.origin === from.url.origin ? from.authorization : undefined };
}

function basicAuthorization({ username, password }: URL, location: string): string | undefined {
  if (username === '' && password === '') return undefined;
  try {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(pair).toString('base64')}`;
  } catch {
    throw notAUrl(location);
  }
}

function notAUrl(location: string): QueryError {
  return new QueryError('INVALID_ARGUMENT', `${displayLocation(location)} is no valid http or https URL.`);
}

function badRedirect(location: string, how: string): QueryError {
  return new QueryError('STORAGE_ERROR', `The server redirects ${displayLocation(location)} ${how}.`, {
    retryable: false,
  });
}
