/** Which tables' keys are worth being read before another table is. */
import { throwIfAborted } from '@svc/base';
import type { FragmentJoinKeys, FragmentScan, FragmentTable } from '@svc/fragment-fn';
import type { KeyPruning, ObjectStore, TableScan } from '@svc/lake';
import type { TableJoinKeys } from './stub-planning.js';

/** Of a target, not counting what is read in place: below, reading it costs about as much as asking for keys. */
const minTargetBytes = 2 ** 20;
const minTargetRowGroups = 4;

/** Of a source: its keys are read in one go, and then once more by the statement. */
const maxSourceBytes = 64 * 2 ** 20;
/** A target is to be so many times larger, in bytes and in rows. */
const minRatio = 4;

/** So many rows have so few keys that a list of them says something without any filter on them. */
const maxUnfilteredRows = 10_000;

export interface JoinKeyOptions {
  readonly tables: readonly FragmentTable[];
  /** One for each table. */
  readonly stores: readonly (ObjectStore | undefined)[];
  pruning(
    scan: TableScan,
    column: string,
    store: ObjectStore,
    signal: AbortSignal,
  ): Promise<KeyPruning | undefined>;
  readonly signal: AbortSignal;
}

interface Candidate extends TableJoinKeys {
  readonly from: FragmentScan;
  readonly into: FragmentScan;
}

/**
 * In the order in which they are looked at: keys of a table come behind what is known of its own rows, so that they
 * never depend on each other in a circle.
 */
export async function chooseJoinKeys(
  joinKeys: readonly TableJoinKeys[],
  { tables, stores, pruning, signal }: JoinKeyOptions,
): Promise<readonly FragmentJoinKeys[]> {
  const usable: FragmentJoinKeys[] = [];
  const selective = new Set<number>();
  for (const { target, source, from, into } of candidates(joinKeys, tables)) {
    if (!isFiltered(from) && !selective.has(source.table) && rowsOf(from) > maxUnfilteredRows) continue;
    const store = stores[target.table];
    const isWorth = store !== undefined && isWorthNarrowing(from, into, store);
    // What cannot be looked at here is read as it was planned, or refused when it is.
    const by = isWorth
      ? await pruning(into.scan, target.name, store, signal).catch(() => undefined)
      : undefined;
    throwIfAborted(signal);
    usable.push({ target, source, by });
    if (isFiltered(from) || selective.has(source.table)) selective.add(target.table);
  }
  return withoutUseless(usable);
}

/** From smaller tables into larger ones, the smallest first. */
function candidates(
  joinKeys: readonly TableJoinKeys[],
  tables: readonly FragmentTable[],
): readonly Candidate[] {
  const distinct = new Map(joinKeys.map((keys) => [JSON.stringify(keys), keys]));
  return [...distinct.values()]
    .flatMap(({ target, source }): readonly Candidate[] => {
      const [from, into] = [tables[source.table], tables[target.table]];
      return from?.kind === 'scan' && into?.kind === 'scan' && isSmaller(from, into)
        ? [{ target, source, from, into }]
        : [];
    })
    .sort((a, b) => rowsOf(a.from) - rowsOf(b.from));
}

function isSmaller(source: FragmentScan, target: FragmentScan): boolean {
  return source.scan.counts.bytesPlanned <= maxSourceBytes && rowsOf(source) < rowsOf(target);
}

/** What is read in place the engine leaves out itself, by the same keys, as soon as it has them. */
function isWorthNarrowing(source: FragmentScan, target: FragmentScan, store: ObjectStore): boolean {
  const { rowGroupsPlanned } = target.scan.counts;
  const bytes = target.scan.groups
    .flatMap(({ files }) => files)
    .filter(({ rowGroups, location }) => rowGroups !== undefined || store.localPath(location) === undefined)
    .reduce((sum, { selectedBytes }) => sum + selectedBytes, 0);
  return (
    bytes >= minTargetBytes &&
    rowGroupsPlanned >= minTargetRowGroups &&
    source.scan.counts.bytesPlanned * minRatio <= bytes &&
    rowsOf(source) * minRatio <= rowsOf(target)
  );
}

/** Without a filter, a table's keys are all that there are, and the other is likely to have no others. */
function isFiltered({ filters = [] }: FragmentScan): boolean {
  return filters.some(({ kind }) => kind !== 'is-not-null');
}

function rowsOf({ scan }: FragmentScan): number {
  return scan.counts.rowsPlanned;
}

/** What leaves nothing out itself is only of use for the keys of its target. */
function withoutUseless(joinKeys: readonly FragmentJoinKeys[]): readonly FragmentJoinKeys[] {
  const wanted = new Set<number>();
  return joinKeys
    .toReversed()
    .filter(({ by, target, source }) => {
      const isUseful = by !== undefined || wanted.has(target.table);
      if (isUseful) wanted.add(source.table);
      return isUseful;
    })
    .toReversed();
}
