import { QueryError } from '@svc/base';
import { type NestedField, resolveSnapshot } from '@svc/lake';
import type { SessionSettings } from '../identity/session-settings.js';
import type { CatalogDirectory } from './catalog-directory.js';
import { placeOf, schemaName, writtenName } from './names.js';

/** The columns of a table or view as they are now, without any of its data. Throws TABLE_NOT_FOUND and the like. */
export async function columnsOfRelation(
  name: readonly string[],
  settings: SessionSettings,
  catalogs: CatalogDirectory,
  signal: AbortSignal,
): Promise<readonly NestedField[]> {
  const place = placeOf(writtenName(name), settings, catalogs);
  const { catalog } = catalogs.get(place.catalog);
  try {
    const { metadata, identifier } = await catalog.loadTable(place.identifier, { signal });
    const full = `${place.catalog}.${schemaName(identifier.namespace)}.${identifier.name}`;
    return resolveSnapshot(metadata, { kind: 'current' }, full).schema.fields;
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== 'TABLE_NOT_FOUND') throw error;
    const view = await catalog.loadView(place.identifier, { signal }).catch(() => undefined);
    if (view === undefined) throw error;
    return view.metadata.schema.fields;
  }
}
