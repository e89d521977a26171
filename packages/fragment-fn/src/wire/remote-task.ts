import { QueryError } from '@svc/base';
import { mapConcurrently, type StoreGrant, type TableScan } from '@svc/lake';
import type { FragmentTable } from '../request.js';
import type { FragmentTask } from '../splits/split-task.js';
import type { RemoteTask } from './task-codec.js';

const maxConcurrentGrants = 8;

/**
 * Asks the stores of a task for what another machine needs to open them. Throws NOT_SUPPORTED where that cannot be, and what
 * asking for credentials throws.
 */
export async function remoteTask(task: FragmentTask, signal: AbortSignal): Promise<RemoteTask> {
  const { request, stores } = task;
  const grantOf = async (table: FragmentTable, index: number): Promise<StoreGrant | undefined> => {
    const store = stores[index];
    const scans = index === request.splitTable ? request.splits.map(({ scan }) => scan) : [];
    if (!needsStore(table, scans)) return undefined;
    if (store === undefined) throw new QueryError('INTERNAL_ERROR', `${nameOf(table)} has no store.`);
    if (store.grant === undefined)
      throw new QueryError(
        'NOT_SUPPORTED',
        `The files of ${nameOf(table)} cannot be opened on another machine.`,
      );
    return await store.grant(signal);
  };
  const grants = await mapConcurrently(
    request.tables,
    { maxConcurrent: maxConcurrentGrants, signal },
    (table, index) => grantOf(table, index),
  );
  return { request, grants };
}

function needsStore(table: FragmentTable, splits: readonly TableScan[]): boolean {
  switch (table.kind) {
    case 'scan':
      return [table.scan, ...splits].some(({ groups }) => groups.length > 0);
    case 'rows':
      return false;
    case 'input':
      if (table.rows.kind === 'stream')
        throw new QueryError(
          'NOT_SUPPORTED',
          `The rows of ${nameOf(table)} are still being made: they do not travel.`,
        );
      return false;
    case 'files':
      throw new QueryError(
        'NOT_SUPPORTED',
        'Files that a statement names are read where the statement is run.',
      );
  }
}

function nameOf({ catalog, schema, table }: FragmentTable): string {
  return `${catalog}.${schema}.${table}`;
}
