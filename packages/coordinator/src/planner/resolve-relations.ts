/**
 * The tables of a statement, and the views through which it reads them. A view is somebody's SQL of another day: it is
 * gated and planned like the user's own, its names mean what they meant where it was made, and its tables are loaded as
 * the user who asks now.
 */
import { QueryError } from '@svc/base';
import { engineColumns } from '@svc/fragment-fn';
import { type LoadedTable, type LoadedView, mapConcurrently, schemaById } from '@svc/lake';
import {
  deserializeQuery,
  hasSample,
  isLeakproofQuery,
  rewriteTables,
  type TableReference,
  type TableTarget,
  tableKey,
  writeSerializedSql,
} from '@svc/sql';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import { loadingOnce } from '../catalogs/loading-once.js';
import type { SessionSettings } from '../identity/session-settings.js';
import { engineSchemaName, isInformationSchema } from '../information-schema/names.js';
import { meanOtherColumns } from '../policy/column-names.js';
import { notApplicable } from '../policy/compile-expressions.js';
import { permittedCatalogs } from '../policy/permitted-catalogs.js';
import { denied, targetOf } from '../policy/policy-enforcer.js';
import { hiddenName, type ResolvedView, restrictedName, wrappedSql } from '../policy/policy-view.js';
import { viewSecurityProperty } from '../policy/view-security.js';
import type { AnalyzedQuery } from './analyze.js';
import {
  type AppliedPolicies,
  type GuardOptions,
  guardingView,
  hiddenTable,
  mappingTable,
  noPolicies,
  StatementPolicies,
  type Target,
} from './guard-relations.js';
import { placeOf, schemaName, type TablePlace } from './names.js';
import { ownerOf, type PlannerDependencies } from './planner-dependencies.js';
import { readView } from './read-view.js';
import {
  addMetadataTable,
  addResolved,
  type IcebergSource,
  type ResolvedTable,
  type ResolvedTables,
  relationKey,
  resolveOne,
  type TableRequest,
} from './resolve-tables.js';
import { pinReference, type TimeTravelOptions } from './time-travel.js';

export interface ResolvedRelations {
  readonly tables: readonly ResolvedTable[];
  /** Each one behind those that it reads. */
  readonly views: readonly ResolvedView[];
  readonly policies: AppliedPolicies;
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
  /** The same, as far as the user may read. */
  readonly permitted: CatalogDirectory;
  readonly policies: StatementPolicies | undefined;
  readonly tables: ResolvedTables;
  readonly views: Map<string, ResolvedView>;
  /** By the names where tables are hidden: of those that their catalogs restrict, what is read where our policies are not asked. */
  readonly restricted: Map<string, HiddenPlace>;
  usesStatementValues: boolean;
  /** So many references within views have been named. */
  pinnedCount: number;
}

type HiddenPlace = ReturnType<typeof restrictedName>;

