import { randomUUID } from 'node:crypto';
import { QueryError } from '@svc/base';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonNumber,
} from '../../iceberg/spec/lossless-json.js';
import {
  newViewMetadata,
  replaceViewVersion,
  type ViewDefinition,
  viewMetadataOf,
} from '../../iceberg/views/view-metadata.js';
import type { Namespace, TableIdentifier } from '../catalog.js';
import { quotedPath, relationMissing } from '../name-errors.js';
import type { LoadedView } from '../writable-catalog.js';
import { catalogError, generalError } from './rest-errors.js';
import { bySpelling, listIdentifiers, schemaNotFound } from './rest-names.js';
import type { RestAnswer } from './rest-service.js';
import { answerFields, type RestSession } from './rest-session.js';
import { changed } from './rest-tables.js';

/** Means "the one that was added last" (REST OpenAPI, AddViewVersionUpdate, SetCurrentViewVersionUpdate). */
const lastAdded = jsonNumber(-1);

/** Throws TABLE_NOT_FOUND, also where the service knows no views. */
export async function loadView(
  session: RestSession,
  identifier: TableIdentifier,
  signal: AbortSignal | undefined,
): Promise<LoadedView> {
  const { namespace, name } = identifier;
  const what = `view ${quotedPath(namespace, name)}`;
  return await withViews(session, {
    signal,
    without: () => {
      throw relationMissing('view', identifier, []);
    },
    body: async () => {
      const found = await bySpelling(session, 'views', identifier, {
        signal,
        ask: (each) => session.read((routes) => routes.view(each.namespace, each.name), { what, signal }),
      });
      return loadedView(found.identifier, found.answer, what);
    },
  });
}

/** None where the service knows no views. */
export async function listViews(
  session: RestSession,
  namespace: Namespace,
  signal: AbortSignal | undefined,
): Promise<readonly TableIdentifier[]> {
  return await withViews(session, {
    signal,
    without: () => [],
    body: () => listIdentifiers(session, 'views', namespace, signal),
  });
}

/**
 * Services that do not say which endpoints they have may have views. What such a one answers where it has none differs:
 * that nothing is there, that it cannot do this, or that the request is a bad one.
 */
async function withViews<T>(
  session: RestSession,
  {
    signal,
    without,
    body,
  }: {
    readonly signal: AbortSignal | undefined;
    readonly without: () => T;
    readonly body: () => Promise<T>;
  },
): Promise<T> {
  const config = await session.config(signal);
  if (config.has(viewsEndpoint)) return await body();
  if (config.listsEndpoints) return without();
  try {
    return await body();
  } catch (error) {
    const isAbsent =
      error instanceof QueryError &&
      (['SCHEMA_NOT_FOUND', 'NOT_SUPPORTED'].includes(error.code) ||
        (error.code === 'CATALOG_ERROR' && !error.retryable));
    if (!isAbsent) throw error;
    return without();
  }
}

const viewsEndpoint = 'GET /v1/{prefix}/namespaces/{namespace}/views';

function loadedView(identifier: TableIdentifier, answer: RestAnswer, what: string): LoadedView {
  if (answer.status !== 200) throw generalError(answer, what);
  const fields = answerFields(answer, what);
  const metadata = fields.get('metadata');
  const metadataLocation = fields.optionalString('metadata-location');
  if (metadata === undefined || metadataLocation === undefined)
    throw catalogError(`answers no metadata for ${what}`, { retryable: false });
  return { identifier, metadata: viewMetadataOf(metadata, metadataLocation), metadataLocation };
}

