// TPC-H on MinIO behind Iceberg's REST catalog, and services that read it: one that is warmed up, and fresh ones.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { startService } from '../../scripts/support/service.mjs';
import { startIcebergRest } from '../../test/peers/servers/iceberg-rest.mjs';
import { startMinio } from '../../test/peers/servers/minio.mjs';

const coldRuns = 3;

/**
 * `data` keeps the tables between runs; `load(url)` makes those that are missing. Answers `{ facts, stop }`.
 */
export async function startLake({ root, folder, data, load }) {
  const stops = [];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  const started = async (server) => {
    stops.push(server.stop);
    return server;
  };
  try {
    for (const name of ['minio', 'catalog']) mkdirSync(path.join(data, name), { recursive: true });
    const storage = await started(await startMinio(path.join(data, 'minio')));
    const catalog = await started(await startIcebergRest(path.join(data, 'catalog'), storage));
    await load(catalog.url);
    const service = async (name) => {
      const settings = {
        'catalog.catalog_url': catalog.url,
        'catalog.allow_http': true,
        'storage.s3_endpoint': storage.endpoint,
        'storage.s3_path_style': true,
      };
      const own = path.join(folder, name);
      const { host, flightPort, metricsPort, username, password, pid } = await started(
        await startService({ root, folder: own, settings }),
      );
      return { host, flight_port: flightPort, metrics_port: metricsPort, username, password, pid };
    };
    const cold = [];
    for (let number = 0; number < coldRuns; number += 1) cold.push(await service(`cold-${number}`));
    return { facts: { url: catalog.url, cold, service: await service('warm') }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
