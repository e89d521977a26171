/** Which locations a prefix covers (REST OpenAPI, StorageCredential). */

/**
 * Whether a location begins with a prefix. A prefix ends where a name ends: `s3://b/a` is none of `s3://b/ab`. A bare
 * scheme is one of all its locations.
 */
export function isWithin(location: string, prefix: string): boolean {
  const wanted = plainScheme(prefix);
  const given = plainScheme(location);
  if (!given.startsWith(wanted)) return false;
  return (
    /^([a-z0-9]+(:\/*)?)?$/i.test(wanted) ||
    wanted.endsWith('/') ||
    [undefined, '/'].includes(given[wanted.length])
  );
}

/** How much of a location a prefix says: of several that cover it, the longest one is the nearest. */
function lengthOf({ prefix }: { readonly prefix: string }): number {
  return plainScheme(prefix).replace(/\/+$/, '').length;
}

/** Whether a location lies in a folder, also for servers that take `..` for a step. */
export function isBelow(location: string, folder: string): boolean {
  const prefix = folder.endsWith('/') ? folder : `${folder}/`;
  return /^s3:\/\/[^/]+\/./.test(plainScheme(prefix)) && isWithin(location, prefix) && !hasDotSteps(location);
}

/** Whether a location leads elsewhere for servers that take `..` for a step. */
export function hasDotSteps(location: string): boolean {
  const steps = location.split(/[/\\]|%2f|%5c/i);
  return steps.some((step) => ['.', '..'].includes(step.replaceAll(/%2e/gi, '.')));
}

/** The one whose prefix is the longest that the location begins with. */
export function longestPrefix<T extends { readonly prefix: string }>(
  all: Iterable<T>,
  location: string,
): T | undefined {
  let best: T | undefined;
  for (const each of all)
    if (isWithin(location, each.prefix) && (best === undefined || lengthOf(each) > lengthOf(best)))
      best = each;
  return best;
}

/** `s3a:` and `s3n:` are older names of `s3:`. */
function plainScheme(location: string): string {
  return location.replace(/^s3[an]?:/i, 's3:');
}