export async function createView(
  session: RestSession,
  identifier: TableIdentifier,
  definition: ViewDefinition,
  signal: AbortSignal | undefined,
): Promise<LoadedView> {
  const { namespace, name } = identifier;
  const what = `view ${quotedPath(namespace, name)}`;
  await throwWithoutViews(session, what);
  const { schema, version } = describedBy(definition);
  const answer = await changed(
    session.change((routes) => routes.views(namespace), {
      body: { name, schema, 'view-version': version, properties: definition.properties ?? {} },
      what: `making ${what}`,
      signal,
    }),
    what,
  );
  if (answer.status === 404) throw await schemaNotFound(session, namespace, signal);
  if (answer.status === 409)
    throw new QueryError('ALREADY_EXISTS', `A table or view ${quotedPath(namespace, name)} exists already.`);
  return loadedView(identifier, answer, what);
}

export async function replaceView(
  session: RestSession,
  identifier: TableIdentifier,
  definition: ViewDefinition,
  signal: AbortSignal | undefined,
): Promise<LoadedView> {
  const found = await loadView(session, identifier, signal);
  const { namespace, name } = found.identifier;
  const what = `view ${quotedPath(namespace, name)}`;
  const next = replaceViewVersion(found.metadata, definition, Date.now()).json;
  const version = lastOf(next, 'versions');
  // A schema that the view had before is not added again: the service would not count it as added.
  const isNewSchema = listIn(next, 'schemas').length > listIn(found.metadata.json, 'schemas').length;
  const answer = await changed(
    session.change((routes) => routes.view(namespace, name), {
      body: {
        identifier: { namespace, name },
        requirements: [{ type: 'assert-view-uuid', uuid: found.metadata.viewUuid }],
        updates: [
          ...(isNewSchema ? [{ action: 'add-schema', schema: lastOf(next, 'schemas') }] : []),
          {
            action: 'add-view-version',
            'view-version': { ...version, ...(isNewSchema && { 'schema-id': lastAdded }) },
          },
          { action: 'set-current-view-version', 'view-version-id': lastAdded },
          ...(definition.properties === undefined
            ? []
            : [{ action: 'set-properties', updates: definition.properties }]),
        ],
      },
      what: `changing ${what}`,
      signal,
    }),
    what,
  );
  if (answer.status === 409) throw new QueryError('COMMIT_CONFLICT', `Another writer changed ${what} first.`);
  if (answer.status === 404)
    throw new QueryError('TABLE_NOT_FOUND', `View ${quotedPath(namespace, name)} does not exist any more.`);
  return loadedView(found.identifier, answer, what);
}

export async function dropView(
  session: RestSession,
  identifier: TableIdentifier,
  signal: AbortSignal | undefined,
): Promise<void> {
  const what = `dropping view ${quotedPath(identifier.namespace, identifier.name)}`;
  await throwWithoutViews(session, what);
  const { answer } = await bySpelling(session, 'views', identifier, {
    signal,
    ask: ({ namespace, name }) =>
      changed(
        session.change((routes) => routes.view(namespace, name), { method: 'DELETE', what, signal }),
        what,
      ),
  });
  if (answer.status !== 204 && answer.status !== 200) throw generalError(answer, what);
}

async function throwWithoutViews(session: RestSession, what: string): Promise<void> {
  const config = await session.config();
  if (config.listsEndpoints && !config.has(viewsEndpoint))
    throw new QueryError('NOT_SUPPORTED', `The catalog keeps no views: ${what} is not possible.`);
}

/** The only schema and version that a new view has, as the service takes them. */
function describedBy(definition: ViewDefinition): {
  readonly schema: JsonObject;
  readonly version: JsonObject;
} {
  const { json } = newViewMetadata(definition, { viewUuid: randomUUID(), location: '' }, Date.now());
  return { schema: lastOf(json, 'schemas'), version: lastOf(json, 'versions') };
}

function lastOf(json: JsonObject, key: string): JsonObject {
  const last = listIn(json, key).at(-1);
  if (!isJsonObject(last)) throw new QueryError('INTERNAL_ERROR', `A view has no ${key}.`);
  return last;
}

function listIn(json: JsonObject, key: string): readonly JsonValue[] {
  const list = json[key];
  return Array.isArray(list) ? list : [];
}
