/** A task with an engine, a staging folder and connections of its own: they begin and end with it. */
import { join } from 'node:path';
import { createInProcessPool } from '@svc/engine';
import { createFileStore, createFooterCache, openStagingCache, stageScan } from '@svc/lake';
import { runSplits } from '../splits/run-splits.js';
import type { RemoteTask } from '../wire/task-codec.js';
import type { RunningTask } from './fragment-handler.js';
import type { SandboxPlace } from './sandbox.js';

const footerBytes = 32 * 2 ** 20;

export async function startRemoteTask(
  task: RemoteTask,
  place: SandboxPlace,
  signal: AbortSignal,
): Promise<RunningTask> {
  const pool = createInProcessPool({ folder: join(place.folder, 'engine'), limits: place.engine });
  try {
    const cache = await openStagingCache({
      folder: join(place.folder, 'staging'),
      maxBytes: place.stagingBytes,
    });
    const footers = createFooterCache({ maxBytes: footerBytes });
    const store = createFileStore();
    const run = await runSplits(
      task.request,
      {
        pool,
        stage: async ({ scan }, directory, stop) => {
          const staged = await stageScan(scan, { store, cache, footers, directory, signal: stop });
          return { ...staged, filesRead: 0, describeColumns: async () => undefined };
        },
      },
      { signal },
    );
    return { run, [Symbol.asyncDispose]: () => pool.destroy() };
  } catch (error) {
    await pool.destroy();
    throw error;
  }
}
