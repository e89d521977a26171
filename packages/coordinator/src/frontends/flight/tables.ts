import { QueryError } from '@svc/base';
import type { TableFilter, TableRow } from '@svc/flight';
import { compileLikePattern } from '@svc/flight/arrow';
import { type ListedRelation, mapConcurrently, schemaById } from '@svc/lake';
import type { CatalogDirectory, ReadableCatalog } from '../../catalogs/catalog-directory.js';
import { schemaName } from '../../planner/names.js';
import { tableArrowSchema } from '../../results/table-arrow-schema.js';

/** Tables whose schemas are loaded before the first of them is answered, and at one time. */
const loadsAhead = 256;
const maxConcurrentLoads = 8;

/**
 * The rows of GetTables, in order of catalog, schema and table. Metadata is loaded only when schemas are asked for, which
 * are then those of a session of `timeZone`; a table that cannot be loaded is left out of nothing but its columns.
 */
export async function* listTables(
  catalogs: CatalogDirectory,
  filter: TableFilter,
  { timeZone, signal }: { readonly timeZone: string; readonly signal: AbortSignal },
): AsyncGenerator<TableRow> {
  // The ODBC driver writes "no types" as one type without a name.
  const asked = filter.tableTypes.filter((type) => type !== '');
  const kinds = ['TABLE', 'VIEW'].filter((type) => asked.length === 0 || asked.includes(type));
  if (kinds.length === 0) return;
  const schemaMatches = compileLikePattern(filter.schemaPattern);
  const tableMatches = compileLikePattern(filter.tablePattern);
  for (const name of [...catalogs.names].sort()) {
    if (filter.catalog !== undefined && filter.catalog !== name) continue;
    const { catalog } = catalogs.get(name);
    const namespaces = await catalog.listNamespaces([], { signal });
    const schemas = namespaces.map((namespace) => ({ namespace, schema: schemaName(namespace) }));
    for (const { namespace, schema } of schemas.sort((a, b) => compare(a.schema, b.schema))) {
      if (!schemaMatches(schema)) continue;
      const relations = await catalog.listRelations(namespace, { signal, isWanted: tableMatches });
      const wanted = relations
        .filter(({ kind }) => kinds.includes(typeOf(kind)))
        .sort((a, b) => compare(a.identifier.name, b.identifier.name));
      for (let start = 0; start < wanted.length; start += loadsAhead)
        yield* await mapConcurrently(
          wanted.slice(start, start + loadsAhead),
          { maxConcurrent: maxConcurrentLoads, signal },
          async ({ identifier, kind }): Promise<TableRow> => ({
            catalog: name,
            schema,
            table: identifier.name,
            type: typeOf(kind),
            ...(filter.includeSchema && {
              arrowSchema: await schemaOf(catalog, { identifier, kind }, timeZone, signal),
            }),
          }),
        );
    }
  }
}

function typeOf(kind: ListedRelation['kind']): 'TABLE' | 'VIEW' {
  return kind === 'table' ? 'TABLE' : 'VIEW';
}

async function schemaOf(
  catalog: ReadableCatalog,
  { identifier, kind }: ListedRelation,
  timeZone: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  try {
    if (kind === 'view') {
      const { metadata } = await catalog.loadView(identifier, { signal });
      return tableArrowSchema(metadata.schema.fields, timeZone);
    }
    const { metadata } = await catalog.loadTable(identifier, { signal });
    return tableArrowSchema(schemaById(metadata, undefined).fields, timeZone);
  } catch (error) {
    // One damaged table must not hide the others from a client that lists them all.
    if (error instanceof QueryError && error.code !== 'CANCELLED') return tableArrowSchema([], timeZone);
    throw error;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
