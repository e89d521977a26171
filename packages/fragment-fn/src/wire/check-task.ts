/** What no single field of a task can say: that its parts fit each other. */
import type { TableScan } from '@svc/lake';
import type { FragmentTable } from '../request.js';
import type { RemoteTask } from './task-codec.js';

/** What is wrong, or nothing. */
export function checkTask({ request, grants }: RemoteTask): string | undefined {
  const { tables, splits, splitTable, joinKeys = [], wholeColumns } = request;
  if (grants.length > tables.length) return 'it has more grants than tables';
  if (splits.length === 0) return 'it has no split';
  if (new Set(splits.map(({ id }) => id)).size < splits.length) return 'two of its splits have one id';
  if (splitTable === undefined ? splits.length > 1 : tables[splitTable]?.kind !== 'scan')
    return 'its splits are of no table of it';
  const isScan = (index: number): boolean => tables[index]?.kind === 'scan';
  if (!joinKeys.every(({ target, source }) => isScan(target.table) && isScan(source.table)))
    return 'its keys are of no table of it';
  const scans = [
    ...tables.flatMap((table) => (table.kind === 'scan' ? [table.scan] : [])),
    ...scansOf(request),
  ];
  if (!scans.every(hasItsDeletes)) return 'a scan refers to deleted rows that it does not have';
  const [first] = tables;
  const columnCount = first?.kind === 'scan' ? first.scan.columns.length : 0;
  if (wholeColumns?.columns.some((column) => column >= columnCount))
    return 'it answers columns that it has not';
  return tables.map(problemOfInput).find((problem) => problem !== undefined);
}

function scansOf({ splits }: RemoteTask['request']): readonly TableScan[] {
  return splits.map(({ scan }) => scan);
}

function hasItsDeletes({ groups, deletes = [], columns, counted }: TableScan): boolean {
  return (
    groups.every(
      (group) =>
        group.sources.length <= columns.length &&
        (group.deletes ?? []).every(({ set }) => set < deletes.length),
    ) && [counted?.low ?? [], counted?.high ?? []].every((side) => side.length <= columns.length)
  );
}

function problemOfInput(table: FragmentTable): string | undefined {
  if (table.kind !== 'input' || table.rows.kind !== 'parts') return undefined;
  for (const { url, sha256 } of table.rows.parts) {
    if (!/^[0-9a-f]{64}$/.test(sha256)) return 'a digest of its input is none';
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return 'an address of its input is none';
  }
  return undefined;
}
