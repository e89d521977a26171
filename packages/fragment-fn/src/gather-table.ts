/** Reads a table that does not fit into the staging space: part after part into a table of the engine, which spills. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { linkAbort, QueryError } from '@svc/base';
import type { LeasedFragment, StagedTable } from './leased-fragment.js';
import { namingOriginalFiles } from './original-files.js';
import type { FragmentScan } from './request.js';
import { gatherSql, rowsTableSql } from './views/view-sql.js';

interface StagedPart {
  readonly staged: StagedTable;
  readonly folder: string;
}

/**
 * Makes the table and fills it: while the engine takes over one part, the next one is fetched; no part's files stay.
 * Rows that the statement cannot need are left out at once (see FragmentScan.filters).
 */
export async function gatherTable(
  { environment, link, lease }: LeasedFragment,
  table: FragmentScan,
  parts: readonly FragmentScan[],
): Promise<StagedTable> {
  using stop = linkAbort(link.signal);
  const stagePart = async (index: number): Promise<StagedPart | undefined> => {
    const part = parts[index];
    if (part === undefined) return undefined;
    const folder = join(lease.inputDirectory, `part-${index}`);
    try {
      await mkdir(folder, { recursive: true });
      return { folder, staged: await environment.stage(part, folder, stop.signal) };
    } catch (error) {
      await removeFolder(folder);
      throw error;
    }
  };
  const { columns, counted } = table.scan;
  const filters = table.filters ?? [];
  const unread = counted === undefined ? [] : [gatherSql(table, columns, [counted], { filters })];
  await lease.execute([rowsTableSql(table, columns), ...unread], link.signal);
  let [filesRead, bytesStaged, bytesFetched] = [0, 0, 0];
  let next = stagePart(0);
  try {
    for (let index = 1; ; index += 1) {
      const part = await next;
      if (part === undefined) break;
      const { staged, folder } = part;
      next = stagePart(index);
      next.catch(() => undefined); // Reported when its turn comes.
      try {
        const { groups, deletes } = staged;
        await lease.execute([gatherSql(table, columns, groups, { filters, deletes })], link.signal);
      } catch (error) {
        throw namingOriginalFiles(error, staged.groups);
      } finally {
        await removeFolder(folder);
      }
      filesRead += staged.filesRead;
      bytesStaged += staged.bytesStaged;
      bytesFetched += staged.bytesFetched;
    }
  } finally {
    stop.abort(new QueryError('CANCELLED', 'The part was no longer needed.'));
    const unused = await next.catch(() => undefined);
    if (unused !== undefined) await removeFolder(unused.folder);
  }
  const describeColumns = async () => undefined;
  return { groups: [], filesRead, bytesStaged, bytesFetched, isBound: true, describeColumns };
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
