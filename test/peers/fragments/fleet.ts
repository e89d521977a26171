/** A coordinator, as a process, with workers and a function that come and go. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { type RunningSvc, startSvc } from '../../cli/support/svc.js';
import { type LambdaEmulator, startLambdaEmulator } from '../../emulators/lambda/lambda-emulator.js';
import { freePorts } from '../../service/support/free-ports.js';
import { bundleFolder } from '../../service/support/lambda.js';
import { until } from '../../service/support/until.js';
import { type Questioner, startQuestioner } from './questioner.js';
import { servers } from './servers.js';
import { WorkerSlot, workerSecret } from './worker-slot.js';

export interface Fleet extends AsyncDisposable {
  readonly folder: string;
  readonly workers: readonly WorkerSlot[];
  readonly emulator: LambdaEmulator;
  readonly questioner: Questioner;
  /** What must be seen nowhere. */
  readonly secrets: readonly string[];
  /** All that the coordinator has said. */
  output(): string;
  /** Sum of the samples whose name and labels begin so. */
  metric(start: string): Promise<number>;
  /** Starts workers until there are so many, and waits until the coordinator knows them. */
  haveWorkers(count: number): Promise<void>;
}

export interface FleetOptions {
  /** Addresses of workers, none of which runs. */
  readonly workers: number;
  /** Keys of the coordinator's configuration beside those below, as variables. */
  readonly env?: Readonly<Record<string, string>>;
}

const functionName = 'svc-fragment';
const megabyte = 2 ** 20;

export async function startFleet({ workers: count, env = {} }: FleetOptions): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-fleet-'));
  const closing: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    const pair = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
    const [publicKey, privateKey] = [await exportJWK(pair.publicKey), await exportJWK(pair.privateKey)];
    const emulator = await startLambdaEmulator({
      bundleFolder,
      functionName,
      folder: join(folder, 'sandboxes'),
      environment: { SVC_FUNCTION_KEYS: JSON.stringify({ keys: [privateKey] }) },
      memoryBytes: 1024 * megabyte,
    });
    closing.push(() => emulator[Symbol.asyncDispose]());
    const ports = await freePorts(count);
    const workers = ports.map((port, at) => new WorkerSlot(join(folder, `worker-${at}`), port));
    closing.push(() => Promise.all(workers.map((worker) => worker.kill())));
    const { storage } = servers;
    const coordinator = await startCoordinator(folder, {
      AWS_ACCESS_KEY_ID: storage.accessKeyId,
      AWS_SECRET_ACCESS_KEY: storage.secretAccessKey,
      AWS_REGION: 'us-east-1',
      RUST_LOG: 'debug',
      SVC_CATALOG__CATALOG_URL: servers.url,
      SVC_STORAGE__S3_ENDPOINT: storage.endpoint,
      SVC_SERVER__FLIGHT_PORT: '0',
      SVC_METRICS__PROMETHEUS_PORT: '0',
      SVC_SERVER__DATA_DIR: join(folder, 'data'),
      SVC_ENGINE__THREADS: '1',
      SVC_QUERY__MEMORY_LIMIT: '512MiB',
      SVC_FRAGMENTS__SPLIT_BYTES: String(servers.splitBytes),
      SVC_FRAGMENTS__DISTRIBUTE_BYTES: '0',
      SVC_FRAGMENTS__LAMBDA_BYTES: '0',
      SVC_WORKER__SECRET: workerSecret,
      SVC_WORKER__ADDRESSES: workers.map(({ address }) => address).join(','),
      SVC_WORKER__HEARTBEAT_INTERVAL_SECS: '0.5',
      SVC_WORKER__STALL_TIMEOUT_SECS: '15',
      SVC_LAMBDA__FUNCTION_NAME: functionName,
      SVC_LAMBDA__ENDPOINT: emulator.endpoint,
      SVC_LAMBDA__PUBLIC_KEY: JSON.stringify(publicKey),
      SVC_LAMBDA__MAX_CONCURRENCY: '3',
      SVC_FRAGMENTS__SPOOL_LOCATION: `s3://${storage.bucket}/spool`,
      SVC_FRAGMENTS__SPOOL_ENDPOINT: storage.endpoint,
      ...env,
    });
    closing.push(async () => {
      coordinator.process.kill('SIGKILL');
      await coordinator.exit;
    });
    const password = (await readFile(join(folder, 'data', 'local-password'), 'utf8')).trim();
    const addressOf = (pattern: RegExp) => pattern.exec(coordinator.stderr())?.[1] ?? '';
    const questioner = await startQuestioner({
      address: addressOf(/Flight SQL +grpc:\/\/(\S+)/),
      ...{ username: 'local', password, tables: servers.tables },
    });
    closing.push(() => questioner.close());
    const metricsUrl = addressOf(/Metrics +(\S+)/);
    const metric = async (start: string) => sumOf(await (await fetch(metricsUrl)).text(), start);
    return {
      ...{ folder, workers, emulator, questioner, metric },
      secrets: [workerSecret, password, storage.secretAccessKey, String(privateKey.d)],
      output: () => coordinator.stdout() + coordinator.stderr(),
      async haveWorkers(wanted) {
        await Promise.all(
          workers.slice(0, wanted).map(async (worker) => worker.isAlive || (await worker.start())),
        );
        const isKnown = async () => (await metric('svc_healthy_workers')) === wanted;
        await until(`${wanted} healthy workers`, isKnown, 60_000);
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startCoordinator(folder: string, env: Readonly<Record<string, string>>): Promise<RunningSvc> {
  const svc = startSvc(['serve'], { cwd: folder, env });
  await until(
    'the coordinator is ready',
    () => {
      if (svc.process.exitCode !== null) throw new Error(svc.stderr() + svc.stdout());
      return svc.stderr().includes('Ctrl-C stops');
    },
    60_000,
  );
  return svc;
}

function sumOf(text: string, start: string): number {
  const values = text
    .split('\n')
    .filter((line) => line.startsWith(start))
    .map((line) => Number(line.slice(line.lastIndexOf(' '))));
  return values.reduce((sum, value) => sum + value, 0);
}
