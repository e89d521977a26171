import { QueryError } from '@svc/base';
import type { LoadedTable, NestedField, TableSnapshot } from '@svc/lake';
import { resolveSnapshot } from '@svc/lake';
import type { TableReference } from '@svc/sql';
import type { SessionSettings } from '../identity/session-settings.js';
import type { CatalogDirectory } from './catalog-directory.js';
import { placeOf, schemaName } from './names.js';

/** A table of a statement, loaded as the user and pinned to a snapshot. */
export interface ResolvedTable {
  /** Under which name the engine will find it. */
  readonly catalog: string;
  readonly schema: string;
  readonly table: string;
  readonly loaded: LoadedTable;
  readonly snapshot: TableSnapshot;
  readonly columns: readonly NestedField[];
}

export interface ResolveOptions {
  readonly references: readonly TableReference[];
  readonly settings: SessionSettings;
  readonly catalogs: CatalogDirectory;
  readonly signal: AbortSignal;
}

/** Loads every table that a statement names, each once. Throws TABLE_NOT_FOUND and the like, naming it as written. */
export async function resolveTables(options: ResolveOptions): Promise<readonly ResolvedTable[]> {
  const resolved = new Map<string, ResolvedTable>();
  for (const reference of options.references) {
    const table = await resolveOne(reference, options);
    // The engine's names do not differ by case, so neither may ours.
    const key = JSON.stringify([table.catalog, table.schema, table.table].map((name) => name.toLowerCase()));
    const other = resolved.get(key);
    if (other !== undefined && other.loaded.metadataLocation !== table.loaded.metadataLocation) {
      throw new QueryError(
        'NOT_SUPPORTED',
        `"${table.table}" and "${other.table}" differ in case only; one statement cannot read both.`,
      );
    }
    if (other === undefined) resolved.set(key, table);
  }
  return [...resolved.values()];
}

async function resolveOne(
  reference: TableReference,
  { settings, catalogs, signal }: ResolveOptions,
): Promise<ResolvedTable> {
  const place = placeOf(reference.name, settings, catalogs);
  const loaded = await catalogs.get(place.catalog).catalog.loadTable(place.identifier, { signal });
  const snapshot = resolveSnapshot(loaded, reference.snapshot);
  return {
    catalog: place.catalog,
    schema: schemaName(place.identifier.namespace),
    table: reference.viewName ?? loaded.identifier.name,
    loaded,
    snapshot,
    columns: snapshot.schema.fields,
  };
}
