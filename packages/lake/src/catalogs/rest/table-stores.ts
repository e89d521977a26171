/** From what a catalog's answer says of storage to a store for the table's files. */
import { QueryError } from '@svc/base';
import type { JsonFields } from '../../iceberg/spec/json-fields.js';
import type { TableMetadata } from '../../iceberg/spec/table-metadata.js';
import type { ObjectStore } from '../../storage/object-store.js';
import type { TableIdentifier } from '../catalog.js';
import { quotedPath } from '../name-errors.js';
import type { KnownFiles } from './known-files.js';
import { generalError } from './rest-errors.js';
import { answerFields, type RestSession } from './rest-session.js';
import {
  createVendedStore,
  placeProperties,
  type VendedProperties,
  type VendedStoreOptions,
  vendedUntilMs,
} from './vended-store.js';

export interface TableStore {
  readonly store: ObjectStore;
  /** When the credentials of the answer begin to need renewal, milliseconds since 1970. */
  readonly freshUntilMs: number;
}

export interface TableStores {
  /**
   * `answer`: of a request for this table, by this user. `askAgain` makes such a request where the table cannot be loaded
   * yet; when it can meanwhile, ALREADY_EXISTS.
   */
  open(
    identifier: TableIdentifier,
    answer: JsonFields,
    metadata: Pick<TableMetadata, 'tableUuid' | 'location'>,
    askAgain?: (signal: AbortSignal) => Promise<JsonFields>,
  ): Promise<TableStore>;
}

/** Asks for credentials that are made for this user and this table. */
export const delegation = { 'x-iceberg-access-delegation': 'vended-credentials' } as const;

const credentialsEndpoint = 'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials';

export function createTableStores(
  session: RestSession,
  options: Pick<VendedStoreOptions, 'place' | 'fallback'> & {
    /** Which catalog: its address and warehouse. */
    readonly catalog: string;
    readonly knownFiles: KnownFiles;
  },
): TableStores {
  const { catalog, knownFiles, ...shared } = options;
  return {
    async open(identifier, answer, { tableUuid, location }, askAgain) {
      const { properties } = await session.config();
      const vended = placedBy(properties, vendedIn(answer));
      const store = createVendedStore({
        ...shared,
        tableName: quotedPath(identifier.namespace, identifier.name),
        tableLocation: location,
        scope: JSON.stringify([catalog, tableUuid]),
        vended,
        renew: async (signal) =>
          (askAgain && (await renewedUnmade(() => askAgain(signal)))) ??
          (await renewed(session, identifier, signal)),
      });
      return { store: knownFiles(store, location), freshUntilMs: vendedUntilMs(vended, Date.now()) };
    },
  };
}

/** What the catalog says of storage for all tables: where it is, but no keys, which are of a table and a user. */
function placedBy(
  properties: ReadonlyMap<string, string>,
  vended: readonly VendedProperties[],
): readonly VendedProperties[] {
  const places = [...properties].filter(([name]) => placeProperties.has(name));
  return vended.map((each) => ({ ...each, properties: new Map([...places, ...each.properties]) }));
}

/** `storage-credentials` by prefix, and the table's `config` for everything that none of them is for. */
function vendedIn(answer: JsonFields): readonly VendedProperties[] {
  const shared = answer.stringMap('config');
  const byPrefix = (answer.optionalObjects('storage-credentials') ?? []).map((each) => ({
    prefix: each.string('prefix'),
    properties: new Map([...shared, ...each.stringMap('config')]),
  }));
  return [...byPrefix, { prefix: '', properties: shared }];
}

/** Undefined for a table that has been made meanwhile. */
async function renewedUnmade(
  ask: () => Promise<JsonFields>,
): Promise<readonly VendedProperties[] | undefined> {
  try {
    return vendedIn(await ask());
  } catch (error) {
    if (error instanceof QueryError && error.code === 'ALREADY_EXISTS') return undefined;
    throw error;
  }
}

async function renewed(
  session: RestSession,
  { namespace, name }: TableIdentifier,
  signal: AbortSignal,
): Promise<readonly VendedProperties[]> {
  const what = `credentials for table ${quotedPath(namespace, name)}`;
  const config = await session.config(signal);
  const isOwnEndpoint = config.has(credentialsEndpoint);
  const ask = (query: Readonly<Record<string, string>>) =>
    session.read(
      (routes) => (isOwnEndpoint ? routes.credentials(namespace, name) : routes.table(namespace, name)),
      { query, headers: delegation, what, signal },
    );
  let answer = await ask(isOwnEndpoint ? {} : { snapshots: 'refs' });
  // Servers made of Iceberg's library cannot leave out snapshots that have statistics, as Trino writes them.
  if (answer.status === 400 && !isOwnEndpoint) answer = await ask({ snapshots: 'all' });
  if (answer.status !== 200) throw generalError(answer, what);
  return vendedIn(answerFields(answer, what));
}
