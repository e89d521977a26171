import { QueryError } from '@svc/base';
import { printCommit } from '../../iceberg/changes/change-json.js';
import type { TableCommit } from '../../iceberg/changes/table-change.js';
import type { JsonFields } from '../../iceberg/spec/json-fields.js';
import { tableMetadataOf } from '../../iceberg/spec/parse-table-metadata.js';
import { printPartitionSpec } from '../../iceberg/spec/partition-spec.js';
import { printSchema } from '../../iceberg/spec/schema-json.js';
import type { TableMetadata } from '../../iceberg/spec/table-metadata.js';
import {
  createTableUpdates,
  definedFormatVersion,
  newTable,
  type TableDefinition,
} from '../../iceberg/write/create-table.js';
import type { LoadedTable, TableIdentifier } from '../catalog.js';
import { quotedPath } from '../name-errors.js';
import type { StagedTable } from '../writable-catalog.js';
import type { KeptLoad, OwnLoads } from './kept-loads.js';
import { parseReadRestrictions } from './parse-read-restrictions.js';
import { catalogError, generalError, problemOf } from './rest-errors.js';
import { bySpelling, schemaNotFound } from './rest-names.js';
import type { RestAnswer } from './rest-service.js';
import { answerFields, type RestSession } from './rest-session.js';
import { delegation, type TableStores } from './table-stores.js';
import { UnknownOutcome } from './unknown-outcome.js';

export interface RestTables {
  readonly session: RestSession;
  readonly stores: TableStores;
  /** What this user loaded before. */
  readonly loads: OwnLoads;
}

/** Longer ones are not sent back. */
const maxEtagLength = 1024;

/** Answers the table under its own spelling. Throws TABLE_NOT_FOUND, SCHEMA_NOT_FOUND naming near names. */
export async function loadTable(
  tables: RestTables,
  identifier: TableIdentifier,
  signal: AbortSignal | undefined,
): Promise<LoadedTable> {
  const what = `table ${quotedPath(identifier.namespace, identifier.name)}`;
  let kept: KeptLoad | undefined;
  const found = await bySpelling(tables.session, 'tables', identifier, {
    signal,
    ask: async (each) => {
      kept = keptLoad(tables, each);
      return await readTable(tables, each, { what, etag: kept?.etag, signal });
    },
  });
  if (found.answer.status === 304 && kept !== undefined) return kept.table;
  tables.loads.drop(found.identifier);
  if (found.answer.status !== 200) throw generalError(found.answer, what);
  const { table, freshUntilMs } = await openedTable(tables, found.identifier, found.answer, what);
  const { etag } = found.answer.headers;
  if (etag !== undefined && etag.length <= maxEtagLength)
    tables.loads.keep(found.identifier, { etag, table, freshUntilMs });
  return table;
}

function keptLoad({ loads }: RestTables, identifier: TableIdentifier): KeptLoad | undefined {
  const kept = loads.get(identifier);
  return kept !== undefined && Date.now() < kept.freshUntilMs ? kept : undefined;
}

function readTable(
  { session }: RestTables,
  { namespace, name }: TableIdentifier,
  {
    what,
    etag,
    signal,
  }: {
    readonly what: string;
    readonly etag: string | undefined;
    readonly signal: AbortSignal | undefined;
  },
): Promise<RestAnswer> {
  return session.read((routes) => routes.table(namespace, name), {
    query: { snapshots: 'all' },
    headers: { ...delegation, ...(etag !== undefined && { 'if-none-match': etag }) },
    what,
    signal,
  });
}

/** The answer to a change says what the table is now, but not all that a load says: it has no credentials. */
async function openedTable(
  { stores }: RestTables,
  identifier: TableIdentifier,
  answer: RestAnswer,
  what: string,
): Promise<Pick<KeptLoad, 'table' | 'freshUntilMs'>> {
  const fields = answerFields(answer, what);
  const metadataLocation = fields.optionalString('metadata-location');
  if (metadataLocation === undefined)
    throw catalogError(`answers no "metadata-location" for ${what}`, { retryable: false });
  const metadata = metadataOf(fields, metadataLocation, what);
  const readRestrictions = parseReadRestrictions(fields.get('read-restrictions'), what);
  const { store, freshUntilMs } = await stores.open(identifier, fields, metadata);
  const table = { identifier, metadata, metadataLocation, store, readRestrictions };
  return { table, freshUntilMs };
}

