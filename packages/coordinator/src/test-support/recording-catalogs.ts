import { QueryError } from '@svc/base';
import { type CatalogCaller, type CatalogClient, type CatalogFactory, createFileStore } from '@svc/lake';
import type { Session } from '../identity/session.js';
import { emptyMetadata } from './empty-metadata.js';
import { fakeSession } from './fake-session.js';

export interface RecordingCatalogs extends CatalogFactory {
  /** What was asked of all clients, with the user and the token that came along: `ada:token loadTable s.t`. */
  readonly calls: string[];
  readonly callers: readonly CatalogCaller[];
  readonly closed: readonly CatalogCaller[];
  /** Of schema `s`, which anybody may change: names and metadata locations of tables, and names of views. */
  readonly tables: Map<string, string>;
  readonly views: Set<string>;
  /** Before each answer. */
  pause: () => Promise<void>;
}

/** A catalog of one schema that writes down who asks it what. */
export function recordingCatalogs(): RecordingCatalogs {
  const calls: string[] = [];
  const callers: CatalogCaller[] = [];
  const closed: CatalogCaller[] = [];
  const tables = new Map([['t', '/t/v1']]);
  const views = new Set(['v']);
  const catalogs: RecordingCatalogs = {
    kind: 'recording',
    calls,
    callers,
    closed,
    tables,
    views,
    pause: async () => undefined,
    open(caller) {
      callers.push(caller);
      return clientOf(catalogs, caller, () => closed.push(caller));
    },
  };
  return catalogs;
}

function clientOf(catalogs: RecordingCatalogs, caller: CatalogCaller, close: () => void): CatalogClient {
  const { calls, tables, views } = catalogs;
  const called = async (what: string) => {
    calls.push(`${caller.user}:${caller.accessToken() ?? '-'} ${what}`);
    await catalogs.pause();
  };
  const missing = (name: string) => new QueryError('TABLE_NOT_FOUND', `There is no "${name}".`);
  const unused = () => {
    throw new TypeError('Nobody should have called this.');
  };
  const loaded = (name: string, metadataLocation: string) => ({
    identifier: { namespace: ['s'], name },
    metadata: emptyMetadata,
    metadataLocation,
    store: createFileStore(),
  });
  return {
    kind: 'recording',
    close,
    async listNamespaces() {
      await called('listNamespaces');
      return [['s']];
    },
    async namespaceExists([name]) {
      await called(`namespaceExists ${name}`);
      return name === 's';
    },
    async listRelations(namespace) {
      await called('listRelations');
      return [...tables.keys()].map((name) => ({ identifier: { namespace, name }, kind: 'table' }));
    },
    async loadTable({ name }) {
      await called(`loadTable ${name}`);
      const location = tables.get(name);
      if (location === undefined) throw missing(name);
      return loaded(name, location);
    },
    async loadView({ namespace, name }) {
      await called(`loadView ${name}`);
      if (!views.has(name)) throw missing(name);
      const [schema = { schemaId: 0, fields: [], identifierFieldIds: [] }] = emptyMetadata.schemas;
      const currentVersion = {
        ...{ versionId: 1, schemaId: 0, timestampMs: 0, summary: new Map(), representations: [] },
        ...{ defaultCatalog: undefined, defaultNamespace: [] },
      };
      const metadata = {
        viewUuid: 'v',
        location: '/v',
        currentVersion,
        schema,
        properties: new Map(),
        json: {},
      };
      return { identifier: { namespace, name }, metadata, metadataLocation: '/v/v1' };
    },
    async commitTable({ name }) {
      await called(`commitTable ${name}`);
      if (tables.get(name) === 'conflict')
        throw new QueryError('COMMIT_CONFLICT', 'Others have changed it meanwhile.');
      tables.set(name, `${tables.get(name)}'`);
      return loaded(name, tables.get(name) ?? '');
    },
    async dropTable({ name }) {
      await called(`dropTable ${name}`);
      tables.delete(name);
    },
    async createNamespace() {
      await called('createNamespace');
    },
    async stageTable(identifier) {
      return {
        ...loaded(identifier.name, '/staged'),
        ...{ identifier, metadataLocation: undefined, creation: { requirements: [], updates: [] } },
      };
    },
    async discardTable({ identifier }) {
      calls.push(`discardTable ${identifier.name}`);
    },
    inTurn: (_identifier, body) => body(),
    dropNamespace: unused,
    createTable: unused,
    createView: unused,
    replaceView: unused,
    dropView: unused,
    listTables: unused,
    listViews: unused,
  };
}

/** A session of a user with a token, or without any. */
export function sessionOf(username: string, accessToken?: string): Session & { end(): void } {
  const controller = new AbortController();
  return {
    ...fakeSession(),
    identity: { username, roles: [] },
    tokens: accessToken === undefined ? undefined : tokensOf(accessToken),
    closed: controller.signal,
    end: () => controller.abort(new QueryError('SESSION_EXPIRED', 'session expired, sign in again')),
  };
}

export function tokensOf(accessToken: string): Exclude<Session['tokens'], undefined> {
  return { accessToken, refreshToken: undefined, expiresAtMs: 0 };
}
