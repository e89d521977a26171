import { Channel, credentials } from '@grpc/grpc-js';

export interface ChannelOptions {
  readonly host: string;
  readonly port: number;
  /** Absent: no TLS. */
  readonly tls?: ClientTls;
  /** A message of an answer; default 64 MiB. */
  readonly maxReceiveBytes?: number;
  /** Finds a server that no longer answers; default 30 s and 20 s. */
  readonly keepalive?: { readonly timeMs: number; readonly timeoutMs: number };
  /** What a server may send ahead of its reader; default that of HTTP/2, 64 KiB. */
  readonly windowBytes?: number;
  /** The longest time after a failure in which no connection is tried again; default that of gRPC, two minutes. */
  readonly maxReconnectMs?: number;
}

export interface ClientTls {
  /** Certificates to trust instead of the system's. */
  readonly rootCertsPem?: string;
  /** What the client shows of itself to a server that asks for it. */
  readonly certPem?: string;
  readonly keyPem?: string;
  /** The name that the server's certificate must have; default: the host. */
  readonly serverName?: string;
}

const MEBIBYTE = 1024 * 1024;

/** Connects with the first call. */
export function openChannel(options: ChannelOptions): Channel {
  const { host, port, tls, maxReceiveBytes, keepalive, windowBytes, maxReconnectMs } = options;
  return new Channel(`${host.includes(':') ? `[${host}]` : host}:${port}`, channelCredentials(tls), {
    'grpc.max_receive_message_length': maxReceiveBytes ?? 64 * MEBIBYTE,
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': keepalive?.timeMs ?? 30_000,
    'grpc.keepalive_timeout_ms': keepalive?.timeoutMs ?? 20_000,
    'grpc.enable_channelz': 0,
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
    ...(windowBytes === undefined ? {} : { 'grpc-node.flow_control_window': windowBytes }),
    ...(maxReconnectMs === undefined
      ? {}
      : {
          'grpc.initial_reconnect_backoff_ms': Math.min(500, maxReconnectMs),
          'grpc.max_reconnect_backoff_ms': maxReconnectMs,
        }),
    ...(tls?.serverName === undefined ? {} : { 'grpc.ssl_target_name_override': tls.serverName }),
  });
}

function channelCredentials(tls: ClientTls | undefined) {
  if (tls === undefined) return credentials.createInsecure();
  const { rootCertsPem, certPem, keyPem } = tls;
  return credentials.createSsl(bufferOf(rootCertsPem), bufferOf(keyPem), bufferOf(certPem));
}

function bufferOf(pem: string | undefined): Buffer | null {
  return pem === undefined ? null : Buffer.from(pem);
}
