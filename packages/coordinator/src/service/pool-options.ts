import { join } from 'node:path';
import type { Config, Logger } from '@svc/base';
import type { HostPoolOptions } from '@svc/engine';

const MiB = 2 ** 20;

/** Planning and statements without tables need little; their own lane keeps them quick beside large queries. */
const smallLane = { hosts: 2, threads: 1, memoryBytes: 256 * MiB, tempDirectoryBytes: 1024 * MiB };

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
      slowConsumerMs: config['query.slow_client_timeout_secs'] * 1000,
    },
    log: logger,
    maxLeasesPerHost: config['engine.max_queries_per_host'],
    idleMs: config['engine.host_idle_secs'] * 1000,
    spoolBytesPerResult: config['query.spool_bytes'],
    spoolBytesTotal: config['query.spool_total_bytes'],
  };
}
