/**
 * Views: a folder like a table's, with a marker in it, that is made aside and renamed into place. So of a table and a view
 * of one name exactly one is made, and no list has to open a file to tell them apart.
 */
import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { QueryError, throwIfAborted } from '@svc/base';
import {
  newViewMetadata,
  parseViewMetadata,
  printViewMetadata,
  replaceViewVersion,
  type ViewDefinition,
} from '../../iceberg/views/view-metadata.js';
import { fileError } from '../../storage/file-errors.js';
import { createFileStore } from '../../storage/file-store.js';
import { syncFolder } from '../../storage/sync-folder.js';
import type { TableIdentifier } from '../catalog.js';
import type { LoadedView } from '../writable-catalog.js';
import { asideFolder } from './aside-folder.js';
import { type CatalogFolder, type FoundTable, findTable } from './catalog-folder.js';
import { dropFolder } from './drop-table.js';
import { kindOfFolder, viewMarkerOf } from './folder-kind.js';
import { committedVersion } from './metadata-file.js';
import { publishVersion } from './publish-version.js';
import { makeAside, newPlace } from './stage-table.js';
import { alreadyExists } from './writable-folder.js';

/** Replacements that another one overtook before the statement gives up. */
const maxReplaceAttempts = 20;

export async function loadView(context: CatalogFolder, identifier: TableIdentifier): Promise<LoadedView> {
  return load(context, await findTable(context, identifier, 'view'));
}

export async function createView(
  context: CatalogFolder,
  identifier: TableIdentifier,
  definition: ViewDefinition,
): Promise<LoadedView> {
  throwIfAborted(context.options.signal);
  const place = await newPlace(context, identifier, 'view');
  const { location, parentPath } = place;
  const metadata = newViewMetadata(definition, { viewUuid: randomUUID(), location }, Date.now());
  const aside = asideFolder(parentPath, 'staging');
  try {
    await makeAside(place, aside);
    await writeFile(viewMarkerOf(aside), '');
    await publishVersion(createFileStore(), {
      folder: aside,
      version: 1,
      text: printViewMetadata(metadata),
    });
    await syncFolder(aside);
    await rename(aside, location);
    await syncFolder(parentPath);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw fileError(location, error);
    throw alreadyExists(place.identifier, await kindOfFolder(context.store, location, {}));
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return {
    identifier: place.identifier,
    metadata,
    metadataLocation: `${location}/metadata/v1.metadata.json`,
  };
}

/** Whoever comes last wins, upon whatever was there. */
export async function replaceView(
  context: CatalogFolder,
  identifier: TableIdentifier,
  definition: ViewDefinition,
): Promise<LoadedView> {
  for (let attempt = 1; ; attempt++) {
    const found = await findTable(context, identifier, 'view');
    const base = await context.store.head(found.metadataLocation);
    const view = await load(context, found);
    const metadata = replaceViewVersion(view.metadata, definition, Date.now());
    const version = (committedVersion(found.metadataLocation) ?? 0) + 1;
    try {
      const text = printViewMetadata(metadata);
      const { folder } = found;
      const metadataLocation = await publishVersion(context.store, { folder, version, text, base });
      return { identifier: found.identifier, metadata, metadataLocation };
    } catch (error) {
      const isConflict = error instanceof QueryError && error.code === 'COMMIT_CONFLICT';
      if (!isConflict || attempt === maxReplaceAttempts) throw error;
    }
  }
}

export async function dropView(context: CatalogFolder, identifier: TableIdentifier): Promise<void> {
  const found = await findTable(context, identifier, 'view');
  await dropFolder(context, found.folder, false);
}

async function load(
  { store, options }: CatalogFolder,
  { identifier, metadataLocation }: FoundTable,
): Promise<LoadedView> {
  const bytes = await store.read(metadataLocation, options);
  return { identifier, metadata: parseViewMetadata(bytes, metadataLocation), metadataLocation };
}
