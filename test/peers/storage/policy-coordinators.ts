/** Processes of `svc serve` over one catalog and one object of rules. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFlightClient, type FlightClient } from '@svc/flight';
import { type RunningSvc, startSvc, until } from '../../cli/support/svc.js';

export interface CoordinatorPlace {
  /** A folder for this process alone. */
  readonly folder: string;
  readonly warehouse: string;
  readonly location: string;
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface PolicyCoordinator extends AsyncDisposable {
  readonly client: FlightClient;
  /** All that it has written to its log and its terminal. */
  written(): string;
}

/** Starts it, whether it goes on or not. */
export async function launchCoordinator(place: CoordinatorPlace): Promise<RunningSvc> {
  const { folder, warehouse, location, endpoint, accessKeyId, secretAccessKey } = place;
  await mkdir(folder, { recursive: true });
  const config = join(folder, 'svc.toml');
  const sections = {
    server: { flight_port: 0, data_dir: join(folder, 'data') },
    catalog: { path: warehouse },
    policy: { location, endpoint, region: 'us-east-1' },
    metrics: { prometheus_port: 0, audit_log_path: join(folder, 'audit.log') },
    engine: { threads: 1, spare_hosts: 0 },
  };
  const lines = Object.entries(sections).flatMap(([section, keys]) => [
    `[${section}]`,
    ...Object.entries(keys).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
  ]);
  await writeFile(config, lines.join('\n'));
  const env = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, RUST_LOG: 'trace' };
  return startSvc(['serve', '--config', config], { cwd: folder, env });
}

/** Starts it, and signs its admin in. */
export async function startCoordinator(place: CoordinatorPlace): Promise<PolicyCoordinator> {
  const svc = await launchCoordinator(place);
  await until(() => svc.stderr().includes('Ctrl-C stops') || svc.process.exitCode !== null);
  const [, port] = /grpc:\/\/127\.0\.0\.1:(\d+)/.exec(svc.stderr()) ?? [];
  if (port === undefined) throw new Error(`The coordinator did not start: ${svc.stderr()}${svc.stdout()}`);
  const client = createFlightClient({ host: '127.0.0.1', port: Number(port) });
  await client.signIn('local', (await readFile(join(place.folder, 'data', 'local-password'), 'utf8')).trim());
  return {
    client,
    written: () => svc.stdout() + svc.stderr(),
    async [Symbol.asyncDispose]() {
      client.close();
      svc.process.kill('SIGINT');
      await svc.exit;
    },
  };
}
