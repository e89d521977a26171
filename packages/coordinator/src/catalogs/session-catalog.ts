/** A catalog as one session sees it: each call goes to the catalog session of the token that the session has then. */
import { QueryError } from '@svc/base';
import {
  type CatalogOptions,
  type ListedRelation,
  metadataBytes,
  type Namespace,
  quotedPath,
  type TableIdentifier,
  type WritableCatalog,
} from '@svc/lake';
import type { ReadableCatalog } from './catalog-directory.js';
import type { CatalogSession } from './catalog-sessions.js';
import type { Answer, ContextCache, Question } from './context-cache.js';

export interface SessionCatalogOptions {
  readonly name: string;
  readonly kind: string;
  /** Throws SESSION_EXPIRED. */
  readonly current: () => CatalogSession;
  /** What catalogs told users before; without, they are asked each time. */
  readonly contexts: ContextCache | undefined;
}

/** For statements that change nothing: what the user was told within the contexts' lifetime is used again. */
export function catalogToRead({ name, current, contexts }: SessionCatalogOptions): ReadableCatalog {
  return contexts === undefined
    ? reading(async (body) => await current().use(body))
    : readingContexts(name, current, contexts);
}

function readingContexts(
  catalogName: string,
  current: SessionCatalogOptions['current'],
  contexts: ContextCache,
): ReadableCatalog {
  type Asked = Omit<Question, 'catalog' | 'catalogSession'>;
  const question = (asked: Asked, { id }: CatalogSession): Question => ({
    ...asked,
    catalog: catalogName,
    catalogSession: id,
  });
  async function get<T>(
    asked: Asked,
    { signal }: CatalogOptions,
    ask: (catalog: WritableCatalog, options: CatalogOptions) => Promise<Answer<T>>,
  ): Promise<T> {
    const session = current();
    const askSession = (asking: AbortSignal) => session.use((catalog) => ask(catalog, { signal: asking }));
    return await contexts.get(question(asked, session), askSession, signal);
  }
  return {
    listNamespaces: (namespace, call = {}) =>
      get({ kind: 'namespaces', namespace }, call, async (catalog, asking) => {
        const value = await catalog.listNamespaces(namespace, asking);
        return { value, bytes: value.reduce((sum, each) => sum + namespaceBytes(each), 0) };
      }),
    // Only that it exists: what does not is looked for again, since somebody may be making it elsewhere.
    namespaceExists: (namespace, call = {}) =>
      get({ kind: 'namespace', namespace }, call, async (catalog, asking) => {
        const value = await catalog.namespaceExists(namespace, asking);
        return { value, bytes: value ? 0 : undefined };
      }),
    async listRelations(namespace, { isWanted = () => true, ...call } = {}) {
      const all = await get({ kind: 'relations', namespace }, call, async (catalog, asking) => {
        const value = await catalog.listRelations(namespace, asking);
        return { value, bytes: value.reduce((sum, each) => sum + relationBytes(each), 0) };
      });
      return all.filter(({ identifier }) => isWanted(identifier.name));
    },
    async loadTable(identifier, call = {}) {
      // Tables and views share their names: the catalog would say no more.
      if (contexts.has(question({ kind: 'view', ...identifier }, current()))) throw isView(identifier);
      return await get({ kind: 'table', ...identifier }, call, async (catalog, asking) => {
        const value = await catalog.loadTable(identifier, asking);
        return { value, bytes: metadataBytes(value.metadata) };
      });
    },
    loadView: (identifier, call = {}) =>
      get({ kind: 'view', ...identifier }, call, async (catalog, asking) => {
        const value = await catalog.loadView(identifier, asking);
        return { value, bytes: metadataBytes(value.metadata) };
      }),
  };
}

/**
 * For statements that change something: nothing is answered from a context, so that no change begins from what the catalog
 * said some time ago. What is changed is dropped from the contexts of all users when the change has ended, however it has:
 * one that failed has shown that the catalog is not as it was thought to be.
 */
export function catalogToChange({ name, kind, current, contexts }: SessionCatalogOptions): WritableCatalog {
  let last: CatalogSession | undefined;
  const use: CatalogSession['use'] = async (body) => {
    last = current();
    return await last.use(body);
  };
  async function changing<T>(drop: () => void, body: (catalog: WritableCatalog) => Promise<T>): Promise<T> {
    try {
      return await use(body);
    } finally {
      drop();
    }
  }
  const schemaChange = (namespace: Namespace, body: (catalog: WritableCatalog) => Promise<void>) =>
    changing(() => contexts?.dropSchema(name, namespace), body);
  const change = <T>(identifier: TableIdentifier, body: (catalog: WritableCatalog) => Promise<T>) =>
    changing(() => contexts?.dropRelation(name, identifier), body);
  return {
    kind,
    ...reading(use),
    listTables: (namespace, call) => use((catalog) => catalog.listTables(namespace, call)),
    listViews: (namespace, call) => use((catalog) => catalog.listViews(namespace, call)),
    inTurn: (identifier, body, call) => use((catalog) => catalog.inTurn(identifier, body, call)),
    createNamespace: (namespace, call) =>
      schemaChange(namespace, (catalog) => catalog.createNamespace(namespace, call)),
    dropNamespace: (namespace, call) =>
      schemaChange(namespace, (catalog) => catalog.dropNamespace(namespace, call)),
    // Nobody sees a staged table.
    stageTable: (identifier, definition, call) =>
      use((catalog) => catalog.stageTable(identifier, definition, call)),
    // Of a session that has ended meanwhile, too: what it leaves unfinished must go.
    discardTable: (staged) => (last ?? current()).use((catalog) => catalog.discardTable(staged)),
    createTable: (identifier, definition, call) =>
      change(identifier, (catalog) => catalog.createTable(identifier, definition, call)),
    commitTable: (identifier, commit) =>
      change(identifier, (catalog) => catalog.commitTable(identifier, commit)),
    dropTable: (identifier, call) => change(identifier, (catalog) => catalog.dropTable(identifier, call)),
    createView: (identifier, definition, call) =>
      change(identifier, (catalog) => catalog.createView(identifier, definition, call)),
    replaceView: (identifier, definition, call) =>
      change(identifier, (catalog) => catalog.replaceView(identifier, definition, call)),
    dropView: (identifier, call) => change(identifier, (catalog) => catalog.dropView(identifier, call)),
  };
}

/** Asks each time. */
function reading(use: CatalogSession['use']): ReadableCatalog {
  return {
    listNamespaces: (namespace, call) => use((catalog) => catalog.listNamespaces(namespace, call)),
    namespaceExists: (namespace, call) => use((catalog) => catalog.namespaceExists(namespace, call)),
    listRelations: (namespace, call) => use((catalog) => catalog.listRelations(namespace, call)),
    loadTable: (identifier, call) => use((catalog) => catalog.loadTable(identifier, call)),
    loadView: (identifier, call) => use((catalog) => catalog.loadView(identifier, call)),
  };
}

function isView({ namespace, name }: TableIdentifier): QueryError {
  return new QueryError('TABLE_NOT_FOUND', `${quotedPath(namespace, name)} is a view, not a table.`);
}

const objectBytes = 64;

function namespaceBytes(namespace: Namespace): number {
  return namespace.reduce((sum, level) => sum + objectBytes + 2 * level.length, objectBytes);
}

function relationBytes({ identifier }: ListedRelation): number {
  return 2 * objectBytes + 2 * identifier.name.length + namespaceBytes(identifier.namespace);
}
