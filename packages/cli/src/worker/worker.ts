/** `svc worker`: start in order, say what listens where, wait for a signal, stop in reverse order. */
import { createMetrics, type Logger, readProcessEnvironment } from '@svc/base';
import { readConfig } from '../read-config.js';
import { runService, serviceLogger } from '../serve/run-service.js';
import { serviceVersion } from '../version.js';
import { startWorker, type Worker } from './start-worker.js';

export interface WorkerCommandOptions {
  readonly config?: string | undefined;
}

/** Runs until a signal has stopped it. Answers the exit code: 0 after a drain, 1 when it had to force. */
export async function worker(options: WorkerCommandOptions): Promise<number> {
  const startedAt = performance.now();
  const environment = readProcessEnvironment();
  const config = await readConfig(options.config, environment);
  const logger = serviceLogger(environment);
  return await runService({
    logger,
    drainTimeoutMs: config['server.drain_timeout_secs'] * 1000,
    drainText: 'running tasks finish, new ones are refused.',
    start: () => startWorker({ config, logger, metrics: createMetrics(), version: serviceVersion }),
    listen: (started, signal) => listen(started, logger, startedAt, signal),
  });
}

async function listen(
  started: Worker,
  logger: Logger,
  startedAt: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const { tasks, metrics, health } = await started.listen();
  const durationMs = performance.now() - startedAt;
  process.stderr.write(
    [
      `svc ${serviceVersion} worker is ready after ${(durationMs / 1000).toFixed(1)} s`,
      '',
      `  Tasks              ${tasks}`,
      `  Metrics            ${metrics}`,
      `  Health and status  ${health}`,
      '',
      'Ctrl-C stops after running tasks have finished; a second Ctrl-C stops at once.',
      '',
    ].join('\n'),
  );
  logger.log('info', 'ready', { duration_ms: Math.round(durationMs) });
}
