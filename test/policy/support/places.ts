/** Where fragments of both worlds run elsewhere: two worker processes, and the function's own bundle under the emulator. Needs the built program. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkerExecutor } from '@svc/coordinator';
import { startLambda } from '../../service/support/lambda.js';
import { startWorkerProcess } from '../../service/support/worker-process.js';
import type { RowFilter } from './policies.js';
import { openTwoWorlds, type TwoWorlds } from './two-worlds.js';

export const places = ['local', 'workers', 'lambda'] as const;

export async function openPlaces(filters: readonly RowFilter[]): Promise<TwoWorlds> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-places-'));
  const opened: AsyncDisposable[] = [];
  const close = async () => {
    for (const each of opened.reverse()) await each[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const workers: WorkerExecutor[] = [];
    for (const name of ['a', 'b']) {
      const worker = await startWorkerProcess(join(folder, name));
      opened.push(worker);
      const executor = worker.executor();
      // Tells how many tasks it takes.
      await executor.heartbeat();
      workers.push(executor);
    }
    const lambda = await startLambda();
    opened.push(lambda);
    const two = await openTwoWorlds({
      filters,
      service: {
        config: { 'fragments.distribute_bytes': 0, 'fragments.split_bytes': 1_000_000 },
        openExecutors: () => ({ workers: () => workers, lambda: () => lambda.executor }),
      },
    });
    opened.push(two);
    return { ...two, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
