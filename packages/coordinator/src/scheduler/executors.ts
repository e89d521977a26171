/** Where fragments of a statement can run besides this process's own engines. */
import type { FragmentExecutor } from '@svc/fragment-fn';

export interface Executors {
  /** Those that can be reached now; asked anew whenever something is to be sent. */
  workers(): readonly FragmentExecutor[];
  lambda(): FragmentExecutor | undefined;
  /** Absent: nobody knows, and what is there counts as free. */
  capacity?(): ExecutorCapacity;
}

/** What could begin at once, as far as it is known: workers tell it with every heartbeat, and sandboxes are counted. */
export interface ExecutorCapacity {
  readonly freeWorkerSlots: number;
  /** Idle sandboxes that Lambda keeps: others start cold. */
  readonly warmSandboxes: number;
}

export function hasExecutors(executors: Executors): boolean {
  return executors.workers().length > 0 || executors.lambda() !== undefined;
}

/** Kinds of executors that a statement's fragments are sent to. */
export type ExecutorKinds = readonly ('workers' | 'lambda')[];

export function executorsOf(executors: Executors, kinds: ExecutorKinds): readonly FragmentExecutor[] {
  return kinds.flatMap((kind) => {
    if (kind === 'workers') return executors.workers();
    const lambda = executors.lambda();
    return lambda === undefined ? [] : [lambda];
  });
}
