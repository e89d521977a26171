/**
 * The tables of a statement, and the views through which it reads them. A view is somebody's SQL of another day: it is
 * gated and planned like the user's own, its names mean what they meant where it was made, and its tables are loaded as
 * the user who asks now.
 */
import { QueryError } from '@svc/base';
import type { FragmentView } from '@svc/fragment-fn';
import { type LoadedView, mapConcurrently } from '@svc/lake';
import { deserializeQuery, rewriteTables, tableKey, writeSerializedSql } from '@svc/sql';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import { loadingOnce } from '../catalogs/loading-once.js';
import type { SessionSettings } from '../identity/session-settings.js';
import { engineSchemaName, isInformationSchema } from '../information-schema/names.js';
import type { AnalyzedQuery } from './analyze.js';
import { placeOf, schemaName, type TablePlace } from './names.js';
import { ownerOf, type PlannerDependencies } from './planner-dependencies.js';
import { readView } from './read-view.js';
import {
  addMetadataTable,
  addTable,
  type ResolvedTable,
  type ResolvedTables,
  relationKey,
  type TableRequest,
} from './resolve-tables.js';
import { pinReference, type TimeTravelOptions } from './time-travel.js';

export interface ResolvedRelations {
  readonly tables: readonly ResolvedTable[];
  /** Each one behind those that it reads. */
  readonly views: readonly FragmentView[];
  /** Whether a view has now(), current_user or their kin in it. */
  readonly usesStatementValues: boolean;
}

export interface RelationsToResolve extends TimeTravelOptions {
  readonly requests: readonly TableRequest[];
}

const maxDepth = 32;

interface Resolving extends TimeTravelOptions {
  readonly dependencies: PlannerDependencies;
  /** Answers each table as it was when the statement first asked for it. */
  readonly catalogs: CatalogDirectory;
  readonly tables: ResolvedTables;
  readonly views: Map<string, FragmentView>;
  usesStatementValues: boolean;
  /** So many references within views have been named. */
  pinnedCount: number;
}

/** Throws what resolving tables throws, and NOT_SUPPORTED for a view that cannot be read, by name. */
export async function resolveRelations(
  dependencies: PlannerDependencies,
  { requests, ...options }: RelationsToResolve,
): Promise<ResolvedRelations> {
  const { session } = options;
  const state: Resolving = {
    ...options,
    dependencies,
    catalogs: loadingOnce(dependencies.catalogsOf(session)),
    tables: new Map(),
    views: new Map(),
    usesStatementValues: false,
    pinnedCount: 0,
  };
  await loadBeside(state, requests, session.settings);
  for (const request of requests) await resolve(state, request, session.settings, []);
  const { usesStatementValues } = state;
  return { tables: [...state.tables.values()], views: [...state.views.values()], usesStatementValues };
}

/** Of a catalog far away each load takes its time: these do not wait for each other. */
const maxConcurrentLoads = 8;

/** Asks for the tables before they are resolved one by one, which finds their answers, and throws the first failure. */
async function loadBeside(
  { catalogs, signal }: Resolving,
  requests: readonly TableRequest[],
  settings: SessionSettings,
): Promise<void> {
  if (requests.length < 2) return;
  const load = async ({ name }: TableRequest): Promise<void> => {
    try {
      const { catalog, identifier } = placeOf(name, settings, catalogs);
      if (isInformationSchema(identifier.namespace)) return;
      await catalogs.get(catalog).catalog.loadTable(identifier, { signal });
    } catch {
      // It is thrown again when its turn comes, unless the name is a view's.
    }
  };
  await mapConcurrently(requests, { maxConcurrent: maxConcurrentLoads }, load);
}

/** `path`: the views that are being resolved, from the outermost. */
async function resolve(
  state: Resolving,
  request: TableRequest,
  settings: SessionSettings,
  path: readonly string[],
): Promise<void> {
  const { dependencies, catalogs, signal } = state;
  try {
    await addTable(state.tables, request, { settings, catalogs, signal });
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== 'TABLE_NOT_FOUND') throw error;
    const place = placeOf(request.name, settings, catalogs);
    const isInformation = isInformationSchema(place.identifier.namespace);
    if (isInformation) throw error;
    const view = await findView(state, place);
    if (view !== undefined) return await addView(state, { request, settings, place, view, path });
    const { metadataFiles } = dependencies;
    if (!(await addMetadataTable(state.tables, request, { settings, catalogs, signal, metadataFiles })))
      throw error;
  }
}

