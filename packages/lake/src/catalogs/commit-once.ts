import { delay, QueryError } from '@svc/base';
import type { TableCommit } from '../iceberg/changes/table-change.js';
import type { TableMetadata } from '../iceberg/spec/table-metadata.js';
import type { LoadedTable, TableIdentifier } from './catalog.js';
import type { WritableCatalog } from './writable-catalog.js';

/** A gateway may say that it waited too long while the service is still at it: so it is looked again, and then once more. */
const lookAfterMs: readonly number[] = [0, 250, 750];

/**
 * Commits. An unknown outcome is looked up: the change is made if the table has its snapshot, or for a table that was to
 * be made without one, its identity. That it has not proves nothing: then COMMIT_OUTCOME_UNKNOWN is thrown, and nothing
 * was tried again or deleted.
 */
export async function commitOnce(
  catalog: Pick<WritableCatalog, 'commitTable' | 'loadTable'>,
  identifier: TableIdentifier,
  commit: TableCommit,
): Promise<LoadedTable> {
  try {
    return await catalog.commitTable(identifier, commit);
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== 'COMMIT_OUTCOME_UNKNOWN') throw error;
    for (const waitMs of lookAfterMs) {
      await delay(waitMs);
      const table = await catalog.loadTable(identifier).catch(() => undefined);
      if (table !== undefined && isMade(table.metadata, commit)) return table;
    }
    throw error;
  }
}

function isMade(metadata: TableMetadata, { updates }: TableCommit): boolean {
  for (const update of updates)
    if (update.action === 'add-snapshot')
      return metadata.snapshots.some(({ snapshotId }) => snapshotId === update.snapshot.snapshotId);
  return updates.some((update) => update.action === 'assign-uuid' && update.uuid === metadata.tableUuid);
}
