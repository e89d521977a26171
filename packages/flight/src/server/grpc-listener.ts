/** What a server of gRPC needs around its service: an address, a guard, an account of connections, and its end. */
import type { Http2Server, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { type Server, ServerCredentials } from '@grpc/grpc-js';
import { delay, QueryError } from '@svc/base';
import { http2ServersOf } from '../framing/grpc-internals.js';
import { type Admission, shuttingDown } from './admission.js';
import { guardHttp2Server } from './http2-guard.js';

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

export interface ServerTls {
  readonly certPem: string;
  readonly keyPem: string;
  /** Clients must show a certificate that one of these has signed. */
  readonly clientCaPem?: string;
}

export interface GrpcListenerOptions {
  /** Begins a sentence of an error. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly tls?: ServerTls;
}

/** How long calls that were ended by the deadline have to get their status out. */
const FAREWELL_MS = 500;

/** Binds a server whose services have been added. Throws CONFIGURATION_ERROR. */
export async function openGrpcListener(
  server: Server,
  admission: Pick<Admission<unknown>, 'drain' | 'abortAll'>,
  options: GrpcListenerOptions,
): Promise<FlightServer> {
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

function bind(server: Server, { name, host, port, tls }: GrpcListenerOptions): Promise<number> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const configurationError = (cause: unknown) =>
    new QueryError('CONFIGURATION_ERROR', `${name} cannot listen on ${address}: ${reasonOf(cause)}.`, {
      cause,
    });
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

function credentials(tls: GrpcListenerOptions['tls']): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { certPem, keyPem, clientCaPem } = tls;
  return ServerCredentials.createSsl(
    clientCaPem === undefined ? null : Buffer.from(clientCaPem),
    [{ cert_chain: Buffer.from(certPem), private_key: Buffer.from(keyPem) }],
    clientCaPem !== undefined,
  );
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
