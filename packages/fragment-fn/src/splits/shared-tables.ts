/**
 * What is staged once for all splits: every table but the divided one, whose keys may say what is not needed of each split.
 */
import type { ScanFilter } from '@svc/sql';
import { broughtAlong, type FragmentEnvironment } from '../leased-fragment.js';
import type { SplitRequest } from './split-task.js';

export interface SharedTables {
  /** Asks no keys of the divided table: the rows of no split are all of them. */
  readonly request: SplitRequest;
  /** Keeps what is found out for the divided table, which has no files yet. */
  readonly environment: FragmentEnvironment;
  /** What is true of every row that is needed of the divided table; complete when the other tables are staged. */
  readonly filters: () => readonly ScanFilter[];
  readonly narrowsSplits: boolean;
}

export function sharedTables(request: SplitRequest, environment: FragmentEnvironment): SharedTables {
  const { splitTable, joinKeys = [], splits } = request;
  const filters: ScanFilter[] = [];
  const usable = joinKeys.filter(({ source }) => source.table !== splitTable);
  const narrowsSplits =
    environment.narrow !== undefined && usable.some(({ target }) => target.table === splitTable);
  const divided = splitTable === undefined ? undefined : request.tables[splitTable];
  const { narrow } = environment;
  const keeping: FragmentEnvironment = {
    ...environment,
    stage: async (table, directory, signal) =>
      table === divided ? broughtAlong(0) : await environment.stage(table, directory, signal),
    ...(narrow !== undefined && {
      narrow: async (table, found, signal) => {
        if (table !== divided) return await narrow(table, found, signal);
        filters.push(...found);
        return table;
      },
    }),
    bytesToFetch: async (table, signal) => {
      if (table === divided) return splits.reduce((sum, { scan }) => sum + scan.counts.bytesPlanned, 0);
      return (await environment.bytesToFetch?.(table, signal)) ?? table.scan.counts.bytesPlanned;
    },
  };
  return {
    request: { ...request, joinKeys: usable },
    environment: keeping,
    filters: () => filters,
    narrowsSplits,
  };
}
