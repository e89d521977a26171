import { createClientAddress, type Logger } from '@svc/base';
import type { AdminBackend } from './backend.js';
import { type Listener, openListener } from './listener.js';
import { healthRoutes, metricsRoutes } from './routes.js';

export interface AdminOptions {
  readonly backend: AdminBackend;
  readonly bindAddress: string;
  /** `metrics.prometheus_port`: probes listen one above it; with 0 both take a free port. */
  readonly metricsPort: number;
  /** Addresses and ranges of proxies whose `X-Forwarded-For` names the client. Default none. */
  readonly trustedProxies?: readonly string[];
  readonly logger: Logger;
}

/** The metrics listener and the health listener, both open. Start it first and stop it last, so that probes always answer. */
export interface AdminServer extends AsyncDisposable {
  /** `http://127.0.0.1:9090`, without a path. */
  readonly metricsUrl: string;
  readonly healthUrl: string;
  /** Lets requests in progress finish until the deadline (a duration), then cuts them off. Idempotent. */
  close(deadlineMs: number): Promise<void>;
  /** Cuts every connection at once. Idempotent. */
  destroy(): Promise<void>;
}

/** Opens both listeners or neither. Throws CONFIGURATION_ERROR naming the port and the key when one is taken. */
export async function startAdmin(options: AdminOptions): Promise<AdminServer> {
  const { backend, bindAddress, metricsPort, logger } = options;
  const clientAddress = createClientAddress(options.trustedProxies ?? []);
  const metrics = await openListener({
    purpose: 'metrics',
    bindAddress,
    port: metricsPort,
    routes: metricsRoutes(backend),
    clientAddress,
    logger,
  });
  let health: Listener;
  try {
    health = await openListener({
      purpose: 'probes, one above `metrics.prometheus_port`',
      bindAddress,
      port: metricsPort === 0 ? 0 : metricsPort + 1,
      routes: healthRoutes(backend, logger),
      clientAddress,
      logger,
    });
  } catch (caught) {
    await metrics.destroy();
    throw caught;
  }
  const destroy = async (): Promise<void> => {
    await Promise.all([metrics.destroy(), health.destroy()]);
  };
  return {
    metricsUrl: metrics.url,
    healthUrl: health.url,
    close: async (deadlineMs) => {
      await Promise.all([metrics.close(deadlineMs), health.close(deadlineMs)]);
    },
    destroy,
    [Symbol.asyncDispose]: destroy,
  };
}
