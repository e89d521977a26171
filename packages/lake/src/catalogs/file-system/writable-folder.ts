/** Checks before the catalog's folder is changed, and the paths to change it by. */
import { lstat, realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { QueryError } from '@svc/base';
import { fileError } from '../../storage/file-errors.js';
import type { TableIdentifier } from '../catalog.js';
import { quoted, quotedPath } from '../name-errors.js';
import { type CatalogFolder, classifiedChildren } from './catalog-folder.js';
import type { FolderKind } from './folder-kind.js';
import { folderOfName, maxFolderBytes } from './folder-name.js';

/** The path of a folder on this machine's disk: a catalog elsewhere cannot be changed by renaming. */
export function pathOf({ store }: CatalogFolder, location: string): string {
  const path = store.localPath(location);
  if (path !== undefined) return path;
  throw new QueryError('NOT_SUPPORTED', `The catalog folder ${location} is not on this machine's disk.`);
}

/** Throws INVALID_ARGUMENT for a name that no folder can have. */
export function newFolderName(name: string, what: 'schema' | 'table' | 'view'): string {
  const folder = folderOfName(name);
  if (folder !== undefined) return folder;
  const problem =
    name === ''
      ? 'it is empty'
      : /\0|\p{Surrogate}/u.test(name)
        ? 'it has a NUL character or broken Unicode'
        : `it is too long for a folder (${maxFolderBytes} bytes)`;
  throw new QueryError('INVALID_ARGUMENT', `${quoted(name)} cannot be the name of a ${what}: ${problem}.`);
}

export interface Sibling {
  readonly location: string;
  readonly name: string;
  readonly kind: FolderKind;
}

/** What already has the name, in whatever case: SQL could not tell the two apart. */
export async function findSibling(
  context: CatalogFolder,
  parents: readonly string[],
  name: string,
): Promise<Sibling | undefined> {
  const lowerCase = name.toLowerCase();
  const same = await classifiedChildren(context, parents, (each) => each.toLowerCase() === lowerCase);
  return same.find((child) => child.kind !== 'staged') ?? same[0];
}

export function alreadyExists({ namespace, name }: TableIdentifier, kind: FolderKind): QueryError {
  const what = { table: 'Table', view: 'View', schema: 'Schema', staged: 'Table' }[kind];
  const wanted = quotedPath(namespace, name);
  const problem = kind === 'staged' ? 'is being created by another statement' : 'exists already';
  return new QueryError('ALREADY_EXISTS', `${what} ${wanted} ${problem}.`);
}

/**
 * Throws NOT_SUPPORTED when the folder is reached through a link, or lies outside the catalog: what is behind a link is
 * not the catalog's to rename or delete.
 */
export async function checkIsOwn(context: CatalogFolder, location: string): Promise<void> {
  const path = pathOf(context, location);
  const root = pathOf(context, context.root);
  try {
    const [realRoot, realPath] = await Promise.all([realpath(root), realpath(path)]);
    const isLink = (await lstat(path)).isSymbolicLink();
    if (!isLink && realPath.startsWith(`${realRoot}${sep}`)) return;
  } catch (error) {
    throw fileError(location, error);
  }
  throw new QueryError(
    'NOT_SUPPORTED',
    `${location} leads out of the catalog's folder: it can be read here, not dropped.`,
  );
}
