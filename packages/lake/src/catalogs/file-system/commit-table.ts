/**
 * Commits of tables. The next version's metadata file is written aside, synced and linked to its name, which succeeds for
 * exactly one writer; only then is there a new table state, and `version-hint.text` merely says where to look first.
 * Whenever a process ends, the table is as before the link or as after it.
 */
import { QueryError } from '@svc/base';
import { applyUpdates } from '../../iceberg/changes/apply-updates.js';
import { checkRequirements } from '../../iceberg/changes/check-requirements.js';
import { type LoggedMetadata, logPreviousMetadata } from '../../iceberg/changes/metadata-log.js';
import type { TableCommit } from '../../iceberg/changes/table-change.js';
import { printTableMetadata } from '../../iceberg/spec/parse-table-metadata.js';
import type { TableMetadata } from '../../iceberg/spec/table-metadata.js';
import { writeProperties } from '../../iceberg/write/table-properties.js';
import type { ObjectInfo } from '../../storage/object-store.js';
import type { LoadedTable, TableIdentifier } from '../catalog.js';
import { quotedPath } from '../name-errors.js';
import { type CatalogFolder, type FoundTable, findTable } from './catalog-folder.js';
import { kindOfFolder, stagedMarker } from './folder-kind.js';
import { committedVersion, isMetadataFile, newestMetadataLocation } from './metadata-file.js';
import { publishVersion } from './publish-version.js';
import { makeStagedFolder, type NewPlace, newPlace } from './stage-table.js';
import { isStagedFor } from './staged-folder.js';
import { alreadyExists } from './writable-folder.js';

export async function commitTable(
  context: CatalogFolder,
  identifier: TableIdentifier,
  commit: TableCommit,
): Promise<LoadedTable> {
  const isCreation = commit.requirements.some((requirement) => requirement.type === 'assert-create');
  return isCreation ? createTable(context, identifier, commit) : changeTable(context, identifier, commit);
}

/** Throws NOT_SUPPORTED for a table whose current metadata file is named by another catalog, naming that. */
export function versionToCommit(
  { identifier, metadataLocation }: FoundTable,
  verb: 'changed' | 'dropped',
): number {
  const version = committedVersion(metadataLocation);
  if (version !== undefined) return version;
  const file = metadataLocation.slice(metadataLocation.lastIndexOf('/') + 1);
  throw new QueryError(
    'NOT_SUPPORTED',
    `Table ${nameOf(identifier)} belongs to another catalog, which alone knows its current metadata file (${file}): it can be read here, not ${verb}.`,
  );
}

async function createTable(
  context: CatalogFolder,
  identifier: TableIdentifier,
  { requirements, updates }: TableCommit,
): Promise<LoadedTable> {
  const place = await newPlace(context, identifier, 'table');
  const { location } = place;
  checkRequirements(undefined, requirements, nameOf(identifier));
  const metadata = applyUpdates(undefined, updates, Date.now());
  if (metadata.location !== location)
    throw new QueryError(
      'INVALID_ARGUMENT',
      `Table ${nameOf(identifier)} of this catalog lies at ${location}, not at ${metadata.location}.`,
    );
  if (!(await isStagedFor(location, metadata.tableUuid))) {
    if (metadata.snapshots.length > 0) throw await overtaken(context, place);
    await makeStagedFolder(context, place, metadata.tableUuid);
  }
  const text = printTableMetadata(metadata);
  const metadataLocation = await publishVersion(context.store, { folder: location, version: 1, text }).catch(
    (error: unknown) => {
      if (error instanceof QueryError && error.code === 'COMMIT_CONFLICT')
        throw new QueryError('ALREADY_EXISTS', `Table ${nameOf(identifier)} exists already.`, {
          cause: error,
        });
      throw error;
    },
  );
  await context.store.delete(`${location}/${stagedMarker}`).catch(ignore);
  return { identifier: place.identifier, metadata, metadataLocation, store: context.store };
}

/** Why the folder that a table's files were written to is not its own any more. */
async function overtaken({ store }: CatalogFolder, { location, identifier }: NewPlace): Promise<QueryError> {
  const kind = await kindOfFolder(store, location, {});
  if (kind === 'table' || kind === 'view') return alreadyExists(identifier, kind);
  return new QueryError(
    'COMMIT_CONFLICT',
    `The folder of table ${nameOf(identifier)} was removed while the table was written.`,
    { retryable: false },
  );
}

async function changeTable(
  context: CatalogFolder,
  identifier: TableIdentifier,
  { requirements, updates }: TableCommit,
): Promise<LoadedTable> {
  const { store } = context;
  const found = await findTable(context, identifier);
  const { folder, metadataLocation: previousLocation } = found;
  const version = versionToCommit(found, 'changed');
  const { base, previous } = await readBase(context, found);
  checkRequirements(previous, requirements, nameOf(identifier));
  const table = { identifier: found.identifier, store };
  if (updates.length === 0) return { ...table, metadata: previous, metadataLocation: previousLocation };
  const changed = applyUpdates(previous, updates, Date.now());
  if (changed.location !== previous.location)
    throw new QueryError(
      'NOT_SUPPORTED',
      `Table ${nameOf(identifier)} cannot be moved: in this catalog it lies where its folder is.`,
    );
  const logged = logPreviousMetadata(changed, previous, previousLocation);
  const metadataLocation = await publishVersion(store, {
    folder,
    version: version + 1,
    text: printTableMetadata(logged.metadata),
    base,
  });
  await deleteForgotten(context, found, logged);
  return { ...table, metadata: logged.metadata, metadataLocation };
}

interface CommitBase {
  readonly base: ObjectInfo;
  readonly previous: TableMetadata;
}

/** Throws COMMIT_CONFLICT when other commits have passed it already. */
async function readBase({ store, files }: CatalogFolder, found: FoundTable): Promise<CommitBase> {
  const { metadataLocation, folder, identifier } = found;
  const passed = () =>
    new QueryError('COMMIT_CONFLICT', `Other writers have changed table ${nameOf(identifier)} meanwhile.`);
  try {
    const base = await store.head(metadataLocation);
    const previous = await files.tableMetadata(store, metadataLocation);
    // Where old versions are deleted, that the next one is not there does not prove that there never was one.
    if (writeProperties(previous.properties).deletesPreviousMetadata) {
      const newest = await newestMetadataLocation(store, folder, {});
      if (newest !== metadataLocation) throw passed();
    }
    return { base, previous };
  } catch (error) {
    if (error instanceof QueryError && error.code === 'DATA_FILE_MISSING') throw passed();
    throw error;
  }
}

/** Where the table asks for it, metadata files that its log no longer names; only its own, whatever the log says. */
async function deleteForgotten(
  { store }: CatalogFolder,
  { folder }: FoundTable,
  { metadata, forgotten }: LoggedMetadata,
): Promise<void> {
  if (!writeProperties(metadata.properties).deletesPreviousMetadata) return;
  for (const location of forgotten) {
    const name = location.slice(location.lastIndexOf('/') + 1);
    if (isMetadataFile(name)) await store.delete(`${folder}/metadata/${name}`).catch(ignore);
  }
}

function nameOf({ namespace, name }: TableIdentifier): string {
  return quotedPath(namespace, name);
}

/** The change is made already; what is left over does no harm. */
function ignore(): void {}
