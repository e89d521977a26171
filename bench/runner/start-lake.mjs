// TPC-H on MinIO behind Iceberg's REST catalog, and services that read it: one that is warmed up, and fresh ones.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { startService } from '../../scripts/support/service.mjs';
import { startIcebergRest } from '../../test/peers/servers/iceberg-rest.mjs';
import { startMinio } from '../../test/peers/servers/minio.mjs';

const coldRuns = 3;

/** MinIO and the catalog over `data`, which keeps the tables between runs; `load(url)` makes those that are missing. */
export async function startLakeServers({ data, load }) {
  const stops = [];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  try {
    for (const name of ['minio', 'catalog']) mkdirSync(path.join(data, name), { recursive: true });
    const storage = await startMinio(path.join(data, 'minio'));
    stops.push(storage.stop);
    const catalog = await startIcebergRest(path.join(data, 'catalog'), storage);
    stops.push(catalog.stop);
    await load(catalog.url);
    return { storage, url: catalog.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A service on these tables; `endpoint` is where it finds MinIO. Answers what a client program is told, and `stop`. */
export async function startLakeService({ root, folder, url, endpoint, settings = {} }) {
  const { host, flightPort, metricsPort, username, password, pid, stop } = await startService({
    ...{ root, folder },
    settings: {
      'catalog.catalog_url': url,
      'catalog.allow_http': true,
      'storage.s3_endpoint': endpoint,
      'storage.s3_path_style': true,
      ...settings,
    },
  });
  const facts = { host, flight_port: flightPort, metrics_port: metricsPort, username, password, pid };
  return { facts, stop };
}

/** Answers `{ facts, stop }`. */
export async function startLake({ root, folder, data, load }) {
  const servers = await startLakeServers({ data, load });
  const stops = [servers.stop];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const service = async (name) => {
      const { url, storage } = servers;
      const own = path.join(folder, name);
      const { facts, stop } = await startLakeService({ root, folder: own, url, endpoint: storage.endpoint });
      stops.push(stop);
      return facts;
    };
    const cold = [];
    for (let number = 0; number < coldRuns; number += 1) cold.push(await service(`cold-${number}`));
    return { facts: { url: servers.url, cold, service: await service('warm') }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
