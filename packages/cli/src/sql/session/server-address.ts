import { isLoopbackAddress } from '@svc/base';
import { UsageError } from '../../usage-error.js';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Whether only this machine sees what is sent. */
  readonly isLoopback: boolean;
}

const defaultPort = 50051;
const schemes: Readonly<Record<string, boolean>> = { 'grpc:': false, 'grpc+tcp:': false, 'grpc+tls:': true };

/** Reads `grpc://host:port` or `grpc+tls://host:port`. Throws UsageError. */
export function parseServerAddress(text: string): ServerAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isTls = url && schemes[url.protocol];
  const hasMore = url !== undefined && (url.search !== '' || url.hash !== '' || !/^\/?$/.test(url.pathname));
  if (url === undefined || isTls === undefined || url.hostname === '' || hasMore)
    throw new UsageError(
      `--server takes grpc+tls://HOST[:PORT] or grpc://HOST[:PORT], not ${JSON.stringify(text)}.`,
    );
  if (url.username !== '' || url.password !== '')
    throw new UsageError('--server takes no user or password: set SVC_USER and SVC_PASSWORD, or SVC_TOKEN.');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    host,
    port: url.port === '' ? defaultPort : Number(url.port),
    isTls,
    isLoopback: host === 'localhost' || isLoopbackAddress(host),
  };
}
