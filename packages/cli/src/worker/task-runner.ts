/** How a worker runs what it was given: with its own engines and caches, and the stores that the task was granted. */
import { join } from 'node:path';
import { QueryError } from '@svc/base';
import type { EnginePool } from '@svc/engine';
import { runSplits, type WorkerDoorOptions } from '@svc/fragment-fn';
import { createFileStore, createFooterCache, openStagingCache, stageScan } from '@svc/lake';
import type { WorkerOptions } from './start-worker.js';

export async function openTaskRunner(
  { config }: WorkerOptions,
  pool: EnginePool,
): Promise<WorkerDoorOptions['run']> {
  const footers = createFooterCache({ maxBytes: config['cache.footer_bytes'] });
  const cache = await openStagingCache({
    folder: join(config['server.data_dir'], 'cache'),
    maxBytes: config['cache.disk_bytes'],
  });
  const store = createFileStore();
  return async ({ request, grants }, { signal }) => {
    if (grants.some((grant) => grant?.kind === 'files') && !config['worker.allow_local_files'])
      throw new QueryError('FRAGMENT_REFUSED', 'This worker reads no files of its own disk (worker.allow_local_files).');
    return await runSplits(
      request,
      {
        pool,
        async stage({ scan }, directory, stageSignal) {
          const staged = await stageScan(scan, { store, directory, cache, footers, signal: stageSignal });
          return {
            ...staged,
            filesRead: staged.groups.reduce((sum, group) => sum + group.paths.length, 0),
            describeColumns: async () => undefined,
          };
        },
      },
      { signal },
    );
  };
}
