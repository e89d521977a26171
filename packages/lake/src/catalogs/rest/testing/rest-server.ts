/** A REST catalog of a test's own: it answers what it is told to. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tableJson } from '../../../iceberg/testing/table-json.js';
import { createConnections } from '../../../storage/remote/connections.js';
import { startTestServer, type TestServer } from '../../../storage/testing/test-server.js';
import type { CatalogClient } from '../../catalog-factory.js';
import { KeptLoads } from '../kept-loads.js';
import { createRestCatalog, type RestCatalogPlace } from '../rest-catalog.js';
import { createRestService, type RestServiceOptions } from '../rest-service.js';
import { createServiceBreaker } from '../service-breaker.js';
import { createWriterTurns } from '../writer-turns.js';

export type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

export interface RestServer extends AsyncDisposable {
  readonly server: TestServer;
  /** `GET /v1/config`: what is answered from now on. Everything else is a table that does not exist. */
  on(endpoint: string, handler: Handler): void;
  /** A place with everything of its own. */
  place(options?: Partial<RestCatalogPlace> & Partial<RestServiceOptions>): RestCatalogPlace;
}

export async function startRestServer(): Promise<RestServer> {
  const handlers = new Map<string, Handler>();
  handlers.set('GET /v1/config', json({ defaults: {}, overrides: {} }));
  const server = await startTestServer((request, response, body) => {
    const path = (request.url ?? '').split('?')[0];
    const handler = handlers.get(`${request.method} ${path}`) ?? problem(404, 'NoSuchTableException');
    handler(request, response, body);
  });
  return {
    server,
    on: (endpoint, handler) => {
      handlers.set(endpoint, handler);
    },
    place: (options = {}) => ({
      url: server.url,
      warehouse: 'w&h',
      service: createRestService({
        breaker: createServiceBreaker(),
        connections: createConnections(),
        limits: { firstDelayMs: 1, maxDelayMs: 2, maxSilenceMs: 300 },
        ...options,
      }),
      turns: createWriterTurns(),
      loads: new KeptLoads(1024 * 1024),
      correlation: () => ({ 'x-request-id': 'r1' }),
      storage: {},
      staticStore: undefined,
      ...options,
    }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export function clientOf(place: RestCatalogPlace, user: string, token = `token of ${user}`): CatalogClient {
  return createRestCatalog(place, { user, accessToken: () => token });
}

export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Handler {
  return (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

export function problem(status: number, type: string): Handler {
  return json({ error: { message: `Because of ${type}`, type, code: status } }, status);
}

export function html(status: number): Handler {
  return (_request, response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html>Proxy</html>');
}

/** A body of blanks that does not end before its reader goes away. */
export function endless(status: number): Handler {
  return (_request, response) => {
    response.writeHead(status);
    const chunk = Buffer.alloc(1024 * 1024, 32);
    const more = (): void => {
      if (!response.destroyed) response.write(chunk, more);
    };
    more();
  };
}

/** The table `orders`, at `s3://lake/orders`. */
export function loadedOrders(more: object): object {
  return {
    'metadata-location': 's3://lake/orders/metadata/1.metadata.json',
    metadata: tableJson('s3://lake/orders'),
    ...more,
  };
}