async function findView({ catalogs, signal }: Resolving, place: TablePlace): Promise<LoadedView | undefined> {
  try {
    const { catalog } = catalogs.get(place.catalog);
    return await catalog.loadView(place.identifier, { signal });
  } catch (error) {
    if (error instanceof QueryError && error.code === 'TABLE_NOT_FOUND') return undefined;
    throw error;
  }
}

interface ViewToAdd {
  readonly request: TableRequest;
  readonly settings: SessionSettings;
  readonly place: TablePlace;
  readonly view: LoadedView;
  readonly path: readonly string[];
}

async function addView(state: Resolving, { request, settings, place, view, path }: ViewToAdd): Promise<void> {
  const { catalog, identifier } = place;
  const schema = schemaName(identifier.namespace);
  const key = relationKey(catalog, schema, request.name.table);
  const name = `${catalog}.${schema}.${view.identifier.name}`;
  if (request.pin.kind !== 'current')
    throw new QueryError('NOT_SUPPORTED', `${name} is a view: only tables have a history to read.`);
  if (state.views.has(key)) return;
  if (path.includes(key))
    throw new QueryError(
      'BINDING_ERROR',
      `The view ${name} reads itself, through ${path.length - 1} others.`,
    );
  if (path.length >= maxDepth)
    throw new QueryError('NOT_SUPPORTED', `The view ${name} is the ${maxDepth + 1}th inside of another.`);
  const { currentVersion } = view.metadata;
  const { defaultCatalog, defaultNamespace } = currentVersion;
  const own: SessionSettings = {
    ...settings,
    catalog: defaultCatalog ?? catalog,
    schema: defaultNamespace.length === 0 ? undefined : schemaName(defaultNamespace),
  };
  const { analyzer } = state.dependencies;
  const owner = ownerOf(state.session);
  const { query, answer } = await readView({ analyzer, view, name, owner, signal: state.signal });
  refuseInView(query, name);
  const { namesRowLineage } = query.gated;
  const viewNames = new Map<string, string>();
  const requests: TableRequest[] = [];
  for (const reference of query.gated.tables) {
    const suffix = `v${state.pinnedCount++}`;
    const request = await pinReference(state.dependencies, reference, suffix, state);
    if (request.viewName !== undefined) viewNames.set(tableKey(reference), request.viewName);
    requests.push({ ...request, namesRowLineage });
  }
  await loadBeside(state, requests, own);
  for (const request of requests) await resolve(state, request, own, [...path, key]);
  state.usesStatementValues ||= query.gated.usesStatementValues;
  state.views.set(key, {
    catalog,
    schema,
    table: request.name.table,
    columns: view.metadata.schema.fields.map((field) => field.name),
    sql: answer(await qualifiedSql(state, query, own, viewNames)),
  });
}

function refuseInView({ gated }: AnalyzedQuery, name: string): void {
  if (gated.parameters.length > 0)
    throw new QueryError('NOT_SUPPORTED', `The view ${name} has parameters, which nobody can give a view.`);
}

/** The view's SQL with every table by its full name: whoever reads it has other defaults. */
async function qualifiedSql(
  { dependencies, session, catalogs, signal }: Resolving,
  { parsed }: AnalyzedQuery,
  settings: SessionSettings,
  viewNames: ReadonlyMap<string, string>,
): Promise<string> {
  const query = rewriteTables(parsed, (reference) => {
    const { catalog, identifier } = placeOf(reference, settings, catalogs);
    const schema = engineSchemaName(schemaName(identifier.namespace));
    return { catalog, schema, table: viewNames.get(tableKey(reference)) ?? identifier.name };
  });
  const lease = await dependencies.pool.lease({ owner: ownerOf(session), lane: 'small', signal });
  try {
    return await lease.queryText(deserializeQuery, [writeSerializedSql(parsed, query)], signal);
  } finally {
    await lease.release();
  }
}
