import { QueryError } from '@svc/base';
import { type EngineColumn, engineColumns, type FragmentFiles } from '@svc/fragment-fn';
import {
  type LoadedTable,
  lineageFields,
  type MetadataFiles,
  type NestedField,
  type ObjectStore,
  resolveSnapshot,
  type SnapshotPin,
  type TableScan,
} from '@svc/lake';
import type { ScanRequest } from '@svc/sql';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { SessionSettings } from '../identity/session-settings.js';
import { findInformationView } from '../information-schema/find-information-view.js';
import { engineSchemaName, isInformationSchema } from '../information-schema/names.js';
import { findMetadataTable } from '../metadata-tables/find-metadata-table.js';
import { metadataRows } from '../metadata-tables/metadata-rows.js';
import { placeOf, schemaName, type WrittenName } from './names.js';

/** A table as a statement asks for it: under which name, and at which point of its history. */
export interface TableRequest {
  readonly name: WrittenName;
  readonly pin: SnapshotPin;
  /** Under which table name the engine will find it; the table's own unless one statement reads several snapshots. */
  readonly viewName?: string;
  /** The point is not known yet, and `pin` is a guess: the statement is only described. */
  readonly isAnyPoint?: boolean;
  /** Whether the statement names columns of row lineage, which a table has besides those that it lists. */
  readonly namesRowLineage?: boolean;
}

/** A table of a statement: what it looks like, and where its rows come from. */
export interface ResolvedTable {
  /** Under which name the engine will find it. */
  readonly catalog: string;
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly EngineColumn[];
  /** Of a table at a point that is not known yet: all columns that it has at some point, those of now first. */
  readonly everyColumn?: readonly EngineColumn[];
  /** Only the optimiser's guess depends on it. */
  readonly rowCount: bigint;
  readonly source: TableSource;
  /** Its rows are not all the user's to see: nothing is answered or told of them but through its view. */
  readonly isGuarded?: boolean;
  /** What people call it, where the engine calls it something else. */
  readonly shown?: { readonly catalog: string; readonly schema: string; readonly table: string };
}

export function shownName({
  shown,
  catalog,
  schema,
  table,
}: Pick<ResolvedTable, 'shown' | 'catalog' | 'schema' | 'table'>) {
  return shown ?? { catalog, schema, table };
}

export type TableSource = IcebergSource | DeltaSource | ComputedSource | FilesSource;

/** Loaded as the user and pinned to a snapshot. */
export interface IcebergSource {
  readonly kind: 'iceberg';
  readonly loaded: LoadedTable;
  readonly pin: SnapshotPin;
  readonly fields: readonly NestedField[];
  /** Columns behind these that the statement names and `*` does not mean. */
  readonly lineage: readonly NestedField[];
}

/** A version of a Delta table that the statement names by its folder. */
export interface DeltaSource {
  readonly kind: 'delta';
  readonly store: ObjectStore;
  plan(request: ScanRequest, signal: AbortSignal): Promise<TableScan>;
}

/** Rows that the coordinator makes when it knows what the statement wants of them. */
export interface ComputedSource {
  readonly kind: 'computed';
  readonly fields: readonly NestedField[];
  /** The table that the rows tell of, if it is one. */
  readonly about?: LoadedTable;
  /** Answers an Arrow IPC stream of at least the rows that the request keeps. */
  rows(request: ScanRequest, signal: AbortSignal): Promise<Uint8Array>;
}

/** Files that the statement names itself. */
export interface FilesSource extends Pick<FragmentFiles, 'call'> {
  readonly kind: 'files';
  /** What is to be read of them. */
  plan(request: ScanRequest, signal: AbortSignal): Promise<Pick<FragmentFiles, 'files' | 'unread'>>;
}

interface ResolveOptions {
  readonly settings: SessionSettings;
  readonly catalogs: CatalogDirectory;
  readonly signal: AbortSignal;
}

export interface ResolveOneOptions extends ResolveOptions {
  /**
   * Whether a point in time that the table does not have may be answered with those that it has. Default: it may not, but that there
   * was none yet is told.
   */
  readonly mayListSnapshots?: (loaded: LoadedTable) => boolean;
}

/** Tables by their names, however often and in whatever case they are named. */
export type ResolvedTables = Map<string, ResolvedTable>;

/** Throws NOT_SUPPORTED for tables that the engine could not tell apart. */
export function addResolved(resolved: ResolvedTables, table: ResolvedTable): void {
  const key = relationKey(table.catalog, table.schema, table.table);
  const other = resolved.get(key);
  if (other !== undefined && !isSameTable(other.source, table.source)) {
    throw new QueryError(
      'NOT_SUPPORTED',
      `"${table.table}" and "${other.table}" differ in case only; one statement cannot read both.`,
    );
  }
  if (other !== undefined && lineageOf(other).length !== lineageOf(table).length)
    throw new QueryError(
      'NOT_SUPPORTED',
      `One statement cannot read _row_id or _last_updated_sequence_number of "${table.table}" and the same table through a view.`,
    );
  if (other === undefined) resolved.set(key, table);
}

