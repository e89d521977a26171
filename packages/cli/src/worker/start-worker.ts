/** Everything of one worker process, started in order and stopped in reverse. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type AdminServer, startAdmin } from '@svc/admin';
import { type Config, type Logger, type Metrics, QueryError } from '@svc/base';
import { poolOptions } from '@svc/coordinator';
import { createHostPool, type EnginePool, supportedDuckDbVersion } from '@svc/engine';
import { createWorkerServer, type FlightServer, type ServerTls } from '@svc/flight';
import { callKey, createWorkerDoor, type WorkerDoor } from '@svc/fragment-fn';
import { openTaskRunner } from './task-runner.js';

export interface WorkerOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly version: string;
}

export interface WorkerAddresses {
  /** `grpc://127.0.0.1:50052` */
  readonly tasks: string;
  readonly metrics: string;
  readonly health: string;
}

export interface Worker {
  /** Opens every listener; coordinators are served from then on. */
  listen(): Promise<WorkerAddresses>;
  /** Takes no new tasks, lets running ones finish until the deadline (a duration), then ends them. Idempotent. */
  close(deadlineMs: number): Promise<void>;
  /** Ends everything at once. Idempotent. */
  destroy(): Promise<void>;
}

/** Often enough that a coordinator never gives up a worker that is there; see `worker.stall_timeout_secs`. */
const aliveMs = 5000;

/** Starts what tasks need: engine hosts and caches. Throws CONFIGURATION_ERROR. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { config, logger, metrics, version } = options;
  const secret = config['worker.secret'];
  if (secret === undefined)
    throw new QueryError(
      'CONFIGURATION_ERROR',
      '`worker.secret` is not set: a worker takes tasks only from coordinators that have the same one, of at least 32 bytes.',
    );
  const key = callKey(secret);
  const tls = await readServerTls(config);
  if (tls === undefined)
    logger.log('warn', 'without TLS (worker.tls_cert) the credentials of tables can be read on the way');
  // What a task was given goes with it: what may be used again is in the cache, where a grant is needed to be given it.
  const pool = createHostPool({ ...poolOptions(config, logger), keptInputBytes: 0 });
  try {
    const run = await openTaskRunner(options, pool);
    const door = createWorkerDoor({
      key,
      bootId: `svc-worker-${randomUUID()}`,
      version,
      slots: config['query.max_concurrent'],
      now: Date.now,
      logger: logger.child('svc::worker'),
      aliveMs,
      run,
      onTaskEnd: (outcome) => metrics.workerTasks.inc({ outcome }),
    });
    registerGauges(metrics, pool, door);
    return assemble(options, { pool, door, tls });
  } catch (error) {
    await pool.destroy();
    throw error;
  }
}

interface Parts {
  readonly pool: EnginePool;
  readonly door: WorkerDoor;
  readonly tls: ServerTls | undefined;
}

function assemble({ config, logger, metrics, version }: WorkerOptions, { pool, door, tls }: Parts): Worker {
  const startedAtMs = performance.now();
  const host = config['worker.bind_address'];
  let isReady = false;
  let admin: AdminServer | undefined;
  let server: FlightServer | undefined;
  const noUsers = async (): Promise<never> => {
    throw new QueryError('PERMISSION_DENIED', 'A worker has no users: ask a coordinator.');
  };
  const backend = {
    isReady: () => isReady,
    authorizeAdmin: noUsers,
    refreshCatalogs: noUsers,
    metricsText: () => metrics.text(),
    status: () => ({
      status: isReady ? ('ACTIVE' as const) : ('STARTING' as const),
      node: {
        role: 'worker' as const,
        version,
        engineVersion: supportedDuckDbVersion,
        uptimeSeconds: Math.floor((performance.now() - startedAtMs) / 1000),
      },
      workers: null,
    }),
  };
  const destroy = async () => {
    isReady = false;
    server?.destroy();
    try {
      await pool.destroy();
    } finally {
      await admin?.destroy();
    }
  };
  return {
    async listen() {
      admin = await startAdmin({
        backend,
        bindAddress: host,
        metricsPort: config['metrics.prometheus_port'],
        logger: logger.child('svc::admin'),
      });
      server = await createWorkerServer({
        backend: door,
        host,
        port: config['worker.port'],
        ...(tls === undefined ? {} : { tls }),
        keepalive: {
          timeMs: config['server.keepalive_time_secs'] * 1000,
          timeoutMs: config['server.keepalive_timeout_secs'] * 1000,
        },
        logger: logger.child('svc::worker'),
      });
      isReady = true;
      const scheme = tls === undefined ? 'grpc' : 'grpc+tls';
      const shown = host.includes(':') ? `[${host}]` : host;
      return {
        tasks: `${scheme}://${shown}:${server.port}`,
        metrics: `${admin.metricsUrl}/metrics`,
        health: admin.healthUrl,
      };
    },
    async close(deadlineMs) {
      isReady = false;
      door.drain();
      const deadline = performance.now() + deadlineMs;
      const left = () => Math.max(0, deadline - performance.now());
      await server?.close(left());
      await pool.close(left());
      await admin?.close(Math.min(left(), 1000));
      await destroy();
    },
    destroy,
  };
}

function registerGauges(metrics: Metrics, pool: EnginePool, { slots }: WorkerDoor): void {
  metrics.workerRunningTasks.readFrom(() => slots.running);
  metrics.workerWaitingTasks.readFrom(() => slots.waiting);
  metrics.coordinatorMemory.readFrom(() => {
    const { memoryUsedBytes, memoryLimitBytes } = pool.stats();
    return { usedBytes: memoryUsedBytes, limitBytes: memoryLimitBytes };
  });
  metrics.engineHosts.readFrom(() => {
    const { idle, leased } = pool.stats();
    return { idle, leased };
  });
  metrics.engineHostsReplaced.readFrom(() => pool.stats().replaced);
}

async function readServerTls(config: Config): Promise<ServerTls | undefined> {
  const certificate = config['worker.tls_cert'];
  const key = config['worker.tls_key'];
  const clientCa = config['worker.tls_client_ca'];
  if (certificate === undefined || key === undefined) return undefined;
  return {
    certPem: await readPem('worker.tls_cert', certificate),
    keyPem: await readPem('worker.tls_key', key),
    ...(clientCa === undefined ? {} : { clientCaPem: await readPem('worker.tls_client_ca', clientCa) }),
  };
}

async function readPem(key: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new QueryError('CONFIGURATION_ERROR', `${key}: the file ${path} cannot be read.`, { cause });
  }
}
