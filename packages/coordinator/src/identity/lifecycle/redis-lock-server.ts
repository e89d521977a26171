/** The lock of the token scans in Redis. The only module that knows the Redis client, and loaded only where there is one. */
import { isIP } from 'node:net';
import { Cluster, Redis } from 'ioredis';
import type { RedisAddress } from './redis-address.js';
import type { LockServer } from './shared-scan-lock.js';

const key = 'svc:token-scan-lock';

const keepScript =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";
const releaseScript =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

const commandTimeoutMs = 1000;
const connectTimeoutMs = 2000;
const maxReconnectMs = 2000;

export interface RedisLockServerOptions {
  readonly address: RedisAddress;
  /** Of the connection. It is made again by itself, so that there may be many. The message shows no password. */
  readonly onProblem: (message: string) => void;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** Connects in the background, now and whenever the connection is lost; until it is there, every call fails at once. */
export function connectRedisLockServer({ address, onProblem, random }: RedisLockServerOptions): LockServer {
  const reconnectAfterMs = (times: number) =>
    Math.min(maxReconnectMs, 100 * 2 ** Math.min(times, 10)) * (0.5 + random() / 2);
  const redis = address.isCluster
    ? openCluster(address, reconnectAfterMs)
    : openServer(address, reconnectAfterMs);
  const told = (error: unknown) => new Error(withoutPassword(error, address));
  redis.on('error', (error: unknown) => onProblem(told(error).message));
  // Of one node of a cluster.
  redis.on('node error', (error: unknown) => onProblem(told(error).message));

  const call = async <T>(command: () => Promise<T>): Promise<T> => {
    if (redis.status !== 'ready') throw new Error('There is no connection to Redis.');
    try {
      return await command();
    } catch (error) {
      throw told(error);
    }
  };
  return {
    take: async (value, ttlMs) => (await call(() => redis.set(key, value, 'PX', ttlMs, 'NX'))) === 'OK',
    keep: async (value, ttlMs) => (await call(() => redis.eval(keepScript, 1, key, value, ttlMs))) === 1,
    async release(value) {
      await call(() => redis.eval(releaseScript, 1, key, value));
    },
    close: () => redis.disconnect(),
  };
}

/** A command waits for nothing but its own answer: it is not kept until there is a connection, and not sent again. */
function commonOptions({ isTls, username, password }: RedisAddress) {
  return {
    // The greeting of the newer protocol carries the password where older servers repeat it in their error.
    protocol: 2 as const,
    disableClientInfo: true,
    enableReadyCheck: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    // A connection on which nothing is answered is given up, too.
    socketTimeout: 2 * commandTimeoutMs,
    ...(isTls ? { tls: {} } : {}),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}

type ReconnectAfter = (times: number) => number;

function openServer(address: RedisAddress, reconnectAfterMs: ReconnectAfter): Redis {
  const [node] = address.nodes;
  return new Redis({
    ...commonOptions(address),
    ...node,
    ...(address.isTls && isIP(node.host) === 0 ? { tls: { servername: node.host } } : {}),
    db: address.database,
    enableOfflineQueue: false,
    retryStrategy: reconnectAfterMs,
  });
}

function openCluster(address: RedisAddress, reconnectAfterMs: ReconnectAfter): Cluster {
  return new Cluster([...address.nodes], {
    redisOptions: commonOptions(address),
    enableOfflineQueue: false,
    enableReadyCheck: false,
    clusterRetryStrategy: reconnectAfterMs,
    maxRedirections: 4,
    slotsRefreshTimeout: commandTimeoutMs,
    // Certificates are for names: a name is then not replaced by its address.
    ...(address.isTls ? { dnsLookup: (host, answer) => answer(null, host) } : {}),
  });
}

/** Servers repeat commands that they do not know, arguments included: an old one the password of AUTH. */
function withoutPassword(error: unknown, { password }: RedisAddress): string {
  const text = error instanceof Error ? error.message : String(error);
  return password === undefined ? text : text.replaceAll(password, '***');
}
