import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileError } from '../../storage/file-errors.js';
import type { TableIdentifier } from '../catalog.js';
import { removeStale, renameAway } from './aside-folder.js';
import { type CatalogFolder, findTable } from './catalog-folder.js';
import { versionToCommit } from './commit-table.js';
import { checkIsOwn, pathOf } from './writable-folder.js';

/**
 * The folder is renamed away, which ends the table at once. Files that its metadata names elsewhere are not touched,
 * whether purged or not: other tables may share them.
 */
export async function dropTable(
  context: CatalogFolder,
  identifier: TableIdentifier,
  purge: boolean,
): Promise<void> {
  const found = await findTable(context, identifier);
  versionToCommit(found, 'dropped');
  await dropFolder(context, found.folder, !purge);
}

/** What could not be deleted is tried again by the next change in the same schema. */
export async function dropFolder(context: CatalogFolder, folder: string, keep: boolean): Promise<void> {
  await checkIsOwn(context, folder);
  const path = pathOf(context, folder);
  try {
    const aside = await renameAway(path, keep);
    if (keep) return;
    await rm(aside, { recursive: true, force: true }).catch(() => undefined);
    await removeStale(dirname(path), Date.now());
  } catch (error) {
    throw fileError(folder, error);
  }
}