function metadataOf(fields: JsonFields, source: string, what: string): TableMetadata {
  const metadata = fields.get('metadata');
  if (metadata === undefined) throw catalogError(`answers no "metadata" for ${what}`, { retryable: false });
  return tableMetadataOf(metadata, source);
}

/** `isStaged`: the table gets a place and credentials, and exists only once it is committed. */
async function postTable(
  tables: RestTables,
  { namespace, name }: TableIdentifier,
  definition: TableDefinition,
  { isStaged, signal }: { readonly isStaged: boolean; readonly signal: AbortSignal | undefined },
): Promise<RestAnswer> {
  // The service chooses identity and place; ours only complete the definition that is checked here.
  const table = newTable(definition, { tableUuid: '', location: '' });
  const what = `table ${quotedPath(namespace, name)}`;
  const formatVersion = definedFormatVersion(definition);
  const answer = await changed(
    tables.session.change((routes) => routes.tables(namespace), {
      headers: delegation,
      body: {
        name,
        schema: printSchema(table.schema),
        'partition-spec': printPartitionSpec(table.partitionSpec),
        'stage-create': isStaged,
        properties: {
          ...table.properties,
          ...(formatVersion !== undefined && { 'format-version': String(formatVersion) }),
        },
      },
      what: `making ${what}`,
      signal,
    }),
    what,
  );
  if (answer.status === 200) return answer;
  if (answer.status === 404) throw await schemaNotFound(tables.session, namespace, signal);
  if (answer.status === 409) throw tableExists({ namespace, name });
  throw generalError(answer, `making ${what}`);
}

export async function createTable(
  tables: RestTables,
  identifier: TableIdentifier,
  definition: TableDefinition,
  signal: AbortSignal | undefined,
): Promise<LoadedTable> {
  const answer = await postTable(tables, identifier, definition, { isStaged: false, signal });
  const what = `table ${quotedPath(identifier.namespace, identifier.name)}`;
  return (await openedTable(tables, identifier, answer, what)).table;
}

export async function stageTable(
  tables: RestTables,
  identifier: TableIdentifier,
  definition: TableDefinition,
  signal: AbortSignal | undefined,
): Promise<StagedTable> {
  const { namespace, name } = identifier;
  const what = `table ${quotedPath(namespace, name)}`;
  const answer = await postTable(tables, identifier, definition, { isStaged: true, signal });
  const fields = answerFields(answer, what);
  const metadata = metadataOf(fields, `The catalog's answer for ${what}`, what);
  const stageAgain = async (renewal: AbortSignal) =>
    await stagedAnew(tables, { identifier, definition, location: metadata.location }, renewal);
  const { store } = await tables.stores.open(identifier, fields, metadata, stageAgain);
  return {
    identifier,
    metadata,
    metadataLocation: undefined,
    store,
    creation: { requirements: [{ type: 'assert-create' }], updates: creationOf(metadata, what) },
  };
}

interface Staged {
  readonly identifier: TableIdentifier;
  readonly definition: TableDefinition;
  readonly location: string;
}

/**
 * Credentials of a table that does not exist come with staging it, which makes nothing. Where the catalog puts each one
 * somewhere else, they are none for the files that are being written.
 */
async function stagedAnew(
  tables: RestTables,
  { identifier, definition, location }: Staged,
  signal: AbortSignal,
): Promise<JsonFields> {
  const { namespace, name } = identifier;
  const what = `credentials for the new table ${quotedPath(namespace, name)}`;
  const fields = await postTable(tables, identifier, definition, { isStaged: true, signal }).then(
    (answer) => answerFields(answer, what),
    (error: unknown) => {
      if (!(error instanceof QueryError) || error.code !== 'COMMIT_OUTCOME_UNKNOWN') throw error;
      throw catalogError(`did not answer for ${what}`, { cause: error });
    },
  );
  if (fields.object('metadata').string('location') === location) return fields;
  throw new QueryError(
    'STORAGE_ACCESS_DENIED',
    `The credentials for the new table ${quotedPath(namespace, name)} ended while it was being written, and the catalog gives out no others for it.`,
  );
}

