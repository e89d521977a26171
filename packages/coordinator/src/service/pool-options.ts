import { join } from 'node:path';
import type { Config, Logger } from '@svc/base';
import type { HostPoolOptions } from '@svc/engine';

const MiB = 2 ** 20;

/**
 * Planning and statements without tables need little; their own lane keeps them quick beside large queries. Nobody may
 * keep a host of it by not reading: little is kept for such a reader, and not for long.
 */
const smallLane = {
  hosts: 3,
  threads: 1,
  memoryBytes: 256 * MiB,
  tempDirectoryBytes: 1024 * MiB,
  spoolBytesPerResult: 64 * MiB,
  slowConsumerMs: 10_000,
};

/** Statements without tables that run at a time: one host of their lane is always left for planning. */
export const smallStatementPlaces = smallLane.hosts - 1;

/** How the configuration sizes the engine hosts. */
export function poolOptions(config: Config, logger: Logger): HostPoolOptions {
  return {
    folder: join(config['server.data_dir'], 'engine'),
    query: {
      hosts: config['query.max_concurrent'],
      limits: {
        memoryBytes: config['query.memory_limit'],
        threads: config['engine.threads'],
        tempDirectoryBytes: config['engine.spill_bytes'],
      },
      spareHosts: config['engine.spare_hosts'],
      slowConsumerMs: config['query.slow_client_timeout_secs'] * 1000,
    },
    small: {
      hosts: smallLane.hosts,
      limits: {
        memoryBytes: Math.min(smallLane.memoryBytes, config['query.memory_limit']),
        threads: smallLane.threads,
        tempDirectoryBytes: Math.min(smallLane.tempDirectoryBytes, config['engine.spill_bytes']),
      },
      spareHosts: 1,
      slowConsumerMs: Math.min(smallLane.slowConsumerMs, config['query.slow_client_timeout_secs'] * 1000),
      spoolBytesPerResult: Math.min(smallLane.spoolBytesPerResult, config['query.spool_bytes']),
    },
    // What idle hosts keep cannot make room for others: together no more than a quarter of it.
    keptInputBytes: Math.floor(config['cache.disk_bytes'] / 4 / config['query.max_concurrent']),
    log: logger,
    maxLeasesPerHost: config['engine.max_queries_per_host'],
    idleMs: config['engine.host_idle_secs'] * 1000,
    spoolBytesPerResult: config['query.spool_bytes'],
    spoolBytesTotal: config['query.spool_total_bytes'],
  };
}
