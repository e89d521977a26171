/**
 * A table's folder before the table: it is made aside with a marker in it and renamed into place, so that it is never
 * taken for a schema, and data files may be written to where they will be. The table is there once its first metadata
 * file is (commit-table.ts).
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { QueryError, throwIfAborted } from '@svc/base';
import { applyUpdates } from '../../iceberg/changes/apply-updates.js';
import type { TableCommit } from '../../iceberg/changes/table-change.js';
import { createTableUpdates, newTable, type TableDefinition } from '../../iceberg/write/create-table.js';
import { fileError } from '../../storage/file-errors.js';
import { syncFolder } from '../../storage/sync-folder.js';
import type { TableIdentifier } from '../catalog.js';
import { quotedPath } from '../name-errors.js';
import type { StagedTable } from '../writable-catalog.js';
import { asideFolder, removeStale, renameAway } from './aside-folder.js';
import { type CatalogFolder, resolveNamespace } from './catalog-folder.js';
import { kindOfFolder } from './folder-kind.js';
import { joinStaged, markStaged, removeAbandoned } from './staged-folder.js';
import { alreadyExists, findSibling, newFolderName, pathOf } from './writable-folder.js';

export async function stageTable(
  context: CatalogFolder,
  identifier: TableIdentifier,
  definition: TableDefinition,
): Promise<StagedTable> {
  throwIfAborted(context.options.signal);
  const place = await newPlace(context, identifier, 'table');
  const tableUuid = randomUUID();
  const table = newTable(definition, { tableUuid, location: place.location });
  const updates = createTableUpdates(table);
  const metadata = applyUpdates(undefined, updates, Date.now());
  const creation: TableCommit = { requirements: [{ type: 'assert-create' }], updates };
  await removeAbandoned(place.location);
  await makeStagedFolder(context, place, tableUuid);
  return {
    identifier: place.identifier,
    metadata,
    metadataLocation: undefined,
    store: context.store,
    creation,
  };
}

export interface NewPlace {
  /** As its schema's folder spells it. */
  readonly identifier: TableIdentifier;
  readonly parentPath: string;
  /** The absolute path of the table's or view's folder, which is also its location. */
  readonly location: string;
}

/** Throws SCHEMA_NOT_FOUND, ALREADY_EXISTS, INVALID_ARGUMENT. Two statements may stage one table; one will make it. */
export async function newPlace(
  context: CatalogFolder,
  { namespace, name }: TableIdentifier,
  what: 'table' | 'view',
): Promise<NewPlace> {
  const folder = newFolderName(name, what);
  const parent = await resolveNamespace(context, namespace);
  const identifier = { namespace: parent.namespace, name };
  const sibling = await findSibling(context, parent.folders, name);
  if (sibling !== undefined && (sibling.kind !== 'staged' || what === 'view' || sibling.name !== name))
    throw alreadyExists(identifier, sibling.kind);
  const parentPath = resolve(pathOf(context, parent.folders[0] ?? context.root));
  return { identifier, parentPath, location: join(parentPath, folder) };
}

/** Takes the one that is there already for another statement. */
export async function makeStagedFolder(
  context: CatalogFolder,
  place: NewPlace,
  tableUuid: string,
): Promise<void> {
  const { parentPath, location } = place;
  const aside = asideFolder(parentPath, 'staging');
  try {
    await makeAside(place, aside);
    await mkdir(join(aside, 'data'));
    await markStaged(aside, tableUuid);
    await syncFolder(aside);
    await rename(aside, location);
    await syncFolder(parentPath);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw fileError(location, error);
    await joinStaged(location, tableUuid).catch(async (failure: unknown) => {
      if ((failure as NodeJS.ErrnoException).code !== 'ENOENT') throw fileError(location, failure);
      throw alreadyExists(place.identifier, await kindOfFolder(context.store, location, {}));
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/**
 * The folder of a table or view that is being made. Its schema's is not made anew: it may just have been dropped. Throws
 * SCHEMA_NOT_FOUND.
 */
export async function makeAside({ parentPath, identifier }: NewPlace, aside: string): Promise<void> {
  const { namespace } = identifier;
  try {
    if (namespace.length === 0) await mkdir(parentPath, { recursive: true });
    await removeStale(parentPath, Date.now());
    await mkdir(aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new QueryError('SCHEMA_NOT_FOUND', `Schema ${quotedPath(namespace)} does not exist any more.`);
  }
  await mkdir(join(aside, 'metadata'));
}

/** Only what is empty is removed, so that another statement which stages the same table loses no file. */
export async function discardStagedTable(context: CatalogFolder, staged: StagedTable): Promise<void> {
  const { location } = staged.metadata;
  if ((await kindOfFolder(context.store, location, {})) !== 'staged') return;
  try {
    for (const inner of ['data', 'metadata']) await rmdir(join(location, inner));
    await rm(await renameAway(location, false), { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw fileError(location, error);
  }
}
