import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { QueryError } from '@svc/base';
import { fileError } from '../../storage/file-errors.js';
import { syncFolder } from '../../storage/sync-folder.js';
import type { Namespace } from '../catalog.js';
import { quoted, quotedPath } from '../name-errors.js';
import { removeStale, renameAway } from './aside-folder.js';
import { type CatalogFolder, classifiedChildren, resolveNamespace } from './catalog-folder.js';
import { isAbandoned } from './staged-folder.js';
import { alreadyExists, checkIsOwn, findSibling, newFolderName, pathOf } from './writable-folder.js';

export async function createNamespace(context: CatalogFolder, namespace: Namespace): Promise<void> {
  const name = namespace.at(-1);
  if (name === undefined) throw new QueryError('INVALID_ARGUMENT', 'A schema needs a name.');
  const folder = newFolderName(name, 'schema');
  const parent = await resolveNamespace(context, namespace.slice(0, -1));
  const identifier = { namespace: parent.namespace, name };
  const sibling = await findSibling(context, parent.folders, name);
  if (sibling !== undefined) throw alreadyExists(identifier, sibling.kind);
  const parentPath = pathOf(context, parent.folders[0] ?? context.root);
  try {
    if (namespace.length === 1) await mkdir(parentPath, { recursive: true });
    await mkdir(join(parentPath, folder));
    await syncFolder(parentPath);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw alreadyExists(identifier, 'schema');
    throw fileError(parentPath, error);
  }
}

/**
 * The folder is renamed away before it is looked at for the last time: what another writer makes meanwhile is found there,
 * and the folder is put back.
 */
export async function dropNamespace(context: CatalogFolder, namespace: Namespace): Promise<void> {
  if (namespace.length === 0) throw new QueryError('INVALID_ARGUMENT', 'A catalog cannot be dropped.');
  const resolved = await resolveNamespace(context, namespace);
  for (const folder of resolved.folders) {
    await checkIsOwn(context, folder);
    await checkIsEmpty(context, folder, namespace);
  }
  for (const folder of resolved.folders) {
    const path = pathOf(context, folder);
    try {
      const aside = await renameAway(path, true);
      try {
        await checkIsEmpty(context, aside, namespace);
      } catch (error) {
        await putBack(aside, path);
        throw error;
      }
      await removeEmpty(aside);
    } catch (error) {
      throw fileError(folder, error);
    }
  }
}

/** Child by child when somebody has made the folder anew meanwhile. */
async function putBack(aside: string, path: string): Promise<void> {
  try {
    await rename(aside, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    for (const name of await readdir(aside)) await rename(join(aside, name), join(path, name));
    await rmdir(aside);
  }
  await syncFolder(dirname(path));
}

async function checkIsEmpty(context: CatalogFolder, folder: string, namespace: Namespace): Promise<void> {
  const found: string[] = [];
  for (const child of await classifiedChildren(context, [folder])) {
    const isLeftover = child.kind === 'staged' && (await isAbandoned(pathOf(context, child.location)));
    if (!isLeftover) found.push(`${child.kind === 'staged' ? 'table' : child.kind} ${quoted(child.name)}`);
  }
  if (found.length === 0) return;
  const more = found.length > 3 ? ` and ${found.length - 3} more` : '';
  throw new QueryError(
    'SCHEMA_NOT_EMPTY',
    `Schema ${quotedPath(namespace)} is not empty: it has ${found.slice(0, 3).join(', ')}${more}.`,
  );
}

/** Tables that were dropped but kept stay where they are, in the folder that nobody lists any more. */
async function removeEmpty(aside: string): Promise<void> {
  await removeStale(aside, Date.now());
  for (const entry of await readdir(aside, { withFileTypes: true }))
    if (entry.isDirectory() && !entry.name.startsWith('.'))
      await rm(join(aside, entry.name), { recursive: true, force: true });
  try {
    await rmdir(aside);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}
