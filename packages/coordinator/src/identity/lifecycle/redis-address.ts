import { QueryError } from '@svc/base';

/** Where a Redis is, of a URL that the configuration has accepted. */
export interface RedisAddress {
  readonly isCluster: boolean;
  readonly isTls: boolean;
  /** Several of a cluster only. */
  readonly nodes: readonly [RedisNode, ...RedisNode[]];
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** 0 of a cluster. */
  readonly database: number;
}

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

const defaultPort = 6379;

/** Throws CONFIGURATION_ERROR, which never shows the URL: it may carry a password. */
export function parseRedisAddress(url: string): RedisAddress {
  const match = /^(rediss?)(\+cluster)?:\/\/(?:([^@/:]*)(?::([^@/]*))?@)?([^@/]+)(?:\/(\d*))?$/.exec(url);
  if (match === null) throw unusable('is not a Redis URL');
  const [, scheme, cluster, username, password, hosts = '', database = ''] = match;
  const isCluster = cluster !== undefined;
  if (isCluster && Number(database) !== 0) throw unusable('names a database, but a cluster has only one');
  const [first = '', ...others] = hosts.split(',');
  return {
    isCluster,
    isTls: scheme === 'rediss',
    nodes: [parseNode(first), ...others.map(parseNode)],
    username: decoded(username),
    password: decoded(password),
    database: Number(database),
  };
}

function parseNode(text: string): RedisNode {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const number = port === undefined ? defaultPort : Number(port);
  if (host === undefined || number < 1 || number > 65_535)
    throw unusable('has a host that is not `host:port` with a port from 1 to 65535');
  return { host, port: number };
}

/** Empty is none: `redis://:password@host` is the default user's password. */
function decoded(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    throw unusable('has a user name or password whose % signs are not followed by two hex digits');
  }
}

function unusable(problem: string): QueryError {
  return new QueryError('CONFIGURATION_ERROR', `\`coordinator.redis_url\` ${problem}.`);
}
