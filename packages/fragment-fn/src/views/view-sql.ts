/**
 * The views under which a fragment's SQL finds its tables. A scan view reads staged files; a stub view has the same
 * columns over a Parquet file without rows and is what planning binds against (docs/ARCHITECTURE.md, "How a query travels").
 */
import {
  type ColumnSource,
  type CountedRows,
  deletionColumns,
  type NestedField,
  positionColumns,
} from '@svc/lake';
import { filesPlaceholder, quoteIdentifier, quoteString, type ScanFilter, scanFilterSql } from '@svc/sql';
import type { FragmentFiles } from '../request.js';
import { deletesJoinSql, deletesSql, inheritedSql, positionSql, readsFileRows } from './deletes-sql.js';
import { engineType } from './engine-type.js';
import { readParquet } from './read-parquet-sql.js';
import { sourceSql } from './source-sql.js';
import type { StagedDeletes, StagedGroup } from './staged-group.js';

export interface QualifiedName {
  readonly catalog: string;
  readonly schema: string;
  readonly table: string;
}

export function qualified(name: QualifiedName): string {
  return [name.catalog, name.schema, name.table].map(quoteIdentifier).join('.');
}

/** Attaches each catalog and creates each schema once, in the order the names come. */
export function namespaceStatements(names: readonly Pick<QualifiedName, 'catalog' | 'schema'>[]): string[] {
  const catalogs = new Set(names.map((name) => name.catalog));
  const schemas = new Set(
    names.map((name) => `${quoteIdentifier(name.catalog)}.${quoteIdentifier(name.schema)}`),
  );
  return [
    ...[...catalogs].map((catalog) => `ATTACH ':memory:' AS ${quoteIdentifier(catalog)}`),
    ...[...schemas].map((schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`),
  ];
}

/**
 * `CREATE VIEW … AS SELECT … FROM read_parquet(…) UNION ALL …`, one branch per physical schema, and one for rows that are
 * not read.
 */
export function scanViewSql(
  name: QualifiedName,
  columns: readonly NestedField[],
  parts: readonly (StagedGroup | CountedRows)[],
  deletes: readonly StagedDeletes[] = [],
): string {
  return `CREATE VIEW ${qualified(name)} AS ${scanSql(columns, parts, deletes)}`;
}

/** Adds the rows of staged files, those that may pass the filters, to a table of `rowsTableSql`. */
export function gatherSql(
  name: QualifiedName,
  columns: readonly NestedField[],
  parts: readonly (StagedGroup | CountedRows)[],
  {
    filters,
    deletes = [],
  }: { readonly filters: readonly ScanFilter[]; readonly deletes?: readonly StagedDeletes[] | undefined },
): string {
  const printed = filters.flatMap((filter) => scanFilterSql(filter) ?? []);
  const where = printed.length === 0 ? '' : ` WHERE ${printed.join(' AND ')}`;
  return `INSERT INTO ${qualified(name)} SELECT * FROM (${scanSql(columns, parts, deletes)})${where}`;
}

function scanSql(
  columns: readonly NestedField[],
  parts: readonly (StagedGroup | CountedRows)[],
  deletes: readonly StagedDeletes[],
): string {
  const groups = parts.flatMap((part) => ('low' in part || part.paths.length === 0 ? [] : [part]));
  const branches = [
    ...groups.map((group) => {
      const inherited = inheritedSql(group);
      const list = columns.map((column, index) => {
        const source = group.sources[index];
        const sql =
          source === undefined ? `CAST(NULL AS ${engineType(column.type)})` : sourceSql(source, inherited);
        return `${sql} AS ${quoteIdentifier(column.name)}`;
      });
      return `SELECT ${list.join(', ')} FROM ${groupSql(group, deletes)}`;
    }),
    ...parts.flatMap((part) => ('low' in part ? [countedSql(columns, part)] : [])),
  ];
  if (branches.length === 0) return emptySelect(engineColumns(columns));
  const lists = deletesSql(deletes, groups);
  return `${lists.length === 0 ? '' : `WITH ${lists.join(', ')} `}${branches.join(' UNION ALL ')}`;
}

/** Rows of constants only: a CASE that tells the first row from the others takes the engine five times as long. */
function countedSql(columns: readonly NestedField[], { rowCount, low, high }: CountedRows): string {
  const rowsOf = (count: number, side: readonly ColumnSource[]): string => {
    const list = columns.map(({ name, type }, index) => {
      const source = side[index];
      const value = source === undefined ? `CAST(NULL AS ${engineType(type)})` : sourceSql(source);
      return `${value} AS ${quoteIdentifier(name)}`;
    });
    return `SELECT ${list.join(', ')} FROM range(${count})`;
  };
  return rowCount > 1 ? `${rowsOf(1, low)} UNION ALL ${rowsOf(rowCount - 1, high)}` : rowsOf(rowCount, low);
}

/**
 * Rows that were deleted are found by the original position, or by their values: by anti-joins, above which the engine
 * leaves what the statement computes, so that nothing of it fails on a row that is not there any more.
 */
function groupSql(group: StagedGroup, deletes: readonly StagedDeletes[]): string {
  const { paths, deletions = [], hasRowDelta } = group;
  const joins = deletesJoinSql(group, deletes);
  if (deletions.length > 0)
    joins.unshift(
      ` ANTI JOIN ${readParquet(deletions)} AS d ON ${positionSql(hasRowDelta)} = d.${deletionColumns.position}` +
        ` AND r.${positionColumns.file} = d.${deletionColumns.file}`,
    );
  return joins.length === 0
    ? readParquet(paths)
    : `${readParquet(paths, readsFileRows)} AS r${joins.join('')}`;
}

/** A column of the engine: `type` is SQL. */
export interface EngineColumn {
  readonly name: string;
  readonly type: string;
}

export function engineColumns(fields: readonly NestedField[]): readonly EngineColumn[] {
  return fields.map(({ name, type }) => ({ name, type: engineType(type) }));
}

function emptySelect(columns: readonly EngineColumn[]): string {
  const list = columns.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${quoteIdentifier(name)}`);
  return `SELECT ${list.join(', ')} WHERE false`;
}

/** A table of the engine for rows that come with the fragment. */
export function rowsTableSql(name: QualifiedName, columns: readonly EngineColumn[]): string {
  const list = columns.map((column) => `${quoteIdentifier(column.name)} ${column.type}`);
  return `CREATE TABLE ${qualified(name)} (${list.join(', ')})`;
}

/** The query of a reading of files with their paths in it. */
export function fileCallSql(call: string, paths: readonly string[]): string {
  const [path = ''] = paths;
  const list = paths.length === 1 ? quoteString(path) : `[${paths.map(quoteString).join(', ')}]`;
  return call.replace(quoteString(filesPlaceholder), () => list);
}

/** Where a file of a reading lies now, and what the statement called it. */
export interface PlacedFile {
  readonly path: string;
  readonly location: string;
}

/** The column in which the engine says which file a row is from. */
const fileNameColumn = 'filename';

/** A view over files; it has the columns that were described when the statement was planned. */
export function filesViewSql(
  table: QualifiedName & Pick<FragmentFiles, 'call' | 'columns' | 'unread'>,
  files: readonly PlacedFile[],
): string {
  const call = fileCallSql(
    table.call,
    files.map(({ path }) => path),
  );
  const moved = files.filter(({ path, location }) => path !== location);
  const select = moved.length === 0 ? call : `SELECT ${movedColumns(table, moved)} FROM (${call})`;
  return `CREATE VIEW ${qualified(table)} AS ${select}`;
}

function movedColumns(
  { columns, unread }: Pick<FragmentFiles, 'columns' | 'unread'>,
  moved: readonly PlacedFile[],
): string {
  const locations = new Map(moved.map(({ path, location }) => [path, location]));
  const entries = [...locations].map(([path, location]) => `${quoteString(path)}: ${quoteString(location)}`);
  const list = columns.map(({ name, type }) => {
    const column = quoteIdentifier(name);
    if (unread.includes(name)) return `CAST(NULL AS ${type}) AS ${column}`;
    if (name !== fileNameColumn || type !== 'VARCHAR') return column;
    return `coalesce(MAP {${entries.join(', ')}}[${column}], ${column}) AS ${column}`;
  });
  return list.join(', ');
}

/** Writes the zero-row file that a stub view reads; the engine itself knows best how it reads its own types back. */
export function stubFileSql(path: string, columns: readonly EngineColumn[]): string {
  return `COPY (${emptySelect(columns)}) TO ${quoteString(path)} (FORMAT parquet)`;
}

/** Types that come back from a Parquet file of the engine as they went in, whatever they are nested in. */
const storedTypes =
  /^(?!.*\b(?:U?HUGEINT|TIME_NS|BIT|BIGNUM|VARINT|INTERVAL|JSON|UNION|ENUM|VARIANT|GEOMETRY|TIMESTAMP_S|TIME WITH TIME ZONE)\b)(?!.*\[\d)/i;

/**
 * `rowCount` makes the optimiser choose join orders as it would with the table's rows. The casts are for types that the
 * stub file does not keep.
 */
export function stubViewSql(
  name: QualifiedName,
  path: string,
  columns: readonly EngineColumn[],
  rowCount: bigint,
): string {
  const list = columns
    .map(({ name: column, type }) => {
      const quoted = quoteIdentifier(column);
      return storedTypes.test(type) ? quoted : `CAST(${quoted} AS ${type}) AS ${quoted}`;
    })
    .join(', ');
  return `CREATE VIEW ${qualified(name)} AS SELECT ${list} FROM ${readParquet([path], `, explicit_cardinality = ${rowCount < 1n ? 1n : rowCount}`)}`;
}

/** A view of the catalog, over tables and views that are there already. */
export function viewSql(
  view: QualifiedName & { readonly columns: readonly string[]; readonly sql: string },
): string {
  const columns = view.columns.map(quoteIdentifier).join(', ');
  return `CREATE VIEW ${qualified(view)} (${columns}) AS ${view.sql}`;
}
