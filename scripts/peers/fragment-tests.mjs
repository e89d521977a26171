// Fragments elsewhere: the built service with real workers and the function under its emulator, over MinIO and Iceberg's REST
// catalog: test/peers/fragments.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { startIcebergRest } from '../../test/peers/servers/iceberg-rest.mjs';
import { startMinio } from '../../test/peers/servers/minio.mjs';
import { findFiles } from '../support/find-files.mjs';
import { runNodeTests } from '../support/node-test.mjs';
import { cacheFolder, mustRun, pythonEnvironment } from '../support/peer-environment.mjs';

const megabyte = 2 ** 20;

/**
 * `tables` is a folder of bench/clients/tpch_data.py. Statements of the tests that something fails under: `queries`, drawn by
 * `seed`. Rows of a row group, and bytes of a split: the tables are small, and shall have some.
 */
export async function runFragmentTests(options) {
  const { root, folder, python, tables, files, timeoutMs = 10 * 60_000 } = options;
  const { queries = 40, seed = 1, compares = false, groupRows = 10_000, splitBytes = megabyte } = options;
  const peers = path.join(root, 'test', 'peers');
  const modules = [peers, path.join(peers, 'clients'), path.join(root, 'bench', 'clients')];
  const pythonPath = modules.join(path.delimiter);
  for (const name of ['minio', 'catalog']) mkdirSync(path.join(folder, name), { recursive: true });
  const { stop, ...storage } = await startMinio(path.join(folder, 'minio'));
  try {
    const catalog = await startIcebergRest(path.join(folder, 'catalog'), storage);
    try {
      const load = path.join(peers, 'fragments', 'load_tpch.py');
      await mustRun(python, [load, catalog.url, tables, String(groupRows)], { PYTHONPATH: pythonPath });
      const answerQueries = path.join(peers, 'fragments', 'answer_queries.py');
      const told = {
        ...{ url: catalog.url, storage, python, pythonPath, answerQueries, tables },
        ...{ splitBytes, queries, seed, compares },
      };
      return await runNodeTests({
        name: 'fragments',
        root,
        files:
          files ??
          findFiles(root, path.join('test', 'dist', 'peers', 'fragments'), (file) =>
            file.endsWith('.test.js'),
          ),
        concurrency: 1,
        timeoutMs,
        testTimeoutMs: timeoutMs,
        env: { ...process.env, SVC_TEST_FRAGMENTS: JSON.stringify(told) },
      });
    } finally {
      await catalog.stop();
    }
  } finally {
    await stop();
  }
}

/** TPC-H at scale 1, and 500 statements each under faults of workers and of functions, with and without these faults. */
export async function soakFragments({ root, folder, seed }) {
  const python = await pythonEnvironment('clients', path.join(root, 'test', 'peers', 'requirements.txt'));
  const fileOf = (name) => path.join('test', 'dist', 'peers', 'fragments', `${name}.test.js`);
  const run = async (name, scale, options) => {
    const writer = path.join(root, 'bench', 'clients', 'tpch_data.py');
    await mustRun(python, [writer, cacheFolder(), scale]);
    return await runFragmentTests({
      ...{
        root,
        python,
        seed,
        folder: path.join(folder, name),
        tables: path.join(cacheFolder(), `tpch-sf${scale}`),
      },
      ...{ files: [fileOf(name)], timeoutMs: 3 * 3_600_000, ...options },
    });
  };
  const counts = [
    await run('tpch', '1', { groupRows: 100_000, splitBytes: megabyte }),
    await run('faults', '0.05', { queries: 500, compares: true }),
  ];
  const total = (name) => counts.reduce((sum, count) => sum + count[name], 0);
  return { passed: total('passed'), failed: total('failed') };
}