/** Throws what resolving tables throws, NOT_SUPPORTED for a view that cannot be read, by name, and POLICY_CHANGED. */
export async function resolveRelations(
  dependencies: PlannerDependencies,
  { requests, ...options }: RelationsToResolve,
): Promise<ResolvedRelations> {
  const { session } = options;
  const catalogs = loadingOnce(dependencies.catalogsOf(session));
  const enforcer = dependencies.policies?.enforcer;
  const policies = enforcer && new StatementPolicies(enforcer, session);
  const state: Resolving = {
    ...options,
    dependencies,
    catalogs,
    permitted: enforcer === undefined ? catalogs : permittedCatalogs(catalogs, enforcer, session),
    policies,
    tables: new Map(),
    views: new Map(),
    restricted: new Map(),
    usesStatementValues: false,
    pinnedCount: 0,
  };
  await loadBeside(state, requests, session.settings);
  for (const request of requests)
    await resolve(state, request, { settings: session.settings, path: [], access: 'asked' });
  policies?.throwIfChanged(session);
  return {
    tables: [...state.tables.values()],
    views: [...state.views.values()],
    usesStatementValues: state.usesStatementValues,
    policies: policies?.applied ?? noPolicies,
  };
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

/**
 * How something is named: by who asks, whose policies hold for it; or behind a policy or a view of its definer, where what
 * there is lies hidden and is as whole as its catalog lets this user have it.
 */
type Access = 'asked' | 'behind';

interface Naming {
  readonly settings: SessionSettings;
  /** The views that are being resolved, from the outermost. */
  readonly path: readonly string[];
  readonly access: Access;
  /** Behind a view of its definer: the outermost, which is what the user knows of. */
  readonly door?: Target;
}

async function resolve(state: Resolving, request: TableRequest, naming: Naming): Promise<void> {
  const { dependencies, signal } = state;
  const { settings, access } = naming;
  const place = placeOf(request.name, settings, state.catalogs);
  const isInformation = isInformationSchema(place.identifier.namespace);
  if (isInformation) state.policies?.hangsOnAll();
  // Behind a definer's view too, information_schema tells what who asks may be told: one name means one thing in a statement.
  const catalogs = access === 'asked' || isInformation ? state.permitted : state.catalogs;
  const isWhole = (about: LoadedTable): boolean =>
    state.policies?.isWhole(targetOf(place.catalog, about.identifier), about) ??
    about.readRestrictions === undefined;
  try {
    const mayListSnapshots = (about: LoadedTable): boolean =>
      (access === 'asked' || state.policies === undefined) && isWhole(about);
    const table = await resolveOne(request, { settings, catalogs, signal, mayListSnapshots });
    await addTable(state, table, naming);
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== 'TABLE_NOT_FOUND') throw error;
    if (isInformation) throw error;
    const view = await findView(catalogs, place, signal);
    if (view !== undefined) return await addView(state, { request, naming, place, view });
    if (access === 'behind') throw error;
    const { metadataFiles } = dependencies;
    const { catalog } = place;
    const permit = (about: LoadedTable): void => {
      const target = targetOf(catalog, about.identifier);
      if (!isWhole(about)) throw denied({ ...target, table: place.identifier.name }, 'SELECT');
    };
    if (
      !(await addMetadataTable(state.tables, request, { settings, catalogs, signal, metadataFiles, permit }))
    )
      throw error;
  }
}

async function addTable(state: Resolving, table: ResolvedTable, naming: Naming): Promise<void> {
  const { policies } = state;
  const { source } = table;
  if (source.kind !== 'iceberg') {
    addResolved(state.tables, table);
    return;
  }
  const target = targetOf(table.catalog, source.loaded.identifier);
  if (policies === undefined) {
    // Nothing here could do what the catalog demands.
    if (source.loaded.readRestrictions !== undefined)
      throw denied(target, 'SELECT', 'the catalog restricts reading, and policies are off');
    addResolved(state.tables, table);
    return;
  }
  if (naming.access === 'behind') {
    await addBehind(state, { table, source, target, policies, door: naming.door ?? target });
    return;
  }
  const restriction = policies.restrictionOf(target, source);
  if (restriction === undefined) {
    addResolved(state.tables, table);
    return;
  }
  refuseOtherColumns(source, target);
  policies.isGuarded = true;
  const hidden = hiddenTable(table);
  addResolved(state.tables, hidden);
  await addGuard(state, { restriction, target, viewName: table.table, columns: hidden.columns });
}

interface TableBehind {
  readonly table: ResolvedTable;
  readonly source: IcebergSource;
  readonly target: Target;
  readonly policies: StatementPolicies;
  readonly door: Target;
}

