/** What a REST catalog says of itself before anything else: `GET /v1/config` (REST OpenAPI, CatalogConfig). */
import { QueryError } from '@svc/base';
import { JsonFields } from '../../iceberg/spec/json-fields.js';
import { parseJson } from '../../iceberg/spec/lossless-json.js';
import { catalogError } from './rest-errors.js';
import { createRoutes, type RestRoutes } from './rest-routes.js';
import type { RestAnswer } from './rest-service.js';

export interface RestConfig {
  /** Where requests go from now on; with a slash at its end. */
  readonly baseUrl: URL;
  readonly routes: RestRoutes;
  /** For clients, overrides before defaults. What a table says itself comes before both. */
  readonly properties: ReadonlyMap<string, string>;
  /** Whether the service has an endpoint, such as `GET /v1/{prefix}/namespaces/{namespace}/views`. */
  has(endpoint: string): boolean;
  /** Whether it says which endpoints it has: if not, it may have more than `has` knows. */
  readonly listsEndpoints: boolean;
}

/** What a service supports that does not list it: the part of the document that was there before lists were. */
const impliedEndpoints: ReadonlySet<string> = new Set([
  'GET /v1/{prefix}/namespaces',
  'POST /v1/{prefix}/namespaces',
  'GET /v1/{prefix}/namespaces/{namespace}',
  'DELETE /v1/{prefix}/namespaces/{namespace}',
  'GET /v1/{prefix}/namespaces/{namespace}/tables',
  'POST /v1/{prefix}/namespaces/{namespace}/tables',
  'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}',
]);

/** Throws CATALOG_ERROR when it is not one: what it would have said is never guessed. */
export function readConfig({ body }: RestAnswer, configured: URL): RestConfig {
  try {
    return configOf(
      new JsonFields(parseJson(body, 'The configuration'), 'The configuration of the catalog'),
      configured,
    );
  } catch (error) {
    if (error instanceof QueryError && error.code === 'CATALOG_ERROR') throw error;
    const cause = error instanceof QueryError ? error.message : 'it is not JSON.';
    throw catalogError(`does not answer its configuration: ${cause.replace(/\.$/, '')}`, {
      cause: error,
      retryable: false,
    });
  }
}

function configOf(fields: JsonFields, configured: URL): RestConfig {
  const overrides = fields.stringMap('overrides');
  const properties = new Map([...fields.stringMap('defaults'), ...overrides]);
  const endpoints = fields.strings('endpoints');
  const supported = endpoints === undefined ? impliedEndpoints : new Set(endpoints);
  const separator = properties.get('namespace-separator');
  if (separator !== undefined && !isSeparator(separator))
    throw catalogError('names a separator of namespace levels that is none', { retryable: false });
  return {
    baseUrl: movedTo(overrides.get('uri'), configured),
    routes: createRoutes(properties.get('prefix'), separator),
    properties,
    has: (endpoint) => supported.has(endpoint),
    listsEndpoints: endpoints !== undefined,
  };
}

/** Percent-encoded as it stands in a path: `%1F`, `%2E`. */
function isSeparator(text: string): boolean {
  if (!/^(%[0-9a-f]{2}|[\w.~-])+$/i.test(text)) return false;
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

/** The service may send its clients elsewhere, but not the users' tokens over an open line. */
function movedTo(uri: string | undefined, configured: URL): URL {
  if (uri === undefined) return configured;
  if (!URL.canParse(uri))
    throw catalogError('names an address for itself that is no URL', { retryable: false });
  const moved = baseOf(uri);
  if (moved.origin === configured.origin || moved.protocol === 'https:') return moved;
  throw catalogError(
    `sends its clients to ${moved.origin}, which is neither its configured address nor https`,
    { retryable: false },
  );
}

/** Paths are resolved against it, so it ends with a slash. */
export function baseOf(url: string): URL {
  const base = new URL(url);
  base.search = '';
  base.hash = '';
  base.pathname = base.pathname.replace(/\/*$/, '/');
  return base;
}
