/**
 * A location as messages may show it: without the user name and password of a URL, and without its query, which may hold
 * a signature. Other locations are shown as they are: a question mark is part of a name there.
 */
export function displayLocation(location: string): string {
  if (!/^https?:/i.test(location)) return location;
  const end = location.search(/[?#]/);
  const bare = end < 0 ? location : location.slice(0, end);
  const start = bare.indexOf('://') + 3;
  const slash = bare.indexOf('/', start);
  const authorityEnd = slash < 0 ? bare.length : slash;
  const at = bare.lastIndexOf('@', authorityEnd - 1);
  return at < start ? bare : bare.slice(0, start) + bare.slice(at + 1);
}
