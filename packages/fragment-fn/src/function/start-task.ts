/** A task with an engine, a staging folder and connections of its own: they begin and end with it. */
import { join } from 'node:path';
import { createInProcessPool } from '@svc/engine';
import { runFragment } from '../runtime.js';
import type { SplitEvent } from '../splits/split-task.js';
import type { RemoteTask } from '../wire/task-codec.js';
import type { RunningTask } from './fragment-handler.js';
import type { SandboxPlace } from './sandbox.js';

export async function startRemoteTask(
  task: RemoteTask,
  place: SandboxPlace,
  signal: AbortSignal,
): Promise<RunningTask> {
  const pool = createInProcessPool({ folder: join(place.folder, 'engine'), limits: place.engine });
  const { request } = task;
  const environment = {
    pool,
    stage: () => {
      throw new Error('interim');
    },
  };
  try {
    const first = await runFragment(request, environment, { signal });
    async function* events(): AsyncGenerator<SplitEvent> {
      let rowCount = 0n;
      for await (const message of first.messages) {
        if (message.kind === 'batch') rowCount += BigInt(message.rowCount);
        yield { kind: 'message', split: 0, message };
      }
      await first.engineFree;
      yield { kind: 'end', split: 0, rowCount, statistics: first.statistics() };
    }
    return {
      run: { schema: first.schema, events: events() },
      [Symbol.asyncDispose]: () => pool.destroy(),
    };
  } catch (error) {
    await pool.destroy();
    throw error;
  }
}
