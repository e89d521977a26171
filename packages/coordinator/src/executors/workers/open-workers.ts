import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { type Config, type Logger, QueryError } from '@svc/base';
import type { ClientTls } from '@svc/flight';
import { callKey } from '@svc/fragment-fn';
import { discoverWorkers } from './discover-workers.js';
import { createWorkerExecutor } from './worker-executor.js';
import { createWorkerRegistry, type WorkerRegistry } from './worker-registry.js';

export interface OpenWorkersOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const heartbeatTimeoutMs = 5000;

/** The workers that are configured; undefined where there are none. Throws CONFIGURATION_ERROR. */
export async function openWorkers({
  config,
  logger,
  now,
}: OpenWorkersOptions): Promise<WorkerRegistry | undefined> {
  const addresses = config['worker.addresses'];
  const discoveryName = config['worker.discovery_name'];
  const secret = config['worker.secret'];
  if (secret === undefined || (addresses.length === 0 && discoveryName === undefined)) return undefined;
  const tls = await readClientTls(config);
  const shared = {
    coordinator: `coordinator-${randomUUID()}`,
    key: callKey(secret),
    now,
    stallMs: config['worker.stall_timeout_secs'] * 1000,
    heartbeatTimeoutMs,
    ...(tls === undefined ? {} : { tls }),
  };
  const resolve = async (name: string) => (await lookup(name, { all: true })).map(({ address }) => address);
  return createWorkerRegistry({
    discover: () => discoverWorkers({ addresses, discoveryName, resolve }),
    connect: (address, onLost) => createWorkerExecutor(address, { ...shared, onLost }),
    discoveryMs: config['worker.discovery_interval_secs'] * 1000,
    heartbeatMs: config['worker.heartbeat_interval_secs'] * 1000,
    logger: logger.child('svc::workers'),
    now,
  });
}

async function readClientTls(config: Config): Promise<ClientTls | undefined> {
  const ca = config['worker.tls_ca'];
  if (ca === undefined) return undefined;
  const certificate = config['worker.tls_client_cert'];
  const key = config['worker.tls_client_key'];
  const serverName = config['worker.tls_server_name'];
  return {
    rootCertsPem: await readPem('worker.tls_ca', ca),
    ...(certificate === undefined || key === undefined
      ? {}
      : {
          certPem: await readPem('worker.tls_client_cert', certificate),
          keyPem: await readPem('worker.tls_client_key', key),
        }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

/** Throws CONFIGURATION_ERROR. */
export async function readPem(key: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new QueryError('CONFIGURATION_ERROR', `${key}: the file ${path} cannot be read.`, { cause });
  }
}
