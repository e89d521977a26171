import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ClientAddress, errorFields, type Logger, QueryError, withCorrelation } from '@svc/base';
import { errorReply, type Reply, sendReply } from './reply.js';
import { adminRequest } from './request.js';
import { answer, pathOf, type Routes } from './routes.js';

export interface ListenerOptions {
  /** For messages: `metrics`, `probes`. */
  readonly purpose: string;
  readonly bindAddress: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly routes: Routes;
  readonly clientAddress: ClientAddress;
  readonly logger: Logger;
  /** Default: `httpLimits`. */
  readonly limits?: HttpLimits;
}

/** One HTTP listener. Both ways to end it are idempotent and may follow each other. */
export interface Listener {
  readonly port: number;
  readonly url: string;
  /** Stops accepting, lets requests in progress finish until the deadline, then cuts them off. */
  close(deadlineMs: number): Promise<void>;
  /** Cuts every connection at once. */
  destroy(): Promise<void>;
}

/**
 * Bounds (bytes, milliseconds) on what a client may hold without sending a whole request: header size, time for the headers, time for the
 * request, silence on the socket, and connections in all. Node closes what exceeds them with 431 or 408.
 */
export interface HttpLimits {
  readonly maxHeaderSize: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly connectionsCheckingInterval: number;
  readonly keepAliveTimeout: number;
}

const httpLimits: HttpLimits = {
  // An access token of many roles fits.
  maxHeaderSize: 32 * 1024,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
};
const silenceTimeoutMs = 30_000;
const maxConnections = 256;

/** Throws CONFIGURATION_ERROR when the port or address cannot be bound. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const header = (name: string) => singleHeader(request, name);
    withCorrelation(header, () => void serve(server, options, request, response));
  };
  const server = createServer({ ...(options.limits ?? httpLimits) }, onRequest);
  // Node would ask for a body before anybody knows whether it is wanted.
  server.on('checkContinue', onRequest);
  server.timeout = silenceTimeoutMs;
  server.maxConnections = maxConnections;
  const port = await listen(server, options);
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  const end = async (deadlineMs: number): Promise<void> => {
    server.close();
    const timer = setTimeout(() => server.closeAllConnections(), deadlineMs);
    try {
      await closed;
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    port,
    url: `http://${options.bindAddress.includes(':') ? `[${options.bindAddress}]` : options.bindAddress}:${port}`,
    close: end,
    destroy: async () => {
      server.closeAllConnections();
      await end(0);
    },
  };
}

function singleHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Answers one request. Never rejects. */
async function serve(
  server: Server,
  { routes, clientAddress, logger }: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const startedAt = performance.now();
  const method = request.method ?? '';
  const path = pathOf(request.url ?? '');
  const described = adminRequest(request, response, clientAddress);
  const reply = await answer(routes, method, path, described).catch((caught: unknown): Reply => {
    const isGone = request.destroyed && !request.complete;
    logger.log(isGone ? 'debug' : 'error', 'An admin request failed.', {
      method,
      path,
      ...errorFields(caught),
    });
    return errorReply(500, 'INTERNAL_ERROR', 'An internal error occurred; the service log has the details.');
  });
  if (!response.destroyed) sendReply(request, response, reply, !server.listening);
  logger.log('debug', 'Answered an admin request.', {
    method,
    path,
    status: reply.status,
    duration_ms: Math.round(performance.now() - startedAt),
  });
}

async function listen(server: Server, options: ListenerOptions): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: options.bindAddress, port: options.port, exclusive: true }, resolve);
    });
  } catch (caught) {
    throw bindError(options, caught);
  }
  server.removeAllListeners('error');
  // A listening server fails only per connection (no file descriptors left, for example): worth a record, not the end.
  server.on('error', (error) =>
    options.logger.log('error', 'An admin listener could not accept a connection.', errorFields(error)),
  );
  return (server.address() as AddressInfo).port;
}

function bindError({ purpose, bindAddress, port }: ListenerOptions, cause: unknown): QueryError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE:
      'another process listens there: set `metrics.prometheus_port` to another port, or to 0 for a free one',
    EACCES: 'ports below 1024 need privileges: set `metrics.prometheus_port` to a higher port',
    EADDRNOTAVAIL: 'this machine does not have that address: set `server.bind_address` to one it has',
    ENOTFOUND: 'that name does not resolve: set `server.bind_address` to an address of this machine',
  };
  const reason = reasons[code] ?? `the operating system answered ${code}`;
  return new QueryError(
    'CONFIGURATION_ERROR',
    `Port ${port} of ${bindAddress} (${purpose}) cannot be opened; ${reason}.`,
    { cause },
  );
}
