/** One address at which a worker may be, or not: processes come and go there. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type RunningSvc, startSvc } from '../../cli/support/svc.js';
import { until } from '../../service/support/until.js';
import { childProcesses } from '../../soak/process-footprint.js';

export const workerSecret = 'planted: a secret of workers and their coordinator';

const startMs = 60_000;

export class WorkerSlot {
  readonly folder: string;
  readonly port: number;
  #svc: RunningSvc | undefined;
  #output = '';

  constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  get isAlive(): boolean {
    return (
      this.#svc !== undefined && this.#svc.process.exitCode === null && this.#svc.process.signalCode === null
    );
  }

  /** All that its processes have said. */
  get output(): string {
    return `${this.#output}${this.#svc?.stdout() ?? ''}${this.#svc?.stderr() ?? ''}`;
  }

  async start(): Promise<void> {
    this.#output = this.output;
    await mkdir(this.folder, { recursive: true });
    const svc = startSvc(['worker'], {
      cwd: this.folder,
      env: {
        RUST_LOG: 'debug',
        TMPDIR: this.folder,
        SVC_WORKER__SECRET: workerSecret,
        SVC_WORKER__PORT: String(this.port),
        SVC_METRICS__PROMETHEUS_PORT: '0',
        SVC_SERVER__DATA_DIR: join(this.folder, 'data'),
        SVC_QUERY__MEMORY_LIMIT: '256MiB',
        SVC_QUERY__MAX_CONCURRENT: '1',
        SVC_ENGINE__THREADS: '1',
        SVC_ENGINE__SPARE_HOSTS: '0',
      },
    });
    this.#svc = svc;
    await until(
      'the worker is ready',
      async () => {
        if (svc.process.exitCode !== null) throw new Error(this.output);
        return svc.stderr().includes('Ctrl-C stops');
      },
      startMs,
    );
  }

  /** As a machine that is lost. */
  async kill(): Promise<void> {
    this.signal('SIGCONT');
    this.signal('SIGKILL');
    await this.#svc?.exit;
  }

  /** As a deployment does; answers the exit code. */
  async drain(): Promise<unknown> {
    this.signal('SIGTERM');
    return (await this.#svc?.exit)?.[0];
  }

  signal(name: NodeJS.Signals): void {
    if (this.isAlive) this.#svc?.process.kill(name);
  }

  get metricsUrl(): string {
    return /Metrics +(\S+)/.exec(this.#svc?.stderr() ?? '')?.[1] ?? '';
  }

  /** Of its engines. */
  engines(): readonly number[] {
    return childProcesses(this.#svc?.process.pid ?? 0);
  }
}
