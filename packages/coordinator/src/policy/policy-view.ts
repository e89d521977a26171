/** The views through which tables with policies are read, and where the tables themselves lie meanwhile. */
import type { EngineColumn, FragmentView } from '@svc/fragment-fn';
import { quoteIdentifier } from '@svc/sql';

interface RelationName {
  readonly catalog: string;
  readonly schema: string;
  readonly table: string;
}

/**
 * The engine's catalog of what no statement can name: names of statements are those of the session's catalogs, and none of
 * them is called so.
 */
export const hiddenCatalog = 'svc_policy';

export function hiddenName({ catalog, schema, table }: RelationName): RelationName {
  return { catalog: hiddenCatalog, schema: JSON.stringify([catalog, schema]), table };
}

/** Where a hidden table lies as its catalog shows it, for those of whom our own policies ask nothing. */
export function restrictedName({ catalog, schema, table }: RelationName): RelationName {
  return { catalog: hiddenCatalog, schema: JSON.stringify([catalog, schema, 'restricted']), table };
}

/** A view of a statement; one that hides rows has a text for each of the ways to keep them hidden. */
export interface ResolvedView extends FragmentView {
  readonly guard?: ViewGuard;
  /** Of a view of the catalog: what it says itself can tell of no row that is hidden below it. */
  readonly isLeakproof?: boolean;
}

export interface ViewGuard {
  /** For statements of which nothing can tell of a hidden row, in whatever order it is computed; absent: none is one. */
  readonly plainSql?: string;
  /** Answers rows in the table's order, whatever the engine does to apply the policies; absent: it is kept anyway. */
  readonly orderedSql?: string;
  /** Of a policy, which means the same in every session; and not of a view of its definer. */
  readonly isPolicy: boolean;
  /** What its reader knows it by, where its own name is hidden. */
  readonly shown?: string;
}

export type GuardMode = 'plain' | 'barrier';

export function hasBarrier({ guard }: ResolvedView, mode: GuardMode): boolean {
  return guard !== undefined && (mode === 'barrier' || guard.plainSql === undefined);
}

/** With `isOrdered`, in the order of their tables: for running a statement that shows it, not for planning. */
export function fragmentViews(
  views: readonly ResolvedView[],
  mode: GuardMode,
  isOrdered = false,
): readonly FragmentView[] {
  return views.map(({ catalog, schema, table, columns, sql, guard }) => {
    const relation = { catalog, schema, table, columns };
    if (guard === undefined) return { ...relation, sql };
    if (mode === 'plain' && guard.plainSql !== undefined) return { ...relation, sql: guard.plainSql };
    const ordered = isOrdered ? guard.orderedSql : undefined;
    return { ...relation, sql: withBarrier(ordered ?? sql) };
  });
}

/** It changes no rows, and the engine moves no condition below it. */
function withBarrier(sql: string): string {
  return `${sql} OFFSET 0`;
}

export interface PolicyViewParts {
  /** Where the rows are. */
  readonly hidden: RelationName;
  /** What expressions call the table. */
  readonly alias: string;
  readonly columns: readonly EngineColumn[];
  readonly filters: readonly string[];
  /** By column name in lower case. */
  readonly masks: ReadonlyMap<string, string>;
  /** Whether the engine is to take structs for whole: else it computes casts of their fields before any filter. */
  readonly isBarrier: boolean;
  /** Whether rows are to come in the table's order although the engine may lose it: it costs a sort of what is seen. */
  readonly isOrdered: boolean;
}

/** Filters and masks see the table's own values; a mask has its column's type. */
export function policySql({
  hidden,
  alias,
  columns,
  filters,
  masks,
  isBarrier,
  isOrdered,
}: PolicyViewParts): string {
  const list = columns.map((each) => {
    const column = quoteIdentifier(each.name);
    const mask = masks.get(each.name.toLowerCase());
    const value = `${quoteIdentifier(alias)}.${column}`;
    if (mask !== undefined) return `CAST((${mask}) AS ${each.type}) AS ${column}`;
    return isBarrier && isStruct(each) ? `${wholeStruct(value)} AS ${column}` : value;
  });
  const from = [hidden.catalog, hidden.schema, hidden.table].map(quoteIdentifier).join('.');
  const text = `SELECT ${list.join(', ')} FROM ${from} AS ${quoteIdentifier(alias)}`;
  const condition = filters.map((filter) => `(${filter})`).join(' AND ');
  if (!isOrdered) return condition === '' ? text : `${text} WHERE ${condition}`;
  // QUALIFY is WHERE above the numbers, which are of the table's rows so; names in it mean columns before what masks make of them.
  return `${text}${condition === '' ? '' : ` QUALIFY ${condition}`} ORDER BY row_number() OVER ()`;
}

/** For a view whose own text is anything, and which answers these columns. */
export function wrappedSql(sql: string, columns: readonly EngineColumn[]): string {
  if (!columns.some(isStruct)) return `SELECT * FROM (${sql})`;
  const names = columns.map(({ name }) => quoteIdentifier(name));
  const list = columns.map((column) => {
    const name = quoteIdentifier(column.name);
    return isStruct(column) ? wholeStruct(name) : name;
  });
  return `SELECT ${list.join(', ')} FROM (${sql}) AS v(${names.join(', ')})`;
}

function isStruct({ type }: EngineColumn): boolean {
  return type.startsWith('STRUCT');
}

/** The struct itself, in words that the engine does not look through for its fields. */
function wholeStruct(column: string): string {
  return `CASE WHEN ${column} IS NULL THEN NULL ELSE ${column} END`;
}
