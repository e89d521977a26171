import { delay, QueryError, throwIfAborted } from '@svc/base';
import type { TableCommit } from '../iceberg/changes/table-change.js';
import type { TableMetadata } from '../iceberg/spec/table-metadata.js';
import { type WriteProperties, writeProperties } from '../iceberg/write/table-properties.js';
import type { LoadedTable, TableIdentifier } from './catalog.js';
import { commitOnce } from './commit-once.js';
import type { WritableCatalog } from './writable-catalog.js';

/** A change that can be made again from fresh metadata: an append (iceberg/write/append-files.ts) is one. */
export interface RepeatableChange {
  prepare(table: LoadedTable, options: { readonly signal?: AbortSignal }): Promise<TableCommit>;
  /** Told how it ended: the committed table, or `undefined` after a definite failure. Never after an unknown outcome. */
  cleanUp(committed: TableMetadata | undefined): Promise<void>;
}

export interface CommitWithRetryOptions {
  readonly catalog: WritableCatalog;
  readonly identifier: TableIdentifier;
  readonly change: RepeatableChange;
  readonly signal?: AbortSignal;
  /** In [0, 1); for tests. */
  readonly random?: () => number;
  /** Milliseconds; for tests. */
  readonly now?: () => number;
}

/**
 * Commits, and after a conflict with another writer tries again from the table as it is then, as often and as long as the
 * table's `commit.retry.*` properties say. Throws the last COMMIT_CONFLICT; COMMIT_OUTCOME_UNKNOWN when it cannot be told
 * whether the change is in the table: then the files it refers to must not be deleted.
 */
export async function commitWithRetry(options: CommitWithRetryOptions): Promise<LoadedTable> {
  const { catalog, identifier, change, signal } = options;
  const now = options.now ?? Date.now;
  const began = now();
  for (let attempt = 0; ; attempt++) {
    let properties = writeProperties(new Map());
    let committed: LoadedTable | undefined;
    const attemptCommit = async (): Promise<LoadedTable> => {
      const table = await catalog.loadTable(identifier, signal && { signal });
      properties = writeProperties(table.metadata.properties);
      const commit = await change.prepare(table, signal === undefined ? {} : { signal });
      throwIfAborted(signal);
      return commitOnce(catalog, table.identifier, commit);
    };
    try {
      committed = await catalog.inTurn(identifier, attemptCommit, signal && { signal });
    } catch (error) {
      if (error instanceof QueryError && error.code === 'COMMIT_OUTCOME_UNKNOWN') throw error;
      const mayRetry = isConflict(error) && attempt < properties.maxRetries;
      if (!mayRetry || now() - began > properties.totalRetryTimeoutMs) {
        await change.cleanUp(undefined);
        throw error;
      }
    }
    if (committed !== undefined) {
      // The change is made: what cannot be cleaned up must not make it look as if it were not.
      await change.cleanUp(committed.metadata).catch(() => undefined);
      return committed;
    }
    await pause(attempt, properties, options);
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'COMMIT_CONFLICT' && error.retryable;
}

/**
 * The first retry is at once: whoever won has just finished, so this is when the next attempt is likeliest to. Then the
 * waits grow, at random, so that many writers do not meet again.
 */
async function pause(
  attempt: number,
  { minRetryWaitMs, maxRetryWaitMs }: WriteProperties,
  { change, random = Math.random, signal }: CommitWithRetryOptions,
): Promise<void> {
  if (attempt === 0) return;
  const longest = Math.min(maxRetryWaitMs, minRetryWaitMs * 2 ** Math.min(attempt - 1, 30));
  try {
    await delay(random() * longest, signal);
  } catch (error) {
    await change.cleanUp(undefined);
    throw error;
  }
}
