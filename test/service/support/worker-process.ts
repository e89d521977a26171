/** `svc worker` as a process of its own, on free ports of loopback, over a folder of its own. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createWorkerExecutor, parseWorkerAddress, type WorkerExecutor } from '@svc/coordinator';
import type { ClientTls } from '@svc/flight';
import { callKey } from '@svc/fragment-fn';
import { type RunningSvc, startSvc } from '../../cli/support/svc.js';
import { until } from './until.js';

export const workerSecret = 'a secret of the test, and of nobody else';

export interface WorkerProcess extends AsyncDisposable {
  readonly svc: RunningSvc;
  readonly folder: string;
  readonly address: string;
  readonly healthUrl: string;
  readonly metricsUrl: string;
  executor(options?: ExecutorOptions): WorkerExecutor;
}

export interface ExecutorOptions {
  readonly coordinator?: string;
  readonly secret?: string;
  readonly tls?: ClientTls;
}

export interface WorkerProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
}

export async function startWorkerProcess(
  folder: string,
  { env = {} }: WorkerProcessOptions = {},
): Promise<WorkerProcess> {
  await mkdir(folder, { recursive: true });
  const svc = startSvc(['worker'], {
    cwd: folder,
    env: {
      SVC_WORKER__SECRET: workerSecret,
      SVC_WORKER__PORT: '0',
      SVC_WORKER__ALLOW_LOCAL_FILES: 'true',
      SVC_METRICS__PROMETHEUS_PORT: '0',
      SVC_SERVER__DATA_DIR: join(folder, 'data'),
      SVC_QUERY__MEMORY_LIMIT: '256MiB',
      SVC_QUERY__MAX_CONCURRENT: '2',
      SVC_ENGINE__THREADS: '1',
      SVC_ENGINE__SPARE_HOSTS: '0',
      ...env,
    },
  });
  const isReady = () => {
    if (svc.process.exitCode !== null) throw new Error(svc.stderr() + svc.stdout());
    return svc.stderr().includes('Ctrl-C stops');
  };
  await until('the worker is ready', isReady, 60_000);
  const find = (pattern: RegExp) => pattern.exec(svc.stderr())?.[1] ?? '';
  const address = find(/Tasks +grpc(?:\+tls)?:\/\/(\S+)/);
  const executors: WorkerExecutor[] = [];
  return {
    svc,
    folder,
    address,
    healthUrl: find(/Health and status +(\S+)/),
    metricsUrl: find(/Metrics +(\S+)/),
    executor({ coordinator = 'coordinator-1', secret = workerSecret, tls } = {}) {
      const executor = createWorkerExecutor(parseWorkerAddress(address), {
        coordinator,
        key: callKey(secret),
        now: Date.now,
        stallMs: 30_000,
        heartbeatTimeoutMs: 10_000,
        ...(tls === undefined ? {} : { tls }),
      });
      executors.push(executor);
      return executor;
    },
    async [Symbol.asyncDispose]() {
      for (const executor of executors) executor.close();
      svc.process.kill('SIGKILL');
      await svc.exit;
    },
  };
}
