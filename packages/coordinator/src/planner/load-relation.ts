import { QueryError } from '@svc/base';
import { type LoadedTable, type LoadedView, type NestedField, resolveSnapshot } from '@svc/lake';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { SessionSettings } from '../identity/session-settings.js';
import { findInformationView } from '../information-schema/find-information-view.js';
import { informationSchema, isInformationSchema } from '../information-schema/names.js';
import { findMetadataTable } from '../metadata-tables/find-metadata-table.js';
import { placeOf, schemaName, writtenName } from './names.js';

/** A table or view as its metadata says, without any of its data. */
export type Relation = (
  | { readonly kind: 'table'; readonly loaded: LoadedTable }
  | { readonly kind: 'view'; readonly loaded: LoadedView }
  /** One of information_schema, or a metadata table. */
  | { readonly kind: 'computed' }
) & {
  /** As the catalog spells them. */
  readonly path: readonly [catalog: string, schema: string, name: string];
  /** As they are now. */
  readonly columns: readonly NestedField[];
};

/** Throws TABLE_NOT_FOUND and the like. */
export async function loadRelation(
  name: readonly string[],
  settings: SessionSettings,
  catalogs: CatalogDirectory,
  signal: AbortSignal,
): Promise<Relation> {
  const place = placeOf(writtenName(name), settings, catalogs);
  if (isInformationSchema(place.identifier.namespace)) {
    const view = findInformationView(place);
    const path = [place.catalog, informationSchema, view.name] as const;
    return { kind: 'computed', path, columns: view.fields };
  }
  const { catalog } = catalogs.get(place.catalog);
  try {
    const loaded = await catalog.loadTable(place.identifier, { signal });
    const path = pathOf(place.catalog, loaded);
    const { schema } = resolveSnapshot(loaded.metadata, { kind: 'current' }, path.join('.'));
    return { kind: 'table', loaded, path, columns: schema.fields };
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== 'TABLE_NOT_FOUND') throw error;
    const loaded = await catalog.loadView(place.identifier, { signal }).catch(() => undefined);
    if (loaded === undefined) {
      const found = await findMetadataTable(place, catalog, { pin: { kind: 'current' }, signal });
      // The table's error: it names what is near.
      if (found === undefined) throw error;
      return { kind: 'computed', path: found.path, columns: found.table.fields };
    }
    const path = pathOf(place.catalog, loaded);
    return { kind: 'view', loaded, path, columns: loaded.metadata.schema.fields };
  }
}

function pathOf(catalog: string, { identifier }: LoadedTable | LoadedView) {
  return [catalog, schemaName(identifier.namespace), identifier.name] as const;
}
