import { QueryError } from '@svc/base';
import type { ObjectStore } from '@svc/lake';
import picomatch from 'picomatch';

/** More are a mistake in the pattern, and a listing without an end. */
const maxFiles = 100_000;
const maxFolders = 10_000;

/** What the engine's patterns have: `*`, `**`, `?` and `[…]`; nothing else means anything. */
const syntax = { nobrace: true, noextglob: true, nonegate: true, dot: true, noquantifiers: true } as const;

export function isPattern(location: string): boolean {
  return /[*?[]/.test(location);
}

/**
 * The locations below a bucket that a pattern means, in order. Folders are listed only where the pattern may lead. Throws
 * DATA_FILE_MISSING when there are none, NOT_SUPPORTED of more than are read.
 */
export async function expandPattern(
  pattern: string,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const [, root = '', path = ''] = /^([a-z0-9]+:\/\/[^/]+)\/(.*)$/i.exec(pattern) ?? [];
  if (/[*?[]/.test(root) || path === '')
    throw new QueryError(
      'INVALID_ARGUMENT',
      `${pattern}: the pattern must be within a bucket, as s3://bucket/*.parquet.`,
    );
  const found: string[] = [];
  let folders = 0;
  const walk = async (folder: string, rest: readonly string[]): Promise<void> => {
    const [segment = '', ...next] = rest;
    const isLast = next.length === 0;
    if (!isPattern(segment) && !isLast) return await walk(`${folder}/${segment}`, next);
    folders += 1;
    if (folders > maxFolders) throw tooMany(pattern, `${maxFolders} folders`);
    const isDeep = segment === '**';
    const matches = isDeep ? () => true : picomatch(segment, syntax);
    for (const { name, isFolder } of await store.list(folder, { signal })) {
      const location = `${folder}/${name}`;
      if (isFolder) {
        if (isDeep) await walk(location, rest);
        else if (!isLast && matches(name)) await walk(location, next);
      } else if (isLast && matches(name)) {
        found.push(location);
        if (found.length > maxFiles) throw tooMany(pattern, `${maxFiles} files`);
      }
    }
    // `**` also stands for no folder at all.
    if (isDeep && !isLast) await walk(folder, next);
  };
  await walk(root, path.split('/'));
  if (found.length === 0) throw new QueryError('DATA_FILE_MISSING', `No file matches ${pattern}.`);
  return [...new Set(found)].sort();
}

function tooMany(pattern: string, what: string): QueryError {
  return new QueryError('NOT_SUPPORTED', `${pattern} leads to more than ${what}; make it narrower.`);
}
