/** Where fragments run besides this process, by configuration: workers and a function. */
import type { Config, Logger, Metrics } from '@svc/base';
import { openLambdaExecutor } from '../executors/lambda/open-lambda-executor.js';
import { openWorkers } from '../executors/workers/open-workers.js';
import type { WorkerRecord } from '../executors/workers/watched-worker.js';
import type { WorkerRegistry } from '../executors/workers/worker-registry.js';
import type { Executors } from '../scheduler/executors.js';
import { openSpool, type Spool } from '../spool/spool.js';

export interface RemoteExecutors {
  /** Undefined where neither is configured: everything runs here. */
  readonly executors: Executors | undefined;
  /** Undefined where none are configured: then the coordinator is its own worker. */
  readonly workers: WorkerRegistry | undefined;
  /** Undefined where none is configured. */
  readonly spool: Spool | undefined;
  close(): Promise<void>;
}

export interface RemoteExecutorsOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Throws CONFIGURATION_ERROR. Whether anybody answers is seen later. */
export async function openRemoteExecutors({
  config,
  logger,
  metrics,
  now,
}: RemoteExecutorsOptions): Promise<RemoteExecutors> {
  const spool = openSpool(config, metrics);
  const lambda = await openLambdaExecutor(config, { spool, metrics, logger });
  const workers = await openWorkers({ config, logger, now }).catch((error: unknown) => {
    lambda?.close();
    throw error;
  });
  const hasAny = lambda !== undefined || workers !== undefined;
  return {
    workers,
    spool,
    executors: hasAny
      ? {
          workers: () => workers?.healthy() ?? [],
          lambda: () => lambda,
          capacity: () => ({
            freeWorkerSlots: freeSlots(workers?.records() ?? []),
            warmSandboxes: lambda?.stats().warm ?? 0,
          }),
        }
      : undefined,
    async close() {
      lambda?.close();
      await Promise.all([workers?.close(), spool?.late.close()]);
    },
  };
}

/** Ours are counted here, and those of other coordinators were when the worker spoke last. */
function freeSlots(records: readonly WorkerRecord[]): number {
  return records.reduce(
    (sum, { state, slots, running, runningTotal, waiting }) =>
      state === 'healthy' ? sum + Math.max(0, slots - Math.max(running, runningTotal) - waiting) : sum,
    0,
  );
}
