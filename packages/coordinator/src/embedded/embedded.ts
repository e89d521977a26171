/** A coordinator without doors: the same planner and runner, for one local user, in the process that asks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config, Logger } from '@svc/base';
import { createHostPool, createInProcessPool, type EnginePool, type HostPoolOptions } from '@svc/engine';
import { localUsername } from '../identity/local-identity.js';
import { poolOptions } from '../service/pool-options.js';
import { BridgingPool } from './bridging-pool.js';
import type { EmbeddedOptions, EmbeddedService } from './embedded-service.js';

/** Whoever looks at a page of a result takes the time they want. */
const unlimitedMs = 2 ** 31 - 1;

/** The files of whoever is at the terminal are theirs to read; the gate lets no statement write any. */
const reachableDirectories = ['/'];

/** Statements planned at a time never hold more. */
const maxInProcessInstances = 2;

/**
 * Opens the configured catalog folder for the local user. Several processes may have the same folder open: caches are
 * shared, engine folders are each one's own. Throws CONFIGURATION_ERROR.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedService> {
  const { config, logger } = options;
  const scratch = mkdtempSync(join(tmpdir(), 'svc-sql-'));
  const pool = new BridgingPool({
    openHosts: () => createHostPool(hostPoolOptions(config, logger)),
    openInProcess: () => inProcessPool(config, logger, scratch),
  });
  const close = async () => {
    try {
      await pool.destroy();
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  };
  try {
    // The host's process starts while the rest of the program is loaded.
    if (options.startsHost) void pool.startHost(localUsername);
    const { createEmbeddedSession } = await import('./embedded-session.js');
    const session = await createEmbeddedSession({ ...options, pool, scratchFolder: scratch });
    return { run: session.run, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** One host, which stays as long as the session. What is not read yet waits in the engine, not in a file. */
function hostPoolOptions(config: Config, logger: Logger): HostPoolOptions {
  const options = poolOptions(config, logger);
  const limits = { ...options.query.limits, reachableDirectories };
  const one = { hosts: 1, spareHosts: 0, slowConsumerMs: unlimitedMs, spoolBytesPerResult: 0 };
  return {
    ...options,
    query: { ...options.query, ...one, limits },
    small: { ...options.small, ...one },
    idleMs: unlimitedMs,
  };
}

/** Below the system's temporary folder and not in the data folder: a process that is killed leaves it to the system. */
function inProcessPool(config: Config, logger: Logger, folder: string): EnginePool {
  return createInProcessPool({
    folder,
    limits: { ...poolOptions(config, logger).small.limits, reachableDirectories },
    maxInstances: maxInProcessInstances,
  });
}
