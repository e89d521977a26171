import type { Http2Server, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from '@grpc/grpc-js';
import { createClientAddress, delay, type Logger, QueryError } from '@svc/base';
import type { FlightSqlBackend } from '../backend.js';
import { http2ServersOf } from '../framing/grpc-internals.js';
import { createAdmission, shuttingDown } from './admission.js';
import { createAuthenticator } from './authenticator.js';
import { createHandlers } from './handlers.js';
import { guardHttp2Server } from './http2-guard.js';
import { flightService } from './service-definition.js';

export interface FlightServerOptions<S> {
  readonly backend: FlightSqlBackend<S>;
  /** An address or name of this machine; 0 as port takes a free one. */
  readonly host: string;
  readonly port: number;
  readonly tls?: { readonly certPem: string; readonly keyPem: string };
  /** A proxy in front ends TLS: every connection counts as confidential. Default false. */
  readonly tlsTerminatedUpstream?: boolean;
  /** Addresses and ranges of proxies whose `X-Forwarded-For` names the client. Default none. */
  readonly trustedProxies?: readonly string[];
  readonly limits?: FlightServerLimits;
  readonly keepalive?: FlightServerKeepalive;
  readonly logger: Logger;
  /** Writes bodies without copying where grpc-js allows it. Default true; false forces the fallback. */
  readonly zeroCopy?: boolean;
}

export interface FlightServerLimits {
  /** A request message; default 16 MiB, so that an SQL text of 10 MB reaches the gate and is refused by name. */
  readonly maxReceiveBytes?: number;
  /** A message of DoPut, which is a whole batch of the client's making; default 64 MiB. */
  readonly maxUploadMessageBytes?: number;
  /** A message of a result; default 16 MiB, which is what ADBC accepts. */
  readonly maxSendBytes?: number;
  /** All parameters bound by one DoPut; default 16 MiB. */
  readonly maxParameterBytes?: number;
  /** Calls at a time on one connection; default 128. */
  readonly maxStreamsPerConnection?: number;
}

/** How a peer that no longer answers is found: a ping after `timeMs`, and the end `timeoutMs` later. */
export interface FlightServerKeepalive {
  readonly timeMs: number;
  readonly timeoutMs: number;
}

export interface FlightServer {
  readonly port: number;
  /**
   * Refuses to sign anybody in, with a retriable SHUTTING_DOWN, while the calls that run finish, for at most `deadlineMs`;
   * then ends what is left, and closes every connection. New statements are the backend's to refuse. Idempotent.
   */
  close(deadlineMs: number): Promise<void>;
  /** Cuts everything off at once. Idempotent. */
  destroy(): void;
}

const MEBIBYTE = 1024 * 1024;
/** How long calls that were ended by the deadline have to get their status out. */
const FAREWELL_MS = 500;

/**
 * Starts a Flight SQL server. Rejects with CONFIGURATION_ERROR when the address cannot be bound or the certificate is
 * not usable.
 */
export async function createFlightServer<S>(options: FlightServerOptions<S>): Promise<FlightServer> {
  const { backend, logger, limits = {} } = options;
  setLogVerbosity(logVerbosity.NONE); // grpc-js would print plain text, with header values; errors reach us anyway
  const authenticator = createAuthenticator(backend);
  const admission = createAdmission({
    authenticator,
    connection: {
      isTls: options.tls !== undefined,
      tlsTerminatedUpstream: options.tlsTerminatedUpstream ?? false,
      clientAddress: createClientAddress(options.trustedProxies ?? []),
    },
    logger,
    maxUploadMessageBytes: Math.max(
      limits.maxUploadMessageBytes ?? 64 * MEBIBYTE,
      limits.maxReceiveBytes ?? 0,
    ),
  });
  const server = new Server({
    interceptors: [admission.interceptor],
    'grpc.max_receive_message_length': limits.maxReceiveBytes ?? 16 * MEBIBYTE,
    'grpc.max_send_message_length': -1, // sendResult checks, with a code
    'grpc.max_concurrent_streams': limits.maxStreamsPerConnection ?? 128,
    'grpc.keepalive_time_ms': options.keepalive?.timeMs ?? 30_000,
    'grpc.keepalive_timeout_ms': options.keepalive?.timeoutMs ?? 20_000,
    'grpc.enable_channelz': 0,
  });
  server.addService(
    flightService,
    createHandlers({
      backend,
      admission,
      authenticator,
      logger,
      zeroCopy: options.zeroCopy ?? true,
      maxMessageBytes: limits.maxSendBytes ?? 16 * MEBIBYTE,
      maxParameterBytes: limits.maxParameterBytes ?? 16 * MEBIBYTE,
    }),
  );
  const port = await bind(server, options);
  const connections = watchConnections(guard(server));

  const destroy = () => {
    admission.abortAll(shuttingDown());
    server.forceShutdown();
    connections.destroyAll();
  };
  let closing: Promise<void> | undefined;
  const close = async (deadlineMs: number) => {
    const idle = admission.drain();
    await within(idle, deadlineMs);
    admission.abortAll(shuttingDown());
    await within(idle, FAREWELL_MS);
    const closed = new Promise<void>((resolve) => {
      server.tryShutdown(() => resolve());
    });
    connections.closeAll();
    await within(closed, FAREWELL_MS);
    destroy();
  };
  return {
    port,
    close: (deadlineMs) => {
      closing ??= close(deadlineMs);
      return closing;
    },
    destroy,
  };
}

function guard(server: Server): readonly Http2Server[] {
  const http2Servers = http2ServersOf(server);
  if (http2Servers === undefined) {
    server.forceShutdown();
    throw new Error('This version of @grpc/grpc-js hides its HTTP/2 servers: requests could not be guarded.');
  }
  for (const http2Server of http2Servers) guardHttp2Server(http2Server);
  return http2Servers;
}

/**
 * Keeps account of the connections, which grpc-js does only with its statistics on. Sockets are destroyed too: a
 * session that was told to close first lets its socket send what it has, from memory that is given back by then.
 */
function watchConnections(servers: readonly Http2Server[]) {
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  for (const server of servers) {
    server.on('session', (session) => {
      sessions.add(session);
      session.once('close', () => sessions.delete(session));
    });
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
  }
  return {
    closeAll() {
      for (const session of sessions) session.close();
    },
    destroyAll() {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function bind<S>(server: Server, { host, port, tls }: FlightServerOptions<S>): Promise<number> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const configurationError = (cause: unknown) =>
    new QueryError(
      'CONFIGURATION_ERROR',
      `The Flight SQL server cannot listen on ${address}: ${reasonOf(cause)}.`,
      {
        cause,
      },
    );
  return new Promise((resolve, reject) => {
    try {
      server.bindAsync(address, credentials(tls), (error, boundPort) => {
        if (error) reject(configurationError(error));
        else resolve(boundPort);
      });
    } catch (error) {
      reject(configurationError(error));
    }
  });
}

function credentials(tls: FlightServerOptions<unknown>['tls']): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  return ServerCredentials.createSsl(null, [
    { cert_chain: Buffer.from(tls.certPem), private_key: Buffer.from(tls.keyPem) },
  ]);
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Waits for `promise`, but no longer than `ms`. */
async function within(promise: Promise<void>, ms: number): Promise<void> {
  const timeout = new AbortController();
  try {
    await Promise.race([promise, delay(ms, timeout.signal).catch(() => undefined)]);
  } finally {
    timeout.abort();
  }
}
