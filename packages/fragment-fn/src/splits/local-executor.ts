import type { FragmentEnvironment } from '../leased-fragment.js';
import { runSplits } from './run-splits.js';
import type { FragmentExecutor, FragmentTask } from './split-task.js';

export interface LocalExecutorOptions {
  /** Fragments that it runs beside each other: not more than there are engines for them. */
  readonly slots: number;
  /** What a task needs around it; the engines are those of its pool. */
  environment(task: FragmentTask): FragmentEnvironment;
}

/** The engine hosts of this process. */
export function createLocalExecutor({ slots, environment }: LocalExecutorOptions): FragmentExecutor {
  return {
    name: 'local',
    kind: 'local',
    slots,
    start: async (task, signal) => await runSplits(task.request, environment(task), { signal }),
  };
}
