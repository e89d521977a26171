/** How a worker runs what it was given: with its own engines and caches, and the stores that the task was granted. */
import { join } from 'node:path';
import type { EnginePool } from '@svc/engine';
import { openRemoteEnvironment, runSplits, type WorkerDoorOptions } from '@svc/fragment-fn';
import { createConnections, createFooterCache, openStagingCache, StorageTraffic } from '@svc/lake';
import type { WorkerOptions } from './start-worker.js';

/** Throws CONFIGURATION_ERROR where the folder of the cache cannot be used. */
export async function openTaskRunner(
  { config, metrics }: WorkerOptions,
  pool: EnginePool,
): Promise<WorkerDoorOptions['run']> {
  const shared = {
    pool,
    metrics,
    footers: createFooterCache({ maxBytes: config['cache.footer_bytes'] }),
    staging: await openStagingCache({
      folder: join(config['server.data_dir'], 'cache'),
      maxBytes: config['cache.disk_bytes'],
    }),
    connections: createConnections(),
    traffic: new StorageTraffic(),
    allowLocalFiles: config['worker.allow_local_files'],
  };
  return async (task, { signal, renew }) =>
    await runSplits(task.request, openRemoteEnvironment(task, { ...shared, renew }), { signal });
}
