/** Reads tables that do not fit into the staging space: part after part into tables of the engine, which spills. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { linkAbort, QueryError } from '@svc/base';
import type { LeasedFragment, StagedTable } from './leased-fragment.js';
import { namingOriginalFiles } from './original-files.js';
import type { FragmentScan } from './request.js';
import { engineColumns, gatherSql, rowsTableSql } from './views/view-sql.js';

/** A table, and what it is read in. */
export interface TableInParts {
  readonly table: FragmentScan;
  readonly parts: readonly FragmentScan[];
}

/** What is staged while the engine is busy with what was staged before. */
type Piece =
  | { readonly kind: 'part'; readonly of: number; readonly folder: string; readonly staged: StagedTable }
  | { readonly kind: 'rest' };

/**
 * Makes the tables and fills them: while the engine takes over one part, the next one is fetched, of whichever table, and
 * behind the last one what fits as it is (`stageRest`); no part's files stay. Rows that the statement cannot need are
 * left out at once (see FragmentScan.filters). Answers in the order of the tables.
 */
export async function gatherTables(
  { environment, link, lease }: LeasedFragment,
  tables: readonly TableInParts[],
  stageRest: (signal: AbortSignal) => Promise<void> = async () => undefined,
): Promise<readonly StagedTable[]> {
  using stop = linkAbort(link.signal);
  const allParts = tables.flatMap(({ parts }, of) => parts.map((part) => ({ of, part })));
  const stagePiece = async (index: number): Promise<Piece> => {
    const next = allParts[index];
    if (next === undefined) {
      await stageRest(stop.signal);
      return { kind: 'rest' };
    }
    const folder = join(lease.inputDirectory, `part-${index}`);
    try {
      await mkdir(folder, { recursive: true });
      const staged = await environment.stage(next.part, folder, stop.signal);
      return { kind: 'part', of: next.of, folder, staged };
    } catch (error) {
      await removeFolder(folder);
      throw error;
    }
  };
  const begin = (index: number): Promise<Piece> => {
    const piece = stagePiece(index);
    piece.catch(() => undefined); // Reported when its turn comes.
    return piece;
  };
  const totals = tables.map(() => ({ filesRead: 0, bytesStaged: 0, bytesFetched: 0 }));
  let next = begin(0);
  try {
    await lease.execute(tables.flatMap(makeTable), link.signal);
    for (let index = 1; ; index += 1) {
      const piece = await next;
      if (piece.kind === 'rest') {
        const describeColumns = async () => undefined;
        return totals.map((total) => ({ ...total, groups: [], isBound: true, describeColumns }));
      }
      next = begin(index);
      const { of, staged, folder } = piece;
      try {
        await lease.execute(tables.slice(of, of + 1).map(takingOver(staged)), link.signal);
      } catch (error) {
        throw namingOriginalFiles(error, staged.groups);
      } finally {
        await removeFolder(folder);
      }
      const total = totals[of];
      if (total === undefined) continue;
      total.filesRead += staged.filesRead;
      total.bytesStaged += staged.bytesStaged;
      total.bytesFetched += staged.bytesFetched;
    }
  } finally {
    stop.abort(new QueryError('CANCELLED', 'The part was no longer needed.'));
    const unused = await next.catch(() => undefined);
    if (unused?.kind === 'part') await removeFolder(unused.folder);
  }
}

/** The table, with the rows that are in no part of it. */
function makeTable({ table }: TableInParts): readonly string[] {
  const { columns, counted } = table.scan;
  const filters = table.filters ?? [];
  const unread = counted === undefined ? [] : [gatherSql(table, columns, [counted], { filters })];
  return [rowsTableSql(table, engineColumns(columns)), ...unread];
}

function takingOver({ groups, deletes }: StagedTable): (of: TableInParts) => string {
  return ({ table }) =>
    gatherSql(table, table.scan.columns, groups, { filters: table.filters ?? [], deletes });
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
