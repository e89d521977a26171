/**
 * An Iceberg REST catalog as one user sees it (spec sections 1.7 and 4.1; of the paths Iceberg's OpenAPI document is the full
 * form). Every request carries the user's own token; tables come with the credentials that the catalog gives this user for
 * them. Names match exactly first, then the only one that differs in case.
 */
import { QueryError } from '@svc/base';
import type { ObjectStore } from '../../storage/object-store.js';
import { createConnections } from '../../storage/remote/connections.js';
import type { CatalogOptions, Namespace, TableIdentifier } from '../catalog.js';
import type { CatalogCaller, CatalogClient, CatalogFactory } from '../catalog-factory.js';
import { quotedPath } from '../name-errors.js';
import type { ListedRelation } from '../writable-catalog.js';
import { KeptLoads } from './kept-loads.js';
import { baseOf } from './rest-config.js';
import { generalError, problemOf } from './rest-errors.js';
import { listIdentifiers, listNamespaces, schemaNotFound } from './rest-names.js';
import { createRestService, type RestService } from './rest-service.js';
import { RestSession } from './rest-session.js';
import { changed, commitTable, createTable, dropTable, loadTable, stageTable } from './rest-tables.js';
import { createView, dropView, listViews, loadView, replaceView } from './rest-views.js';
import { createServiceBreaker } from './service-breaker.js';
import { createTableStores } from './table-stores.js';
import type { VendedStoreOptions } from './vended-store.js';
import { createWriterTurns, type WriterTurns } from './writer-turns.js';

/** What all users of the catalog share. */
export interface RestCatalogPlace {
  /** `catalog.catalog_url`: `/v1/config` is asked below it. */
  readonly url: string;
  readonly warehouse: string | undefined;
  readonly service: RestService;
  readonly turns: WriterTurns;
  /** Headers that say where a request comes from. */
  readonly correlation: () => Readonly<Record<string, string>>;
  /** Where storage is, for tables of which the catalog does not say it. */
  readonly storage: VendedStoreOptions['place'];
  /** Opens files for which the catalog gave out no credentials; undefined: they are refused. */
  readonly staticStore: ObjectStore | undefined;
  readonly loads: KeptLoads;
}

export interface RestCatalogsOptions extends Omit<RestCatalogPlace, 'service' | 'turns' | 'loads'> {
  /** Memory for tables that users loaded, so that the catalog need not send them again; with 0 it always does. */
  readonly maxKeptBytes: number;
}

/** One REST catalog, for whoever asks. */
export function createRestCatalogs({ maxKeptBytes, ...options }: RestCatalogsOptions): CatalogFactory {
  // Of all tables and users: each load of a table opens a store, and its connections would begin anew.
  const connections = createConnections();
  const place = {
    ...options,
    service: createRestService({ breaker: createServiceBreaker(), connections }),
    turns: createWriterTurns(),
    loads: new KeptLoads(maxKeptBytes),
    storage: { ...options.storage, connections },
  };
  return { kind: 'rest', open: (caller) => createRestCatalog(place, caller) };
}