/** Adds the metadata table that is asked for, once it is known that the name is no table's or view's own; false: it asks for none. */
export async function addMetadataTable(
  resolved: ResolvedTables,
  { name, pin, viewName }: TableRequest,
  { settings, catalogs, signal, metadataFiles, permit }: ResolveOptions & MetadataTableOptions,
): Promise<boolean> {
  const place = placeOf(name, settings, catalogs);
  const { catalog } = catalogs.get(place.catalog);
  const found = await findMetadataTable(place, catalog, { pin, signal, permit });
  if (found === undefined) return false;
  const { table, loaded, name: shownName } = found;
  addResolved(resolved, {
    catalog: place.catalog,
    schema: schemaName(place.identifier.namespace),
    table: viewName ?? name.table,
    columns: engineColumns(table.fields),
    rowCount: guessedRows,
    source: {
      kind: 'computed',
      fields: table.fields,
      about: loaded,
      rows: (request, signal) =>
        metadataRows(table, {
          ...{ name: shownName, request, signal },
          files: metadataFiles,
          maxBytes: maxMetadataRowBytes,
        }),
    },
  });
  return true;
}

export interface MetadataTableOptions {
  readonly metadataFiles: MetadataFiles;
  /** Throws where the user may not know what there is to tell of the table. */
  permit(about: LoadedTable): void;
}

/** What the rows of one metadata table may take in a statement. */
const maxMetadataRowBytes = 128 * 1024 * 1024;

/** Of rows that the coordinator makes. */
const guessedRows = 1000n;

function lineageOf({ source }: ResolvedTable): readonly NestedField[] {
  return source.kind === 'iceberg' ? source.lineage : [];
}

/** The engine's names do not differ by case, so neither may ours. */
export function relationKey(...name: readonly string[]): string {
  return JSON.stringify(name.map((part) => part.toLowerCase()));
}

/** What opens the data files of a table, if it has any of its own. */
export function storeOf({ source }: ResolvedTable): ObjectStore | undefined {
  switch (source.kind) {
    case 'iceberg':
      return source.loaded.store;
    case 'delta':
      return source.store;
    case 'computed':
    case 'files':
      return undefined;
  }
}

/** By name and not by content: somebody may have committed between two loads of one table. */
function isSameTable(left: TableSource, right: TableSource): boolean {
  const [first, second] = [loadedOf(left), loadedOf(right)];
  if (first === undefined || second === undefined) return true;
  return (
    first.metadataLocation === second.metadataLocation ||
    JSON.stringify(first.identifier) === JSON.stringify(second.identifier)
  );
}

function loadedOf(source: TableSource): LoadedTable | undefined {
  switch (source.kind) {
    case 'iceberg':
      return source.loaded;
    case 'computed':
      return source.about;
    case 'delta':
    case 'files':
      return undefined;
  }
}

/** Loads a table. Throws TABLE_NOT_FOUND and the like, naming it as written. */
export async function resolveOne(
  { name, pin, viewName, isAnyPoint = false, namesRowLineage = false }: TableRequest,
  { settings, catalogs, signal, mayListSnapshots }: ResolveOneOptions,
): Promise<ResolvedTable> {
  const place = placeOf(name, settings, catalogs);
  if (isInformationSchema(place.identifier.namespace)) {
    const { catalog } = place;
    const view = findInformationView(place, pin);
    return {
      catalog,
      schema: engineSchemaName(schemaName(place.identifier.namespace)),
      table: name.table,
      columns: engineColumns(view.fields),
      rowCount: guessedRows,
      source: {
        kind: 'computed',
        fields: view.fields,
        rows: (request, signal) => view.rows({ catalog, catalogs, request, signal }),
      },
    };
  }
  const loaded = await catalogs.get(place.catalog).catalog.loadTable(place.identifier, { signal });
  const schema = schemaName(place.identifier.namespace);
  const tableName = `${place.catalog}.${schema}.${loaded.identifier.name}`;
  const point: SnapshotPin = isAnyPoint ? { kind: 'current' } : pin;
  const mayList = point.kind === 'current' ? undefined : mayListSnapshots?.(loaded);
  const asked = mayList === false ? untoldPin(point) : point;
  const { snapshot, schema: columns } = resolveSnapshot(loaded.metadata, asked, tableName, {
    mayList: mayList === true,
  });
  const lineage = namesRowLineage ? lineageFields(loaded.metadata.formatVersion, columns.fields) : [];
  return {
    catalog: place.catalog,
    schema,
    table: viewName ?? name.table,
    columns: engineColumns([...columns.fields, ...lineage]),
    ...(isAnyPoint && { everyColumn: engineColumns([...everyField(loaded, columns), ...lineage]) }),
    rowCount: snapshot === undefined ? 0n : totalRecords(snapshot.summary.get('total-records')),
    source: {
      kind: 'iceberg',
      loaded,
      // The loaded metadata never changes, so that "current" means the same snapshot at every later use of it.
      pin:
        snapshot === undefined
          ? asked
          : { kind: 'id', snapshotId: snapshot.snapshotId, schemaId: columns.schemaId },
      fields: columns.fields,
      lineage,
    },
  };
}

/** When the first commit was is a commit's affair: who is told of none is not told that there was none yet. */
function untoldPin(pin: SnapshotPin): SnapshotPin {
  return pin.kind === 'timestamp' ? { ...pin, isEmptyBefore: true } : pin;
}

/** The fields of all schemas, by name: first those of `schema`, then the others', the newest first. */
function everyField(
  { metadata }: LoadedTable,
  schema: Pick<IcebergSource, 'fields'>,
): readonly NestedField[] {
  const fields = new Map<string, NestedField>();
  for (const each of [schema, ...[...metadata.schemas].reverse()])
    for (const field of each.fields) {
      const key = field.name.toLowerCase();
      if (!fields.has(key)) fields.set(key, field);
    }
  return [...fields.values()];
}

/** What the snapshot says of itself. */
function totalRecords(text: string | undefined): bigint {
  return text !== undefined && /^\d{1,18}$/.test(text) ? BigInt(text) : 1000n;
}
