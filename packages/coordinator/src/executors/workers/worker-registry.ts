/** The workers of a coordinator: found by name or address, looked at by heartbeats, left out when they are of no use. */
import { delay, errorFields, type Logger } from '@svc/base';
import type { FragmentExecutor } from '@svc/fragment-fn';
import { WatchedWorker, type WorkerRecord } from './watched-worker.js';
import type { WorkerAddress } from './worker-address.js';
import type { WorkerExecutor } from './worker-executor.js';

export interface WorkerRegistry {
  /** Those that take tasks now, in the order in which they were found. */
  healthy(): readonly FragmentExecutor[];
  records(): readonly WorkerRecord[];
  /** Ends tasks and connections. Idempotent. */
  close(): Promise<void>;
}

export interface WorkerRegistryOptions {
  /** All workers that there are now. */
  readonly discover: () => Promise<readonly WorkerAddress[]>;
  readonly connect: (address: WorkerAddress, onLost: () => void) => WorkerExecutor;
  readonly discoveryMs: number;
  readonly heartbeatMs: number;
  readonly logger: Logger;
  /** Milliseconds since 1970. Default: the system's. */
  readonly now?: () => number;
  /** Resolves after a time, or at the abort. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export function createWorkerRegistry(options: WorkerRegistryOptions): WorkerRegistry {
  const { discover, connect, heartbeatMs, logger, now = Date.now, sleep = quietDelay } = options;
  const workers = new Map<string, WatchedWorker>();
  /** Not found any more, but with tasks to finish. */
  const leaving = new Map<WatchedWorker, Promise<void>>();
  const stop = new AbortController();

  const find = async () => {
    const found = await discover();
    if (stop.signal.aborted) return;
    const present = new Set(found.map(({ text }) => text));
    for (const address of found)
      if (!workers.has(address.text))
        workers.set(address.text, new WatchedWorker({ address, connect, heartbeatMs, now, sleep, logger }));
    for (const [text, worker] of workers) {
      if (present.has(text)) continue;
      workers.delete(text);
      logger.log('info', 'a worker is not found any more', { worker: text });
      leaving.set(
        worker,
        worker.close({ afterTasks: true }).finally(() => leaving.delete(worker)),
      );
    }
  };

  const watch = async () => {
    while (!stop.signal.aborted) {
      await find().catch((error: unknown) => {
        // Those that are known stay: a name server that is away says nothing of them.
        logger.log('warn', 'workers cannot be found', errorFields(error));
      });
      await sleep(options.discoveryMs, stop.signal);
    }
  };
  const watching = watch();
  let closing: Promise<void> | undefined;
  const close = async () => {
    stop.abort();
    await watching;
    for (const worker of leaving.keys()) worker.executor.close();
    await Promise.all([
      ...[...workers.values()].map((worker) => worker.close({ afterTasks: false })),
      ...leaving.values(),
    ]);
  };
  return {
    healthy: () =>
      [...workers.values()].filter(({ state }) => state === 'healthy').map(({ executor }) => executor),
    records: () => [...workers.values()].map(({ record }) => record),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

async function quietDelay(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, signal).catch(() => undefined);
}
