/** What `serve` and `worker` have in common: start, wait for a signal, drain, stop. */
import { createLogger, type Logger, type ProcessEnvironment, parseLogFilter } from '@svc/base';
import { onReopenSignal, onStopSignals } from './signals.js';

/** What is started and stopped. */
export interface RunningService {
  /** Lets what runs finish until the deadline (a duration). */
  close(deadlineMs: number): Promise<void>;
  /** Ends everything at once. Idempotent. */
  destroy(): Promise<void>;
  reopenLogs?(): void;
}

export interface RunServiceOptions<S> {
  readonly logger: Logger;
  readonly drainTimeoutMs: number;
  /** A sentence of what a drain does. */
  readonly drainText: string;
  start(): Promise<S>;
  /** Opens the listeners, and says so; a signal may have come meanwhile. */
  listen(service: S, signal: AbortSignal): Promise<void>;
}

export function serviceLogger(environment: ProcessEnvironment): Logger {
  return createLogger('svc', {
    write: (line) => process.stdout.write(line),
    filter: parseLogFilter(environment.logLevel),
  });
}

/** Runs until a signal has stopped it. Answers the exit code: 0 after a drain, 1 when it had to force. */
export async function runService<S extends RunningService>(options: RunServiceOptions<S>): Promise<number> {
  const { logger } = options;
  // Whoever read our output has gone: that is no reason to end queries.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const stop = new AbortController();
  let service: S | undefined;
  let isForced = false;
  // From here on: a service that is still starting has processes and files to give back, too.
  const removeHandlers = onStopSignals(
    (signal) => {
      logger.log('info', `received ${signal}: draining`);
      process.stderr.write(`Draining: ${options.drainText} Ctrl-C again stops at once.\n`);
      stop.abort();
    },
    (signal) => {
      isForced = true;
      logger.log('warn', `received ${signal} again: stopping at once`);
      // Should it fail, the same failure comes out of the `destroy` below.
      service?.destroy().catch(() => undefined);
    },
  );
  const removeReopen = onReopenSignal(() => service?.reopenLogs?.());
  try {
    service = await options.start();
    await options.listen(service, stop.signal);
    await untilAborted(stop.signal);
    if (!isForced) await service.close(options.drainTimeoutMs);
    logger.log('info', 'stopped');
    return isForced ? 1 : 0;
  } finally {
    await service?.destroy();
    removeHandlers();
    removeReopen();
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
