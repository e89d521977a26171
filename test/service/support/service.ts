/** A whole service in this process, on free ports of loopback, over a folder of its own. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, createMetrics, loadConfig, parseLogFilter } from '@svc/base';
import { type Coordinator, type CoordinatorOptions, startCoordinator } from '@svc/coordinator';
import { createFlightClient, type FlightClient } from '@svc/flight';
import { makeTables, type TableQueries } from './tables.js';

export interface LogRecord {
  readonly level: string;
  readonly target: string;
  readonly message: string;
  readonly user?: string;
  readonly session_id?: string;
  readonly trace_id?: string;
  readonly span_id?: string;
  readonly request_id?: string;
  readonly query_id?: string;
  readonly statement_type?: string;
  readonly duration_ms?: number;
  readonly rows?: number;
  readonly error_code?: string;
  readonly error_message?: string;
  readonly error_detail?: string;
}

export interface TestService extends AsyncDisposable {
  readonly coordinator: Coordinator;
  readonly folder: string;
  readonly catalogPath: string;
  readonly username: string;
  readonly password: string;
  /** Where each table lies, by `schema.table`. */
  readonly locations: ReadonlyMap<string, string>;
  readonly flightUrl: string;
  readonly metricsUrl: string;
  readonly healthUrl: string;
  /** Every log line so far, as it was written. */
  readonly logLines: readonly string[];
  logRecords(): readonly LogRecord[];
  /** A client with a session of its own; it is closed with the service. */
  client(): Promise<FlightClient>;
  /** A client that has not signed in. */
  stranger(): FlightClient;
  /** The value of one sample of /metrics, such as `svc_queue_depth` or `svc_query_count_total{status="ok",…}`. */
  metric(sample: string): Promise<number>;
}

export interface TestServiceOptions {
  /** Keys of the configuration beside what the harness sets, by TOML path. */
  readonly config?: Readonly<Record<string, string | number>>;
  readonly tables?: TableQueries;
  /** The service's clock, for what expires. */
  readonly now?: () => number;
  /** Stands in for workers and functions. */
  readonly openExecutors?: CoordinatorOptions['openExecutors'];
  /** Stands in for the catalog, which is the folder's. */
  readonly catalogsOver?: CoordinatorOptions['catalogsOver'];
  /** Changes the catalog's folder before the service starts. */
  readonly prepare?: (catalogPath: string, locations: ReadonlyMap<string, string>) => Promise<void>;
}

export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-service-'));
  const catalogPath = join(folder, 'warehouse');
  try {
    const locations = await makeTables(catalogPath, options.tables ?? {});
    await options.prepare?.(catalogPath, locations);
    return await open(folder, catalogPath, locations, options);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function open(
  folder: string,
  catalogPath: string,
  locations: ReadonlyMap<string, string>,
  options: TestServiceOptions,
): Promise<TestService> {
  const logLines: string[] = [];
  const config = loadConfig({ environment: environmentOf(folder, catalogPath, options.config ?? {}) });
  const logger = createLogger('svc', {
    write: (line) => logLines.push(line),
    filter: parseLogFilter('trace'),
  });
  const coordinator = await startCoordinator({
    config,
    logger,
    metrics: createMetrics(),
    version: 'test',
    ...(options.now === undefined ? {} : { now: options.now }),
    ...(options.openExecutors === undefined ? {} : { openExecutors: options.openExecutors }),
    ...(options.catalogsOver === undefined ? {} : { catalogsOver: options.catalogsOver }),
  });
  const listeners = await coordinator.listen();
  const addressOf = (kind: string) => listeners.find((listener) => listener.kind === kind)?.address ?? '';
  const port = Number(new URL(addressOf('flight')).port);
  const { username, password } = await localUser(coordinator);
  const clients: FlightClient[] = [];
  const stranger = () => {
    const client = createFlightClient({ host: '127.0.0.1', port });
    clients.push(client);
    return client;
  };
  return {
    coordinator,
    folder,
    catalogPath,
    username,
    password,
    locations,
    flightUrl: addressOf('flight'),
    metricsUrl: addressOf('metrics'),
    healthUrl: addressOf('health'),
    logLines,
    logRecords: () => logLines.map((line): LogRecord => JSON.parse(line)),
    stranger,
    async client() {
      const client = stranger();
      await client.signIn(username, password);
      return client;
    },
    metric: (sample) => readMetric(addressOf('metrics'), sample),
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
      await coordinator.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Empty where users come from a provider: a test then signs in as whom it likes. */
async function localUser({ signIn }: Coordinator) {
  if (signIn.kind !== 'local') return { username: '', password: '' };
  return { username: signIn.username, password: (await readFile(signIn.passwordPath, 'utf8')).trim() };
}

function environmentOf(
  folder: string,
  catalogPath: string,
  config: Readonly<Record<string, string | number>>,
) {
  const settings = {
    'server.flight_port': 0,
    'metrics.prometheus_port': 0,
    'server.data_dir': join(folder, 'data'),
    'catalog.path': catalogPath,
    'query.memory_limit': '256MiB',
    'engine.threads': 1,
    'engine.spare_hosts': 0,
    ...config,
  };
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      `SVC_${key.replace('.', '__').toUpperCase()}`,
      String(value),
    ]),
  );
}

async function readMetric(url: string, sample: string): Promise<number> {
  const text = await (await fetch(url)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
  return line === undefined ? Number.NaN : Number(line.slice(sample.length + 1));
}
