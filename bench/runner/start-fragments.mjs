// Coordinators with workers over TPC-H on MinIO: one with one worker, and, behind a slow way to MinIO, ones with 1, 2 and 4.
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { startLakeServers, startLakeService } from './start-lake.mjs';
import { startWorker, workerSecret } from './start-worker.mjs';

/** What object storage takes for a first byte, and what one connection then brings. */
const slowWay = { delayMs: 20, bytesPerSecond: 1_000_000 };
const workerCounts = [1, 2, 4];

/** One worker with nothing but its defaults, and what runs the coordinator's end of it. */
export async function startOneWorker({ root, folder }) {
  const worker = await startWorker({ root, folder });
  const program = path.join(root, 'bench', 'fragments', 'trivial.mjs');
  return {
    facts: { command: [program, worker.address, workerSecret], pid: worker.pid },
    stop: worker.stop,
  };
}

/** Answers `{ facts, stop }`. `slow`: the coordinators behind the slow way. */
export async function startFragments({ root, folder, data, load }) {
  const stops = [];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  const started = async (starting) => {
    const server = await starting;
    stops.push(server.stop);
    return server;
  };
  try {
    const { url, storage } = await started(startLakeServers({ data, load }));
    const worker = (name, environment) =>
      started(startWorker({ root, folder: path.join(folder, name), environment }));
    const service = async (name, endpoint, workers, settings) => {
      const { facts } = await started(
        startLakeService({
          ...{ root, folder: path.join(folder, name), url, endpoint },
          settings: {
            'worker.secret': workerSecret,
            'worker.addresses': workers.map(({ address }) => address),
            'fragments.distribute_bytes': 0,
            ...settings,
          },
        }),
      );
      return facts;
    };
    const one = await worker('worker', {});
    const facts = { tpch: await service('tpch', storage.endpoint, [one]), worker_pid: one.pid };

    const way = await started(startSlowWay(storage.endpoint));
    const slow = [];
    for (let number = 0; number < Math.max(...workerCounts); number += 1)
      slow.push(
        // One task at a time, and too little cache to find anything again: what is measured is how often storage is waited for.
        await worker(`slow-worker-${number}`, {
          ...{ SVC_QUERY__MAX_CONCURRENT: '1', SVC_ENGINE__THREADS: '1', SVC_CACHE__DISK_BYTES: '2000000' },
          ...{ SVC_QUERY__MEMORY_LIMIT: '256MiB', SVC_ENGINE__SPARE_HOSTS: '0' },
        }),
      );
    const settings = { 'fragments.split_bytes': 1_000_000, 'query.memory_limit': 256 * 2 ** 20 };
    const services = {};
    for (const count of workerCounts)
      services[count] = await service(`slow-${count}`, way.endpoint, slow.slice(0, count), settings);
    return {
      facts: { ...facts, slow: services, slow_pids: slow.map(({ pid }) => pid) },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A proxy in a thread of its own. */
async function startSlowWay(target) {
  const proxy = new Worker(new URL('../fragments/slow-way.mjs', import.meta.url), {
    workerData: { target, ...slowWay },
  });
  const port = await new Promise((resolve, reject) => {
    proxy.once('message', resolve);
    proxy.once('error', reject);
  });
  return { endpoint: `http://127.0.0.1:${port}`, stop: () => proxy.terminate() };
}