/** The staged table as updates of nothing: with the ids and the place that the service chose. */
function creationOf(metadata: TableMetadata, what: string): TableCommit['updates'] {
  const schema = metadata.schemas.find((each) => each.schemaId === metadata.currentSchemaId);
  const partitionSpec = metadata.partitionSpecs.find((each) => each.specId === metadata.defaultSpecId);
  if (schema === undefined || partitionSpec === undefined)
    throw catalogError(`answers a table without its schema or partition spec for ${what}`, {
      retryable: false,
    });
  const { tableUuid, location, formatVersion, lastColumnId, properties } = metadata;
  const place = { tableUuid, location, formatVersion, lastColumnId };
  return createTableUpdates({ ...place, schema, partitionSpec, properties: Object.fromEntries(properties) });
}

/** See WritableCatalog: requirements and updates are applied at once, by the service. */
export async function commitTable(
  tables: RestTables,
  identifier: TableIdentifier,
  commit: TableCommit,
): Promise<LoadedTable> {
  const { namespace, name } = identifier;
  const what = `table ${quotedPath(namespace, name)}`;
  const isCreation = commit.requirements.some((each) => each.type === 'assert-create');
  const answer = await changed(
    tables.session.change((routes) => routes.table(namespace, name), {
      headers: delegation,
      body: { identifier: { namespace, name }, ...printCommit(commit) },
      what: `changing ${what}`,
    }),
    what,
  );
  if (answer.status === 200) return (await openedTable(tables, identifier, answer, what)).table;
  const problem = problemOf(answer);
  if (answer.status === 409 && isCreation) throw tableExists(identifier);
  if (answer.status === 409)
    throw new QueryError(
      'COMMIT_CONFLICT',
      `Another writer changed ${what} first${problem.message === '' ? '.' : `: ${problem.message}`}`,
    );
  if (answer.status === 404 && /namespace/i.test(problem.type))
    throw await schemaNotFound(tables.session, namespace, undefined);
  if (answer.status === 404)
    throw new QueryError('TABLE_NOT_FOUND', `Table ${quotedPath(namespace, name)} does not exist any more.`);
  throw generalError(answer, `changing ${what}`);
}

export async function dropTable(
  { session }: RestTables,
  identifier: TableIdentifier,
  purge: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const what = `dropping table ${quotedPath(identifier.namespace, identifier.name)}`;
  const { answer } = await bySpelling(session, 'tables', identifier, {
    signal,
    ask: ({ namespace, name }) =>
      changed(
        session.change((routes) => routes.table(namespace, name), {
          method: 'DELETE',
          query: { purgeRequested: String(purge) },
          what,
          signal,
        }),
        what,
      ),
  });
  if (answer.status !== 204 && answer.status !== 200) throw generalError(answer, what);
}

/** Of an answer that may or may not have come before the change was made (REST OpenAPI: 500, 502, 504). */
export async function changed(sent: Promise<RestAnswer>, what: string): Promise<RestAnswer> {
  let reason: string;
  let cause: unknown;
  try {
    const answer = await sent;
    if (answer.status < 500 || answer.status === 501 || answer.status === 503) return answer;
    reason = `the catalog answered ${answer.status}`;
  } catch (error) {
    if (!(error instanceof UnknownOutcome)) throw error;
    reason = 'its answer was lost';
    cause = error.error;
  }
  throw new QueryError(
    'COMMIT_OUTCOME_UNKNOWN',
    `It is not known whether the change of ${what} was made: ${reason}. Look at it before sending the statement again.`,
    { cause },
  );
}

function tableExists({ namespace, name }: TableIdentifier): QueryError {
  return new QueryError('ALREADY_EXISTS', `Table ${quotedPath(namespace, name)} exists already.`);
}