/** No policy of ours holds for it; what its catalog demands for this user is not the view's definer's to lift. */
async function addBehind(
  state: Resolving,
  { table, source, target, policies, door }: TableBehind,
): Promise<void> {
  policies.isGuarded = true;
  const hidden = hiddenTable(table);
  addResolved(state.tables, hidden);
  const restriction = policies.demandOf(door, source);
  if (restriction === undefined) return;
  refuseOtherColumns(source, door);
  const placed = restrictedName(table);
  state.restricted.set(relationKey(hidden.catalog, hidden.schema, hidden.table), placed);
  const { columns } = hidden;
  const shown = printed(door);
  await addGuard(state, { restriction, target, viewName: table.table, columns, placed, shown });
}

function refuseOtherColumns({ loaded, fields }: IcebergSource, asked: Target): void {
  if (meanOtherColumns(schemaById(loaded.metadata, undefined).fields, fields))
    throw notApplicable(
      new QueryError('NOT_SUPPORTED', 'The columns had each other’s names at that point.'),
      printed(asked),
    );
}

function printed({ catalog, schema, table }: Target): string {
  return `${catalog}.${schema}.${table}`;
}

/** Makes the view over what lies hidden, under the relation's own name or where it is `placed`. */
async function addGuard(
  state: Resolving,
  guarded: Pick<GuardOptions, 'restriction' | 'target' | 'viewName' | 'columns' | 'placed' | 'shown'>,
): Promise<void> {
  const { dependencies, session, signal, policies } = state;
  const { target, viewName } = guarded;
  const { catalog, schema, table } = guarded.placed ?? { ...target, table: viewName };
  const key = relationKey(catalog, schema, table);
  if (state.views.has(key) || policies === undefined || dependencies.policies === undefined) return;
  const { view, usesStatementValues } = await guardingView({
    ...guarded,
    texts: dependencies.policies.texts,
    identity: policies.identity,
    owner: ownerOf(session, dependencies.policies),
    signal,
    mapping: (reference) => addMapping(state, reference, target),
  });
  state.usesStatementValues ||= usesStatementValues;
  state.views.set(key, view);
}

async function addMapping(state: Resolving, reference: TableReference, target: Target): Promise<TableTarget> {
  const table = await mappingTable(reference, target, state);
  addResolved(state.tables, hiddenTable(table));
  return hiddenName(table);
}

async function findView(
  catalogs: CatalogDirectory,
  place: TablePlace,
  signal: AbortSignal,
): Promise<LoadedView | undefined> {
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
  readonly naming: Naming;
  readonly place: TablePlace;
  readonly view: LoadedView;
}

async function addView(state: Resolving, { request, naming, place, view }: ViewToAdd): Promise<void> {
  const { settings, path, access } = naming;
  const { catalog, identifier } = place;
  const schema = schemaName(identifier.namespace);
  const asked = { catalog, schema, table: request.name.table };
  const name = `${catalog}.${schema}.${view.identifier.name}`;
  if (request.pin.kind !== 'current')
    throw new QueryError('NOT_SUPPORTED', `${name} is a view: only tables have a history to read.`);
  const target = targetOf(catalog, view.identifier);
  const restriction = access === 'asked' ? state.policies?.restrictionOf(target) : undefined;
  const placed = access === 'behind' || restriction !== undefined ? hiddenName(asked) : asked;
  const key = relationKey(placed.catalog, placed.schema, placed.table);
  if (!state.views.has(key)) {
    if (path.includes(key))
      throw new QueryError(
        'BINDING_ERROR',
        `The view ${name} reads itself, through ${path.length - 1} others.`,
      );
    if (path.length >= maxDepth)
      throw new QueryError('NOT_SUPPORTED', `The view ${name} is the ${maxDepth + 1}th inside of another.`);
    state.views.set(
      key,
      await viewOf(state, {
        ...{ view, name, catalog, settings, placed, path: [...path, key] },
        door: naming.door ?? target,
      }),
    );
  }
  if (restriction === undefined || state.policies === undefined) return;
  state.policies.isGuarded = true;
  const columns = engineColumns(view.metadata.schema.fields);
  await addGuard(state, { restriction, target, viewName: asked.table, columns });
}

