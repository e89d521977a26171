import { logVerbosity, Server, setLogVerbosity } from '@grpc/grpc-js';
import { createClientAddress, type Logger } from '@svc/base';
import type { FlightSqlBackend } from '../backend.js';
import { createAdmission } from './admission.js';
import { createAuthenticator } from './authenticator.js';
import { type FlightServer, openGrpcListener } from './grpc-listener.js';
import { createHandlers } from './handlers.js';
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

const MEBIBYTE = 1024 * 1024;

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
  return await openGrpcListener(server, admission, { ...options, name: 'The Flight SQL server' });
}
