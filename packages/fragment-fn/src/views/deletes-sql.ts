/**
 * Delete files as lists of rows that a table's files are anti-joined with (table specification, "Scan Planning"). A list
 * is read once, whatever many branches of the view use it: the engine sees to that.
 */
import { type ColumnSource, positionColumns, reservedPrefix } from '@svc/lake';
import { quoteIdentifier, quoteString } from '@svc/sql';
import { readParquet } from './read-parquet-sql.js';
import { type InheritedSql, sourceSql } from './source-sql.js';
import type { StagedDeletes, StagedGroup } from './staged-group.js';

/** Options by which rows of a file carry its path and their position in it. */
export const readsFileRows = `, ${positionColumns.row} = true, filename = ${quoteString(positionColumns.file)}`;

const name = (what: string): string => `${reservedPrefix}${what}`;
/** Of a list: what is compared, and what the delete file says of itself. */
const key = (index: number): string => name(`key${index}`);
const listColumns = { file: name('file'), sequence: name('sequence'), partition: name('partition') } as const;
/** Of the files that a list is about. */
const fileColumns = {
  path: name('file_path'),
  location: name('file_location'),
  sequence: name('file_sequence'),
  partition: name('file_partition'),
  firstRow: name('file_first_row'),
} as const;

/** The original position of a row of `r`. */
export function positionSql(hasRowDelta: boolean | undefined): string {
  return `r.${positionColumns.row}${hasRowDelta === true ? ' + r.__row_delta' : ''}`;
}

/** Of rows whose files are told by `f`. */
export function inheritedSql({ hasRowDelta }: StagedGroup): InheritedSql {
  return {
    rowId: `f.${fileColumns.firstRow} + ${positionSql(hasRowDelta)}`,
    sequenceNumber: `f.${fileColumns.sequence}`,
  };
}

/** Named lists for the WITH of a view over these groups. */
export function deletesSql(
  sets: readonly StagedDeletes[],
  groups: readonly StagedGroup[],
): readonly string[] {
  return sets.flatMap((set, index) => {
    const targets = groups.filter((group) => group.deletes?.some((applied) => applied.set === index));
    if (targets.length === 0 || isEmpty(set)) return [];
    const list = set.kind === 'positions' ? positionList(set, targets) : equalityList(set);
    return [`${listName(index)} AS (${list})`];
  });
}

/** The joins of one group of files, whose rows are `r`: with what is known of the files, where it is asked for, and anti-joins. */
export function deletesJoinSql(group: StagedGroup, sets: readonly StagedDeletes[]): string[] {
  const applied = (group.deletes ?? []).flatMap(({ set: index, sources }) => {
    const set = sets[index];
    return set === undefined || isEmpty(set) ? [] : [{ set, index, sources }];
  });
  const joins = applied.map(({ set, index, sources }) => {
    const alias = `d${index}`;
    if (set.kind === 'positions')
      return (
        ` ANTI JOIN ${listName(index)} AS ${alias} ON ${positionSql(group.hasRowDelta)} = ${alias}.${key(1)}` +
        ` AND r.${positionColumns.file} = ${alias}.${listColumns.file}`
      );
    const conditions = set.keys.map(
      (_, slot) => `${keySql(sources[slot])} IS NOT DISTINCT FROM ${alias}.${key(slot)}`,
    );
    if (set.isScoped) conditions.push(`f.${fileColumns.partition} = ${alias}.${listColumns.partition}`);
    conditions.push(`f.${fileColumns.sequence} < ${alias}.${listColumns.sequence}`);
    return ` ANTI JOIN ${listName(index)} AS ${alias} ON ${conditions.join(' AND ')}`;
  });
  const isInherited = group.sources.some(({ kind }) => kind === 'row-id' || kind === 'sequence-number');
  if (isInherited || applied.some(({ set }) => set.kind === 'equality'))
    joins.unshift(` JOIN ${filesSql([group])} AS f ON r.${positionColumns.file} = f.${fileColumns.path}`);
  return joins;
}

function isEmpty(set: StagedDeletes): boolean {
  return set.groups.every((group) => group.paths.length === 0);
}

function listName(index: number): string {
  return name(`deletes${index}`);
}

/** Staged files and positions in them, of all files that a delete file is about. */
function positionList(set: StagedDeletes, targets: readonly StagedGroup[]): string {
  const scope = set.isScoped ? ` AND d.${listColumns.partition} = f.${fileColumns.partition}` : '';
  return (
    `SELECT f.${fileColumns.path} AS ${listColumns.file}, d.${key(1)} FROM (${listedRows(set)}) AS d JOIN ${filesSql(targets)} AS f ` +
    `ON d.${key(0)} = f.${fileColumns.location} AND f.${fileColumns.sequence} <= d.${listColumns.sequence}${scope}`
  );
}

/** Each value once, with the newest of the delete files that list it: it reaches all files that an older one does. */
function equalityList(set: StagedDeletes): string {
  const keys = [...set.keys.map((_, slot) => key(slot)), ...(set.isScoped ? [listColumns.partition] : [])];
  return (
    `SELECT ${keys.join(', ')}, max(${listColumns.sequence}) AS ${listColumns.sequence} ` +
    `FROM (${listedRows(set)}) GROUP BY ${keys.join(', ')}`
  );
}

/** All lines of a set's delete files. */
function listedRows(set: StagedDeletes): string {
  const branches = set.groups
    .filter((group) => group.paths.length > 0)
    .map((group) => {
      const keys = set.keys.map((_, slot) => `${keySql(group.sources[slot])} AS ${key(slot)}`);
      return (
        `SELECT ${keys.join(', ')}, f.${fileColumns.sequence} AS ${listColumns.sequence}, f.${fileColumns.partition} AS ${listColumns.partition} ` +
        `FROM ${readParquet(group.paths, `, filename = ${quoteString(positionColumns.file)}`)} AS r ` +
        `JOIN ${filesSql([group])} AS f ON r.${positionColumns.file} = f.${fileColumns.path}`
      );
    });
  return branches.join(' UNION ALL ');
}

function keySql(source: ColumnSource | undefined): string {
  return source === undefined ? 'NULL' : sourceSql(source);
}

/** What the metadata says of the groups' files, as rows. */
function filesSql(groups: readonly StagedGroup[]): string {
  // A path once, even if a damaged table has a file twice: a row must not be joined with two.
  const rows = new Map<string, string>();
  for (const { paths, locations, origins = [] } of groups)
    for (const [index, path] of paths.entries()) {
      const { sequenceNumber = 0n, partition = 0, firstRowId = null } = origins[index] ?? {};
      rows.set(
        path,
        `(${quoteString(path)}, ${quoteString(locations[index] ?? '')}, ${sequenceNumber}::BIGINT, ${partition}, ${firstRowId ?? 'NULL'}::BIGINT)`,
      );
    }
  const columns = Object.values(fileColumns).map(quoteIdentifier).join(', ');
  return `(SELECT * FROM (VALUES ${[...rows.values()].join(', ')}) AS v(${columns}))`;
}
