/** `svc serve`: start in order, print the banner, wait for a signal, stop in reverse order. */
import { type Config, createMetrics, type Logger, readProcessEnvironment } from '@svc/base';
import { type Coordinator, startCoordinator } from '@svc/coordinator';
import { readConfig } from '../read-config.js';
import { registerSamples } from '../samples/flights.js';
import { serviceVersion } from '../version.js';
import { banner } from './banner.js';
import { runService, serviceLogger } from './run-service.js';

export interface ServeOptions {
  readonly config?: string | undefined;
}

/** Runs until a signal has stopped it. Answers the exit code: 0 after a drain, 1 when it had to force. */
export async function serve(options: ServeOptions): Promise<number> {
  const startedAt = performance.now();
  const environment = readProcessEnvironment();
  const config = await readConfig(options.config, environment);
  const logger = serviceLogger(environment);
  return await runService({
    logger,
    drainTimeoutMs: config['server.drain_timeout_secs'] * 1000,
    drainText: 'running queries finish, new ones are refused.',
    start: () => startCoordinator({ config, logger, metrics: createMetrics(), version: serviceVersion }),
    listen: (coordinator, signal) => start(coordinator, config, logger, startedAt, signal),
  });
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

function catalogPlace(config: Config): string {
  const url = config['catalog.catalog_url'];
  return url === undefined ? `the folder ${config['catalog.path']}` : `at ${new URL(url).origin}`;
}
