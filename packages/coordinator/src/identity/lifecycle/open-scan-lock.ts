import type { Config, Logger, Metrics } from '@svc/base';
import { parseRedisAddress } from './redis-address.js';
import { noScanLock, type ScanLock } from './scan-lock.js';
import { createSharedScanLock } from './shared-scan-lock.js';
import { createSparseWarning } from './sparse-warning.js';

export interface ScanLockOptions {
  readonly config: Pick<Config, 'coordinator.redis_url'>;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'tokenScanLocks'>;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/** The lock of this coordinator's token scans. Waits for no server. Throws CONFIGURATION_ERROR. */
export async function openScanLock(options: ScanLockOptions): Promise<ScanLock> {
  const { config, metrics, random = Math.random } = options;
  const logger = options.logger.child('svc::identity');
  const url = config['coordinator.redis_url'];
  if (url === undefined) return noScanLock;
  const address = parseRedisAddress(url);
  const { connectRedisLockServer } = await import('./redis-lock-server.js');
  const warn = createSparseWarning(logger, 'the Redis of coordinator.redis_url cannot be used');
  const server = connectRedisLockServer({
    address,
    random,
    onProblem: (message) => warn({ error_message: message }),
  });
  return createSharedScanLock({ server, metrics, logger, random });
}
