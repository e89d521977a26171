/**
 * Reads less of a large table by the keys of a small one that it is joined with: the small one is brought first, as it has
 * to be anyway, and its keys say which files and row groups of the other may hold a row that is needed. The statement's own
 * join is run all the same.
 */
import { throwIfAborted } from '@svc/base';
import type { ScanFilter } from '@svc/sql';
import type { LeasedFragment } from '../leased-fragment.js';
import type { FragmentJoinKeys, FragmentScan, FragmentTable } from '../request.js';
import { type KeyList, type KeyRange, listFilter, rangeFilter } from './key-filter.js';
import { type KeySource, keyListSql, keyRangeSql, maxListedKeys, maxListedRows } from './keys-sql.js';

/** Less is fetched sooner than keys are found. */
const minBytes = 2 ** 20;

/** Bloom filters are not asked for more. */
const maxBloomKeys = 16;

/** A range that leaves more than this share of the bytes is not worth being made exact. */
const worthwhileShare = 0.75;

/**
 * The request's tables, as much as is needed of each. `bind` brings a table whose keys are wanted, and makes its name. What
 * fails while keys are looked for costs nothing but the saving.
 */
export async function narrowTables(
  fragment: LeasedFragment,
  bind: (table: FragmentScan, index: number) => Promise<void>,
): Promise<readonly FragmentTable[]> {
  const { request, environment, link } = fragment;
  const tables = [...request.tables];
  const sources = new Map<number, KeySource>();
  const among = new Map<number, KeySource['among']>();
  for (const join of request.joinKeys ?? []) {
    const [table, target] = [tables[join.source.table], tables[join.target.table]];
    if (table?.kind !== 'scan' || target?.kind !== 'scan' || environment.narrow === undefined) continue;
    let source = sources.get(join.source.table);
    if (source === undefined) {
      await bind(table, join.source.table);
      source = { table, among: among.get(join.source.table) ?? [] };
      sources.set(join.source.table, source);
    }
    const known = among.get(join.target.table) ?? [];
    among.set(join.target.table, [...known, { column: join.target.name, source, key: join.source.name }]);
    if (join.by === undefined) continue;
    try {
      tables[join.target.table] = await narrowTable(fragment, target, join, source);
    } catch {
      throwIfAborted(link.signal);
    }
  }
  for (const [index, planned] of request.tables.entries()) {
    const narrowed = tables[index];
    if (planned.kind === 'scan' && narrowed?.kind === 'scan' && narrowed !== planned)
      environment.onNarrowed?.(planned, narrowed);
  }
  return tables;
}

async function narrowTable(
  { environment, lease, link }: LeasedFragment,
  target: FragmentScan,
  join: FragmentJoinKeys,
  source: KeySource,
): Promise<FragmentScan> {
  const narrow = async (filter: ScanFilter) =>
    (await environment.narrow?.(target, [filter], link.signal)) ?? target;
  const bytes = await environment.bytesToFetch?.(target, link.signal);
  if (bytes !== undefined && bytes < minBytes) return target;
  const maxKeys = join.by === 'bloom' ? maxBloomKeys : maxListedKeys;
  const list = keyList(await lease.queryText(keyListSql(source, join.source, maxKeys), [], link.signal));
  const isComplete = list.rows <= maxListedRows;
  if (isComplete && list.keys !== null) return await narrow(listFilter(join, list.keys));
  if (join.by === 'bloom') return target;
  const byRange = await narrow(rangeFilter(join, list));
  if (isComplete) return byRange;
  // Of all keys the range is no smaller.
  if (byRange.scan.counts.bytesPlanned > target.scan.counts.bytesPlanned * worthwhileShare) return target;
  return await narrow(
    rangeFilter(join, keyRange(await lease.queryText(keyRangeSql(source, join.source), [], link.signal))),
  );
}

/** The engine answers what our own query asked for. */
function keyList(text: string): KeyList {
  return JSON.parse(text);
}

function keyRange(text: string): KeyRange {
  return JSON.parse(text);
}
