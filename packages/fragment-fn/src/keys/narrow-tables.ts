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

/** Less is fetched sooner than keys are found: from a server on the same machine 20 MB in the time that they took (decisions.md). */
const defaultMinBytes = 16 * 2 ** 20;

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
  const joins = await worthwhileJoins(fragment);
  const tables = [...request.tables];
  const sources = new Map<number, KeySource>();
  const among = new Map<number, KeySource['among']>();
  for (const join of joins) {
    const [table, target] = [tables[join.source.table], tables[join.target.table]];
    if (table?.kind !== 'scan' || target?.kind !== 'scan') continue;
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

/**
 * Those whose target has much that is still to be fetched, and those that say which keys of their sources are needed. All
 * other tables are brought beside each other, without waiting for keys.
 */
async function worthwhileJoins(fragment: LeasedFragment): Promise<readonly FragmentJoinKeys[]> {
  const { request, environment } = fragment;
  if (environment.narrow === undefined) return [];
  const sources = new Set<number>();
  const worthwhile: FragmentJoinKeys[] = [];
  for (const join of (request.joinKeys ?? []).toReversed()) {
    const isOfSource = sources.has(join.target.table);
    if (!isOfSource && (join.by === undefined || !(await isLarge(fragment, join)))) continue;
    sources.add(join.source.table);
    worthwhile.unshift(join);
  }
  return worthwhile;
}

async function isLarge(fragment: LeasedFragment, { target }: FragmentJoinKeys): Promise<boolean> {
  const table = fragment.request.tables[target.table];
  if (table?.kind !== 'scan') return false;
  try {
    return await hasMuchToFetch(fragment, table);
  } catch {
    throwIfAborted(fragment.link.signal);
    return false;
  }
}

async function hasMuchToFetch({ environment, link }: LeasedFragment, table: FragmentScan): Promise<boolean> {
  const bytes = await environment.bytesToFetch?.(table, link.signal);
  return bytes === undefined || bytes >= (environment.joinKeysBytes ?? defaultMinBytes);
}

async function narrowTable(
  fragment: LeasedFragment,
  target: FragmentScan,
  join: FragmentJoinKeys,
  source: KeySource,
): Promise<FragmentScan> {
  const { environment, lease, link } = fragment;
  const narrow = async (filter: ScanFilter) =>
    (await environment.narrow?.(target, [filter], link.signal)) ?? target;
  if (!(await hasMuchToFetch(fragment, target))) return target;
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