export function createRestCatalog(place: RestCatalogPlace, caller: CatalogCaller): CatalogClient {
  const { service, warehouse, turns, correlation } = place;
  const session = new RestSession({ service, url: baseOf(place.url), warehouse, caller, correlation });
  const stores = createTableStores(session, {
    place: place.storage,
    fallback: place.staticStore,
    catalog: JSON.stringify([place.url, warehouse ?? null]),
  });
  const tables = { session, stores, loads: place.loads.ofUser() };

  const listRelations = async (
    namespace: Namespace,
    options: CatalogOptions & { readonly isWanted?: (name: string) => boolean } = {},
  ): Promise<readonly ListedRelation[]> => {
    const [ofTables, ofViews] = await Promise.all([
      listIdentifiers(session, 'tables', namespace, options.signal),
      listViews(session, namespace, options.signal),
    ]);
    const all = [
      ...ofTables.map((identifier) => ({ identifier, kind: 'table' }) as const),
      ...ofViews.map((identifier) => ({ identifier, kind: 'view' }) as const),
    ];
    // Some services list nothing in a schema that they do not have.
    if (all.length === 0 && !(await namespaceExists(session, namespace, options.signal)))
      throw await schemaNotFound(session, namespace, options.signal);
    const { isWanted = () => true } = options;
    return all
      .filter(({ identifier }) => isWanted(identifier.name))
      .sort((a, b) => (a.identifier.name < b.identifier.name ? -1 : 1));
  };

  return {
    kind: 'rest',
    close: () => tables.loads.clear(),
    listNamespaces: (parent, options) => listNamespaces(session, parent, options?.signal),
    listTables: (namespace, options) => listIdentifiers(session, 'tables', namespace, options?.signal),
    loadTable: (identifier, options) => loadTable(tables, identifier, options?.signal),
    namespaceExists: (namespace, options) => namespaceExists(session, namespace, options?.signal),
    createNamespace: (namespace, options) => createNamespace(session, namespace, options?.signal),
    dropNamespace: (namespace, options) => dropNamespace(session, namespace, options?.signal),
    stageTable: (identifier, definition, options) =>
      stageTable(tables, identifier, definition, options?.signal),
    // The service keeps nothing of a table that was only staged.
    discardTable: async () => undefined,
    createTable: (identifier, definition, options) =>
      createTable(tables, identifier, definition, options?.signal),
    commitTable: (identifier, commit) => commitTable(tables, identifier, commit),
    inTurn: (identifier, body, options) => turns.take(turnKey(place, identifier), body, options?.signal),
    dropTable: (identifier, { purge, signal }) => dropTable(tables, identifier, purge, signal),
    listRelations,
    listViews: (namespace, options) => listViews(session, namespace, options?.signal),
    loadView: (identifier, options) => loadView(session, identifier, options?.signal),
    createView: (identifier, definition, options) =>
      createView(session, identifier, definition, options?.signal),
    replaceView: (identifier, definition, options) =>
      replaceView(session, identifier, definition, options?.signal),
    dropView: (identifier, options) => dropView(session, identifier, options?.signal),
  };
}

function turnKey({ url, warehouse }: RestCatalogPlace, { namespace, name }: TableIdentifier): string {
  return JSON.stringify([url, warehouse ?? null, namespace, name]);
}

async function namespaceExists(
  session: RestSession,
  namespace: Namespace,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (namespace.length === 0) return true;
  const what = `schema ${quotedPath(namespace)}`;
  const answer = await session.read((routes) => routes.namespace(namespace), { what, signal });
  if (answer.status === 404) return false;
  if (answer.status !== 200) throw generalError(answer, what);
  return true;
}

async function createNamespace(
  session: RestSession,
  namespace: Namespace,
  signal: AbortSignal | undefined,
): Promise<void> {
  const what = `schema ${quotedPath(namespace)}`;
  const answer = await changed(
    session.change((routes) => routes.namespaces(), {
      body: { namespace, properties: {} },
      what: `making ${what}`,
      signal,
    }),
    what,
  );
  if (answer.status === 409)
    throw new QueryError('ALREADY_EXISTS', `Schema ${quotedPath(namespace)} exists already.`);
  if (answer.status === 404) throw await schemaNotFound(session, namespace.slice(0, -1), signal);
  if (answer.status !== 200) throw generalError(answer, `making ${what}`);
}

async function dropNamespace(
  session: RestSession,
  namespace: Namespace,
  signal: AbortSignal | undefined,
): Promise<void> {
  const what = `schema ${quotedPath(namespace)}`;
  const answer = await changed(
    session.change((routes) => routes.namespace(namespace), {
      method: 'DELETE',
      what: `dropping ${what}`,
      signal,
    }),
    what,
  );
  if (answer.status === 404) throw await schemaNotFound(session, namespace, signal);
  // Some services say 400 for it; their own word tells it from other faults.
  if (answer.status === 409 || /NotEmpty/i.test(problemOf(answer).type))
    throw new QueryError(
      'SCHEMA_NOT_EMPTY',
      `Schema ${quotedPath(namespace)} is not empty: drop what is in it first.`,
    );
  if (answer.status !== 204 && answer.status !== 200) throw generalError(answer, `dropping ${what}`);
}