/** Adds what the view reads, and answers it. */
async function viewOf(
  state: Resolving,
  {
    view,
    name,
    catalog,
    settings,
    placed,
    path,
    door,
  }: {
    readonly view: LoadedView;
    /** For messages. */
    readonly name: string;
    readonly catalog: string;
    readonly settings: SessionSettings;
    readonly placed: Pick<ResolvedView, 'catalog' | 'schema' | 'table'>;
    readonly path: readonly string[];
    /** What the user knows of, if this is a view of its definer. */
    readonly door: Target;
  },
): Promise<ResolvedView> {
  const { policies } = state;
  const { currentVersion } = view.metadata;
  const { defaultCatalog, defaultNamespace } = currentVersion;
  const own: SessionSettings = {
    ...settings,
    catalog: defaultCatalog ?? catalog,
    schema: defaultNamespace.length === 0 ? undefined : schemaName(defaultNamespace),
  };
  const { analyzer } = state.dependencies;
  const owner = ownerOf(state.session, state.dependencies.policies);
  const { query, answer } = await readView({ analyzer, view, name, owner, signal: state.signal });
  refuseInView(query, name);
  const isDefiner = policies !== undefined && isOfDefiner(view);
  if (isDefiner) policies.isGuarded = true;
  if (policies !== undefined && hasSample(query.parsed)) policies.hasSample = true;
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
  const access = isDefiner ? 'behind' : 'asked';
  const naming: Naming = { settings: own, path, access, ...(isDefiner && { door }) };
  for (const request of requests) await resolve(state, request, naming);
  state.usesStatementValues ||= query.gated.usesStatementValues;
  const sql = answer(await qualifiedSql(state, query, own, { viewNames, access }));
  return {
    ...placed,
    columns: view.metadata.schema.fields.map((field) => field.name),
    // What the view itself leaves out is hidden too where its reader may not see the tables.
    ...(isDefiner
      ? { sql: wrappedSql(sql, engineColumns(view.metadata.schema.fields)), guard: { isPolicy: false } }
      : { sql }),
    isLeakproof: isLeakproofQuery(query.parsed, { isView: true }),
  };
}

/** A view of its definer: what it reads is not asked of its reader's policies, as its reader's only door to it. */
function isOfDefiner({ metadata }: LoadedView): boolean {
  return metadata.properties.get(viewSecurityProperty)?.toLowerCase() === 'definer';
}

function refuseInView({ gated }: AnalyzedQuery, name: string): void {
  if (gated.parameters.length > 0)
    throw new QueryError('NOT_SUPPORTED', `The view ${name} has parameters, which nobody can give a view.`);
}

/** The view's SQL with every table by its full name: whoever reads it has other defaults. */
async function qualifiedSql(
  { dependencies, session, catalogs, restricted, signal }: Resolving,
  { parsed }: AnalyzedQuery,
  settings: SessionSettings,
  { viewNames, access }: { readonly viewNames: ReadonlyMap<string, string>; readonly access: Access },
): Promise<string> {
  const query = rewriteTables(parsed, (reference) => {
    const { catalog, identifier } = placeOf(reference, settings, catalogs);
    const schema = engineSchemaName(schemaName(identifier.namespace));
    const name = { catalog, schema, table: viewNames.get(tableKey(reference)) ?? identifier.name };
    if (access === 'asked' || isInformationSchema(identifier.namespace)) return name;
    const hidden = hiddenName(name);
    return restricted.get(relationKey(hidden.catalog, hidden.schema, hidden.table)) ?? hidden;
  });
  const lease = await dependencies.pool.lease({
    owner: ownerOf(session, dependencies.policies),
    lane: 'small',
    signal,
  });
  try {
    return await lease.queryText(deserializeQuery, [writeSerializedSql(parsed, query)], signal);
  } finally {
    await lease.release();
  }
}
