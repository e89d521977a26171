/** `svc serve`: start in order, print the banner, wait for a signal, stop in reverse order. */
import {
  type Config,
  createLogger,
  createMetrics,
  type Logger,
  parseLogFilter,
  readProcessEnvironment,
} from '@svc/base';
import { type Coordinator, startCoordinator } from '@svc/coordinator';
import { readConfig } from '../read-config.js';
import { registerSamples } from '../samples/flights.js';
import { serviceVersion } from '../version.js';
import { banner } from './banner.js';
import { onReopenSignal, onStopSignals } from './signals.js';

export interface ServeOptions {
  readonly config?: string | undefined;
}

/** Runs until a signal has stopped it. Answers the exit code: 0 after a drain, 1 when it had to force. */
export async function serve(options: ServeOptions): Promise<number> {
  const startedAt = performance.now();
  const environment = readProcessEnvironment();
  const config = await readConfig(options.config, environment);
  const logger = createLogger('svc', {
    write: (line) => process.stdout.write(line),
    filter: parseLogFilter(environment.logLevel),
  });
  // Whoever read our output has gone: that is no reason to end queries.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const stop = new AbortController();
  let coordinator: Coordinator | undefined;
  let isForced = false;
  // From here on: a service that is still starting has processes and files to give back, too.
  const removeHandlers = onStopSignals(
    (signal) => {
      logger.log('info', `received ${signal}: draining`);
      process.stderr.write(
        'Draining: running queries finish, new ones are refused. Ctrl-C again stops at once.\n',
      );
      stop.abort();
    },
    (signal) => {
      isForced = true;
      logger.log('warn', `received ${signal} again: stopping at once`);
      // Should it fail, the same failure comes out of the `destroy` below.
      coordinator?.destroy().catch(() => undefined);
    },
  );
  const removeReopen = onReopenSignal(() => coordinator?.reopenLogs());
  try {
    coordinator = await startCoordinator({
      config,
      logger,
      metrics: createMetrics(),
      version: serviceVersion,
    });
    await start(coordinator, config, logger, startedAt, stop.signal);
    await untilAborted(stop.signal);
    if (!isForced) await coordinator.close(config['server.drain_timeout_secs'] * 1000);
    logger.log('info', 'stopped');
    return isForced ? 1 : 0;
  } finally {
    await coordinator?.destroy();
    removeHandlers();
    removeReopen();
  }
}

async function start(
  coordinator: Coordinator,
  config: Config,
  logger: Logger,
  startedAt: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const hasSample =
    config['samples.enabled'] &&
    (await registerSamples({ config, logger, signal, progress: (text) => process.stderr.write(text) }));
  if (signal.aborted) return;
  const listeners = await coordinator.listen();
  process.stderr.write(
    banner({
      version: serviceVersion,
      engineVersion: coordinator.engineVersion,
      listeners,
      catalogName: config['catalog.name'],
      catalogPlace: catalogPlace(config),
      signIn: coordinator.signIn,
      hasSample,
      isTls: config['server.tls_cert'] !== undefined,
      startedInMs: performance.now() - startedAt,
    }),
  );
  logger.log('info', 'ready', { duration_ms: Math.round(performance.now() - startedAt) });
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function catalogPlace(config: Config): string {
  const url = config['catalog.catalog_url'];
  return url === undefined ? `the folder ${config['catalog.path']}` : `at ${new URL(url).origin}`;
}
