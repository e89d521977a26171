/** A task with an engine, caches and connections of its own: they begin and end with it. */
import { join } from 'node:path';
import { createMetrics } from '@svc/base';
import { createInProcessPool } from '@svc/engine';
import { createConnections, createFooterCache, openStagingCache, StorageTraffic } from '@svc/lake';
import { openRemoteEnvironment } from '../environment/remote-environment.js';
import { runSplits } from '../splits/run-splits.js';
import type { RemoteTask } from '../wire/task-codec.js';
import type { RunningTask } from './fragment-handler.js';
import type { SandboxPlace } from './sandbox.js';

const footerBytes = 32 * 2 ** 20;

export interface TaskOptions {
  /** Only where the sandbox is on the machine whose files are granted: an emulated one. */
  readonly allowLocalFiles: boolean;
}

export async function startRemoteTask(
  task: RemoteTask,
  place: SandboxPlace,
  signal: AbortSignal,
  { allowLocalFiles }: TaskOptions,
): Promise<RunningTask> {
  const connections = createConnections();
  const pool = createInProcessPool({ folder: join(place.folder, 'engine'), limits: place.engine });
  const end = async () => {
    await pool.destroy();
    connections.httpAgent.destroy();
    connections.httpsAgent.destroy();
  };
  try {
    const environment = openRemoteEnvironment(task, {
      pool,
      staging: await openStagingCache({
        folder: join(place.folder, 'staging'),
        maxBytes: place.stagingBytes,
      }),
      footers: createFooterCache({ maxBytes: footerBytes }),
      connections,
      traffic: new StorageTraffic(),
      metrics: createMetrics(),
      allowLocalFiles,
    });
    const run = await runSplits(task.request, environment, { signal });
    return { run, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}
