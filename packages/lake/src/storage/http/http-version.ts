/** What tells one content of a URL from the next: its ETag, else when it was modified, else nothing but its size. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const unversioned = 'unversioned';

export function httpVersion(headers: IncomingHttpHeaders, sizeBytes: number): string {
  const etag = headers.etag?.trim();
  if (etag) return `${etag} ${sizeBytes}`;
  const modified = headers['last-modified']?.trim();
  if (modified) return `${modified} ${sizeBytes}`;
  // Unlike every other, so that nothing kept from an earlier query is taken for the same content.
  return `${unversioned} ${randomUUID()} ${sizeBytes}`;
}

/** Whether an answer may be of the content that was seen before. */
export function isSameVersion(expected: string, headers: IncomingHttpHeaders, sizeBytes: number): boolean {
  const found = httpVersion(headers, sizeBytes);
  if (found === expected) return true;
  const isUnknown = expected.startsWith(`${unversioned} `) && found.startsWith(`${unversioned} `);
  return isUnknown && expected.endsWith(` ${sizeBytes}`);
}

/** For `If-Match`, which compares strong ETags only. */
export function strongEtag(version: string | undefined): string | undefined {
  return version === undefined ? undefined : /^("[^"]*") \d+$/.exec(version)?.[1];
}
