/** What a catalog holds, as far as a request may want it: names by listing, metadata only where it is asked for. */
import { QueryError } from '@svc/base';
import { type ListedRelation, type ListingOptions, mapConcurrently, type Namespace } from '@svc/lake';
import type { ReadableCatalog } from '../catalogs/catalog-directory.js';
import { schemaName } from '../planner/names.js';
import type { InformationRequest } from './information-view.js';
import { mightMatch } from './might-match.js';
import { informationSchema } from './names.js';

export interface SchemaItem {
  readonly catalog: string;
  readonly schema: string;
}

export interface RelationItem extends SchemaItem {
  readonly table: string;
  readonly kind: 'table' | 'view';
  /** Undefined for the views of information_schema, of which a catalog knows nothing. */
  readonly listed: ListedRelation | undefined;
}

/** Tables and views being loaded at one time. */
const maxConcurrentLoads = 8;

export async function listSchemas(options: InformationRequest): Promise<readonly SchemaItem[]> {
  const { name } = options.catalogs.get(options.catalog);
  const schemas = (await namespacesOf(options)).map(schemaName);
  return [...schemas, informationSchema].map((schema) => ({ catalog: name, schema }));
}

/** `ownViews`: the names of the views of information_schema, which are in it themselves. */
export async function listRelationItems(
  options: InformationRequest,
  ownViews: readonly string[],
): Promise<readonly RelationItem[]> {
  const { name, catalog } = options.catalogs.get(options.catalog);
  const { signal } = options;
  const { filters } = options.request;
  const found: RelationItem[] = [];
  for (const namespace of await namespacesOf(options)) {
    const schema = schemaName(namespace);
    const isWanted = (table: string) =>
      mightMatch(filters, { table_catalog: name, table_schema: schema, table_name: table });
    if (!mightMatch(filters, { table_catalog: name, table_schema: schema })) continue;
    for (const listed of await relationsOf(catalog, namespace, { signal, isWanted }))
      found.push({ catalog: name, schema, table: listed.identifier.name, kind: listed.kind, listed });
  }
  for (const table of ownViews)
    found.push({ catalog: name, schema: informationSchema, table, kind: 'view', listed: undefined });
  return found;
}

function namespacesOf({ catalogs, catalog, signal }: InformationRequest): Promise<readonly Namespace[]> {
  return catalogs.get(catalog).catalog.listNamespaces([], { signal });
}

/** A schema that was dropped since it was listed has no relations. */
async function relationsOf(
  catalog: ReadableCatalog,
  namespace: Namespace,
  options: ListingOptions,
): Promise<readonly ListedRelation[]> {
  try {
    return await catalog.listRelations(namespace, options);
  } catch (error) {
    if (error instanceof QueryError && error.code === 'SCHEMA_NOT_FOUND') return [];
    throw error;
  }
}

/**
 * Loads something of each item. One that is damaged, or was dropped meanwhile, must not hide the others: it answers
 * undefined.
 */
export async function loadEach<Item, T>(
  items: readonly Item[],
  signal: AbortSignal,
  load: (item: Item) => Promise<T>,
): Promise<readonly (T | undefined)[]> {
  return await mapConcurrently(items, { maxConcurrent: maxConcurrentLoads, signal }, async (item) => {
    try {
      return await load(item);
    } catch (error) {
      if (error instanceof QueryError && error.code !== 'CANCELLED' && error.code !== 'QUERY_TIMEOUT')
        return undefined;
      throw error;
    }
  });
}
